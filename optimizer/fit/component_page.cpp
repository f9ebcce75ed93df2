#include "optimizer/fit/component_page.hpp"

#include "optimizer/accuracy/collective_accuracy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace prismopt {

namespace {

std::string collectives_text(const Components& components)
{
    std::string text =
        "## Collectives\n\nMean over systems (a machine of one source) of their mean errors, by size of the message. Excluded: "
        "by "
        "fits without the row's families of links.\n\n| collective | size | systems | rows | error % | bias % | excluded % |\n"
        "|---|---|---:|---:|---:|---:|---:|\n";
    const auto fitted = errors_by_region(components.collectives, components.network.fitted_s);
    const auto left_out = errors_by_region(components.collectives, components.network.left_out_s);
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        const RegionErrors& e = fitted[i];
        text += fmt::format("| {} | {} | {} | {} | {:.1f} | {:+.1f} | {:.1f} |\n", name(e.kind), e.region, e.systems, e.rows,
                            100.0 * e.error, 100.0 * e.bias, 100.0 * left_out[i].error);
    }
    return text;
}

struct SystemErrors {
    int rows = 0;
    double absolute = 0.0;
    double signed_sum = 0.0;
    bool apart = false;
};

std::string systems_text(const Components& components)
{
    std::map<std::string, SystemErrors> systems;
    for (std::size_t i = 0; i < components.collectives.size(); ++i) {
        const MeasuredCollective& row = components.collectives[i];
        const double error = components.network.fitted_s[i] / row.measured_s - 1.0;
        SystemErrors& errors = systems[row.what];
        ++errors.rows;
        errors.absolute += std::abs(error);
        errors.signed_sum += error;
        errors.apart = row.apart;
    }
    std::string text =
        "\nBy system; those that stand apart are not in the fit (a fabric that its source calls misconfigured, racks with an "
        "offset "
        "of milliseconds).\n\n| system | rows | error % | bias % |\n|---|---:|---:|---:|\n";
    for (const auto& [name, e] : systems) {
        text += fmt::format("| {}{} | {} | {:.1f} | {:+.1f} |\n", name, e.apart ? " (apart)" : "", e.rows,
                            100.0 * e.absolute / e.rows, 100.0 * e.signed_sum / e.rows);
    }
    return text;
}

std::string kernels_text(const Components& components)
{
    std::string text =
        "\n## Kernels\n\nForward kernels of one engine for each accelerator, in CUDA graphs. 8- and 4-bit products hold the cast "
        "of "
        "their activation. The shares of each accelerator and kind are fitted; windows, experts and largest values have none of "
        "their "
        "own. Excluded: by shares fitted without the row's family of shapes (products of one n and k, attention of one length). "
        "Backward kernels are not in the tables.\n\n"
        "| kernels | precision | accelerator | rows | error % | bias of the median % | excluded % |\n"
        "|---|---|---|---:|---:|---:|---:|\n";
    const auto fitted = kernel_errors(components.kernels, predicted_kernels(components.kernels, components.shares));
    const auto left_out = kernel_errors(components.kernels, kernels_left_out(components.kernels));
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        const KernelErrors& e = fitted[i];
        text += fmt::format("| {} | {} | {} | {} | {:.1f} | {:+.1f} | {:.1f} |\n", name(e.table), e.precision, e.accelerator,
                            e.rows, 100.0 * e.error, 100.0 * e.bias, 100.0 * left_out[i].error);
    }
    return text;
}

std::string constants_text(const Components& components)
{
    std::string text =
        "\n## Constants that components alone give\n\nThe fit to training steps takes them as observations, so the catalog's "
        "differ "
        "where steps say otherwise; with those of the catalog errors are in model-accuracy.md, \"Collectives alone\".\n\n| "
        "constant | value (SI) | +- % |\n|---|---:|---:|\n";
    const NetworkFit& network = components.network;
    for (std::size_t k = 0; k < network.constants.size(); ++k) {
        text += fmt::format("| {} | {:.3g} | {:.0f} |\n", network.constants[k].name(), network.constants[k].value,
                            100.0 * network.deviation[k]);
    }
    for (const KernelShare& share : components.shares) {
        text += fmt::format("| {}.{} | {:.3f} | {:.0f} |\n", share.accelerator, share.key, share.value, 100.0 * share.deviation);
    }
    return text;
}

}  // namespace

std::string component_page(const Components& components, const std::string& command)
{
    return "# Components: collectives and kernels alone\n\nMade by `" + command + "`. Formulas: docs/methods/collectives.md, " +
           "docs/methods/kernel-times.md.\n\n" + collectives_text(components) + systems_text(components) +
           kernels_text(components) + constants_text(components);
}

}  // namespace prismopt

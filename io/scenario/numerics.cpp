#include "io/scenario/numerics.hpp"

#include "io/scenario/catalog.hpp"
#include "io/scenario/scenario.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

/// RMS deviations by class of operators: attention and linear layers, each forward and backward.
using ClassDeviations = std::array<double, 4>;

ClassDeviations class_deviations(const NumericChoice& choice)
{
    const bool wide = choice.precision == Precision::fp32 || choice.precision == Precision::tf32;
    const std::string linear = choice.precision == Precision::fp8 ? "fp8-e4m3" : std::string(name(choice.precision));
    const FormatDeviation products = linear_deviation(linear);
    const FormatDeviation attention = attention_deviation(wide ? linear : "bf16", std::string(name(choice.kernel)));
    return {attention.forward, attention.backward, products.forward, products.backward};
}

double tokens_of(const std::vector<Phase>& phases)
{
    double tokens = 0.0;
    for (const Phase& phase : phases) {
        tokens += phase.tokens;
    }
    return tokens;
}

std::string more_tokens_text(const Scenario& scenario, double gap)
{
    const auto phases = phases_despite_gap(scenario.phases, scenario.workload, gap);
    return phases ? fmt::format("{:.3g}", 100.0 * (tokens_of(*phases) / tokens_of(scenario.phases) - 1.0)) : "unlimited";
}

/// In words, by what the space chooses.
std::string choice_text(const NumericChoice& choice, const SpaceSettings& space)
{
    const std::string kernel = space.attention_kernel.empty() ? "" : fmt::format("{} attention", name(choice.kernel));
    if (space.precision.empty()) {
        return kernel;
    }
    return fmt::format("{}{}{}", name(choice.precision), kernel.empty() ? "" : " with ", kernel);
}

/// The reference in the same words, but with what differs from the usual one.
std::string reference_text(const NumericChoice& reference, const SpaceSettings& space)
{
    const bool usual = space.attention_kernel.empty() && reference.kernel == AttentionKernel::flash;
    return fmt::format("{}{}", name(reference.precision), usual ? "" : fmt::format(" with {} attention", name(reference.kernel)));
}

}  // namespace

NumericChoice numeric_choice(const Workload& workload)
{
    return {workload.precision, workload.fuses_attention() ? AttentionKernel::flash : AttentionKernel::plain};
}

double deviation_from(const NumericChoice& reference, const NumericChoice& choice)
{
    const ClassDeviations of = class_deviations(choice);
    const ClassDeviations against = class_deviations(reference);
    double largest = 0.0;
    for (std::size_t i = 0; i < of.size(); ++i) {
        largest = std::max(largest, of[i] / against[i]);
    }
    return largest;
}

std::optional<std::vector<Phase>> phases_despite_gap(std::vector<Phase> phases, const Workload& workload, double gap)
{
    const double tokens = tokens_of(phases);
    const auto needed = tokens_despite_gap(parameters_of(network_of(workload)), tokens, gap);
    if (!needed) {
        return std::nullopt;
    }
    if (*needed != tokens) {
        for (Phase& phase : phases) {
            const double step = static_cast<double>(phase.sequence) * phase.global_batch;
            phase.tokens = std::ceil(phase.tokens * (*needed / tokens) / step) * step;
        }
    }
    return phases;
}

std::vector<NumericChoice> numeric_choices(const Scenario& scenario)
{
    const SpaceSettings& space = scenario.space;
    const NumericChoice own = numeric_choice(scenario.workload);
    std::vector<NumericChoice> choices;
    for (const Precision precision : space.precision.empty() ? std::vector{own.precision} : space.precision) {
        for (const AttentionKernel kernel : space.attention_kernel.empty() ? std::vector{own.kernel} : space.attention_kernel) {
            choices.push_back({precision, kernel});
        }
    }
    return choices;
}

std::string numerics_text(const Scenario& scenario)
{
    if (scenario.space.precision.empty() && scenario.space.attention_kernel.empty()) {
        return "";
    }
    const Numerics& numerics = scenario.numerics;
    std::string text;
    for (const NumericChoice& choice : numeric_choices(scenario)) {
        const double deviation = deviation_from(numerics.reference, choice);
        text += fmt::format("{}{}: {:.3g} times the deviation of {}", text.empty() ? "" : "; ",
                            choice_text(choice, scenario.space), deviation, reference_text(numerics.reference, scenario.space));
        if (deviation > numerics.max_deviation) {
            text += ", excluded by max_deviation";
            continue;
        }
        if (const auto gap = numerics.loss_gap.find(choice.precision); gap != numerics.loss_gap.end()) {
            text += fmt::format(", {} % more tokens ({} to {}) for a loss gap of {:.3g} % ({:.3g} to {:.3g})",
                                more_tokens_text(scenario, gap->second.expected()), more_tokens_text(scenario, gap->second.low),
                                more_tokens_text(scenario, gap->second.high), 100.0 * gap->second.expected(),
                                100.0 * gap->second.low, 100.0 * gap->second.high);
        }
    }
    return "Numerics: " + text + ".";
}

}  // namespace prismopt

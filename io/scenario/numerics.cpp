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

ClassDeviations class_deviations(Precision precision)
{
    const bool wide = precision == Precision::fp32 || precision == Precision::tf32;
    const std::string linear = precision == Precision::fp8 ? "fp8-e4m3" : std::string(name(precision));
    const FormatDeviation products = linear_deviation(linear);
    const FormatDeviation attention = attention_deviation(wide ? linear : "bf16", "flash");
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

}  // namespace

double precision_deviation(Precision precision, Precision reference)
{
    const ClassDeviations of = class_deviations(precision);
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

std::string numerics_text(const Scenario& scenario)
{
    std::string text;
    for (const Precision precision : scenario.space.precision) {
        const Numerics& numerics = scenario.numerics;
        const double deviation = precision_deviation(precision, numerics.reference);
        text += fmt::format("{}{}: {:.3g} times the deviation of {}", text.empty() ? "" : "; ", name(precision), deviation,
                            name(numerics.reference));
        if (deviation > numerics.max_deviation) {
            text += ", excluded by max_deviation";
            continue;
        }
        if (const auto gap = numerics.loss_gap.find(precision); gap != numerics.loss_gap.end()) {
            text += fmt::format(", {} % more tokens ({} to {}) for a loss gap of {:.3g} % ({:.3g} to {:.3g})",
                                more_tokens_text(scenario, gap->second.expected()), more_tokens_text(scenario, gap->second.low),
                                more_tokens_text(scenario, gap->second.high), 100.0 * gap->second.expected(),
                                100.0 * gap->second.low, 100.0 * gap->second.high);
        }
    }
    return text.empty() ? "" : "Precision: " + text + ".";
}

}  // namespace prismopt

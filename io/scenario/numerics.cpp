#include "io/scenario/numerics.hpp"

#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/scenario.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

/// RMS deviations by class of operators: attention and linear layers, each forward and backward.
using ClassDeviations = std::array<double, 4>;

/// The number format whose deviations were measured.
std::string format_of(Precision precision)
{
    switch (precision) {
        case Precision::fp8:
        case Precision::fp8_delayed:  // scales of earlier steps deviate as those of this one do: assumption
        case Precision::fp8_current: return "fp8-e4m3";
        case Precision::fp8_blockwise: return "fp8-e4m3-block";
        case Precision::mxfp8: return "mxfp8-e4m3-up";  // scales rounded up, as Transformer Engine has them
        case Precision::fp32:
        case Precision::tf32:
        case Precision::bf16:
        case Precision::nvfp4: break;
    }
    return std::string(name(precision));
}

/// The format of the products of attention.
std::string attention_format(const NumericChoice& choice)
{
    if (choice.precision == Precision::fp32 || choice.precision == Precision::tf32) {
        return format_of(choice.precision);
    }
    if (choice.attention != AttentionPrecision::fp8) {
        return "bf16";
    }
    return has_8_bits(choice.precision) ? format_of(choice.precision) : "fp8-e4m3";
}

ClassDeviations class_deviations(const NumericChoice& choice)
{
    const FormatDeviation products = linear_deviation(format_of(choice.precision));
    const FormatDeviation attention =
        attention_deviation(attention_format(choice), std::string(name(choice.kernel)));
    return {attention.forward, attention.backward, products.forward, products.backward};
}

std::string more_tokens_text(const Scenario& scenario, const Workload& network, double gap)
{
    const auto factor = factor_of_gap(scenario, network, gap);
    return factor ? fmt::format("{:.3g}", 100.0 * (*factor - 1.0)) : "unlimited";
}

/// What a loss gap costs each network.
std::string loss_gap_text(const Scenario& scenario, const LossGap& gap)
{
    std::string text;
    const std::vector<const Workload*> all = networks(scenario);
    for (const Workload* network : all) {
        if (gap.high == 0.0) {
            text += ", no more tokens";
            continue;
        }
        const auto more = [&](double relative) { return more_tokens_text(scenario, *network, relative); };
        const double beyond =
            beyond_loss_fit(parameters_of(network_of(*network)), tokens_to_the_loss(scenario));
        text +=
            fmt::format(", {} % more tokens ({} to {}{}){}", more(gap.expected()), more(gap.low),
                        more(gap.high), beyond > 1.0 ? fmt::format("; extrapolated by x{:.3g}", beyond) : "",
                        all.size() > 1 ? " for " + network->name : "");
    }
    return fmt::format("{}{} for a loss gap of {:.3g} % ({:.3g} to {:.3g})", text, all.size() > 1 ? "," : "",
                       100.0 * gap.expected(), 100.0 * gap.low, 100.0 * gap.high);
}

/// "nvfp4-ends (nvfp4 but for 2 first and 8 last layers)"
std::string precision_text(const PrecisionChoice& choice)
{
    std::vector<std::string> exceptions;
    if (!choice.wide.blocks.empty()) {
        exceptions.push_back(fmt::format("{}", fmt::join(choice.wide.blocks, " and ")));
    }
    const auto ends = [&](int layers, const char* where) {
        if (layers > 0) {
            exceptions.push_back(
                fmt::format("the {} {}", where, layers == 1 ? "layer" : fmt::format("{} layers", layers)));
        }
    };
    ends(choice.wide.first, "first");
    ends(choice.wide.last, "last");
    const std::string but =
        exceptions.empty() ? "" : fmt::format(", but bf16 in {}", fmt::join(exceptions, ", "));
    const char* attention = choice.attention == AttentionPrecision::fp8 ? ", attention in fp8" : "";
    return choice.name == name(choice.precision)
               ? choice.name
               : fmt::format("{} ({}{}{})", choice.name, name(choice.precision), but, attention);
}

/// In words, by what the space chooses.
std::string choice_text(const ChoiceOfSpace& choice, const SpaceSettings& space)
{
    const std::string kernel =
        space.attention_kernel.empty() ? "" : fmt::format("{} attention", name(choice.kernel));
    if (space.precision.empty()) {
        return kernel;
    }
    return fmt::format("{}{}{}", precision_text(choice.precision), kernel.empty() ? "" : " with ", kernel);
}

/// The reference in the same words, but with what differs from the usual one.
std::string reference_text(const NumericChoice& reference, const SpaceSettings& space)
{
    const bool usual = space.attention_kernel.empty() && reference.kernel == AttentionKernel::flash;
    return fmt::format("{}{}", name(reference.precision),
                       usual ? "" : fmt::format(" with {} attention", name(reference.kernel)));
}

}  // namespace

NumericChoice numeric_choice(const Workload& workload)
{
    return {workload.precision, workload.attention_precision,
            workload.fuses_attention() ? AttentionKernel::flash : AttentionKernel::plain};
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

double tokens_to_the_loss(const Scenario& scenario)
{
    if (!scenario.learning) {
        return tokens_of(scenario.phases);
    }
    const Learning& learning = *scenario.learning;
    const double others =
        tokens_of(scenario.phases) - tokens_of(phases_of(learning, learning.as_given.global_batch));
    return others + learning.as_given.tokens;
}

std::optional<double> factor_of_gap(const Scenario& scenario, const Workload& workload, double gap)
{
    const double tokens = tokens_to_the_loss(scenario);
    const auto needed = tokens_despite_gap(parameters_of(network_of(workload)), tokens, gap);
    return needed ? std::optional(*needed / tokens) : std::nullopt;
}

std::vector<Phase> longer_phases(const Scenario& scenario, std::optional<int> global_batch, double factor)
{
    std::vector<Phase> phases = scenario.phases;
    for (Phase& phase : phases) {
        phase = longer(phase, factor);
    }
    if (scenario.learning && (global_batch || factor != 1.0)) {
        Learning learning = *scenario.learning;
        learning.as_given = longer(learning.as_given, factor);
        const std::vector<Phase> own =
            phases_of(learning, global_batch.value_or(learning.as_given.global_batch));
        std::copy(own.begin(), own.end(), phases.begin() + static_cast<std::ptrdiff_t>(learning.phase));
    }
    return phases;
}

std::optional<LossGap> loss_gap_of(const Numerics& numerics, const PrecisionChoice* choice)
{
    const auto found = choice == nullptr ? numerics.loss_gap.end() : numerics.loss_gap.find(choice->name);
    return found == numerics.loss_gap.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ChoiceOfSpace> choices_of_space(const Scenario& scenario)
{
    const SpaceSettings& space = scenario.space;
    const NumericChoice own = numeric_choice(scenario.workload);
    const std::vector<PrecisionChoice> usual{{std::string(name(own.precision)), own.precision}};
    std::vector<ChoiceOfSpace> choices;
    for (const PrecisionChoice& precision : space.precision.empty() ? usual : space.precision) {
        for (const AttentionKernel kernel :
             space.attention_kernel.empty() ? std::vector{own.kernel} : space.attention_kernel) {
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
    for (const ChoiceOfSpace& choice : choices_of_space(scenario)) {
        const double deviation = deviation_from(numerics.reference, choice.numeric());
        text += fmt::format("{}{}: {:.3g} times the deviation of {}", text.empty() ? "" : "; ",
                            choice_text(choice, scenario.space), deviation,
                            reference_text(numerics.reference, scenario.space));
        if (deviation > numerics.max_deviation) {
            text += ", excluded by max_deviation";
            continue;
        }
        if (const auto gap = loss_gap_of(numerics, &choice.precision)) {
            text += loss_gap_text(scenario, *gap);
            if (numerics.published && choice.precision.precision == Precision::nvfp4 &&
                choice.precision.wide == WideLayers{}) {
                text += ", published of runs with 16 % of the linear layers in bf16";
            }
            if (numerics.published && choice.precision.attention == AttentionPrecision::fp8) {
                text += ", published of runs with attention in bf16";
            }
        }
    }
    return "Numerics: " + text + ".";
}

}  // namespace prismopt

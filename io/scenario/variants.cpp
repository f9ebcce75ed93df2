#include "io/scenario/variants.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/toml/quantity.hpp"
#include "io/words/infeasible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// What the values of a parameter measure; nothing for counts and factors.
std::optional<Dimension> dimension_of(HardwareTarget target)
{
    switch (target) {
        case HardwareTarget::bandwidth:
        case HardwareTarget::aggregate:
        case HardwareTarget::memory_bandwidth: return Dimension::bandwidth;
        case HardwareTarget::latency: return Dimension::time;
        case HardwareTarget::memory: return Dimension::data;
        case HardwareTarget::compute: return Dimension::work_rate;
        case HardwareTarget::power: return Dimension::power;
        case HardwareTarget::link_energy:
        case HardwareTarget::memory_energy: return Dimension::data_energy;
        case HardwareTarget::compute_energy: return Dimension::work_energy;
        case HardwareTarget::failure_rate: return Dimension::rate;
        case HardwareTarget::oversubscription:
        case HardwareTarget::group: break;
    }
    return std::nullopt;
}

/// A value in SI units, in any unit of its dimension; nothing for other texts.
std::optional<double> si_of(HardwareTarget target, std::string_view text)
{
    if (const auto dimension = dimension_of(target)) {
        const auto parsed = parse_si(text, *dimension, row_of(target).example);
        const double* si = std::get_if<double>(&parsed);
        return si == nullptr ? std::nullopt : std::optional(*si);
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

/// The level of a text: that of the choice which value_text() prints in the same way. Other ones are as
/// written, as nlopt tunes them.
std::optional<ChoiceValue> level_in(const StudyChoice& choice, std::string_view text)
{
    const auto si = si_of(choice.hardware->target, text);
    if (!si || !std::isfinite(*si)) {
        return std::nullopt;
    }
    const HardwareLevel level{*si};
    const auto listed =
        std::find_if(choice.values.begin(), choice.values.end(), [&](const ChoiceValue& value) {
            return value_text(choice, value) == value_text(choice, level);
        });
    if (listed != choice.values.end()) {
        return *listed;
    }
    const bool counts = choice.hardware->target == HardwareTarget::group;
    const bool whole = *si == std::floor(*si) && *si <= std::numeric_limits<int>::max();
    return *si > 0.0 && (whole || !counts) ? std::optional<ChoiceValue>(level) : std::nullopt;
}

/// The value of a word such as value_text() writes; nothing if it is none of the choice.
std::optional<ChoiceValue> value_in(const StudyChoice& choice, const std::string& text)
{
    if (choice.hardware) {
        const std::string key = choice.name + "=";
        return text.starts_with(key) ? level_in(choice, std::string_view(text).substr(key.size()))
                                     : std::nullopt;
    }
    const auto at = std::find_if(choice.values.begin(), choice.values.end(),
                                 [&](const ChoiceValue& value) { return value_text(choice, value) == text; });
    return at == choice.values.end() ? std::nullopt : std::optional(*at);
}

/// The machine of the variant, before its parameters are turned. Failures are given for nodes of the first
/// machine; of another one the rate per GPU is the same.
Hardware machine_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    Hardware hardware{scenario.cluster, scenario.reliability};
    if (const auto* machine = chosen<ChosenCluster>(values)) {
        hardware.cluster = scenario.machines[machine->number];
        const double larger =
            static_cast<double>(hardware.cluster.gpus_per_node()) / scenario.cluster.gpus_per_node();
        scale_node_failures(hardware.reliability, larger);
    }
    return hardware;
}

/// What the choices set of the machine, together.
HardwareOption hardware_of(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    HardwareOption all;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const StudyChoice& choice = scenario.choices[k];
        if (const auto* level = std::get_if<HardwareLevel>(&values[k])) {
            all.parameters.push_back(*choice.hardware);
            all.values.push_back(level->si);
        } else if (const auto* chosen = std::get_if<ChosenOption>(&values[k])) {
            const HardwareOption& option = choice.options[chosen->number];
            all.parameters.insert(all.parameters.end(), option.parameters.begin(), option.parameters.end());
            all.values.insert(all.values.end(), option.values.begin(), option.values.end());
            all.added.price = all.added.price + option.added.price;
            all.added.power += option.added.power;
        }
    }
    return all;
}

/// Cluster and reliability of the variant, or why it is excluded.
std::variant<Hardware, Infeasible> hardware_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    const HardwareOption set = hardware_of(scenario, values);
    auto hardware =
        turned(machine_at(scenario, values), scenario.power, set.parameters, set.values, set.added);
    const DollarsPerSecond limit = scenario.search.gpu_price_limit;
    if (const auto* built = std::get_if<Hardware>(&hardware); built != nullptr && limit.si > 0.0) {
        const DollarsPerSecond price = built->cluster.gpu_price;
        if (price > limit) {
            return Infeasible{Conflict::price_over_limit,
                              {{FactKey::price_usd_h, price.si * (1_h).si},
                               {FactKey::limit_usd_h, limit.si * (1_h).si}}};
        }
    }
    return hardware;
}

/// Adds a variant to those that are excluded by the same conflict.
void count_excluded(Infeasible why, std::span<const StudyChoice> choices, std::span<const ChoiceValue> values,
                    std::vector<ExcludedVariants>& excluded)
{
    auto found = std::ranges::find(excluded, why.conflict, [](const auto& row) { return row.why.conflict; });
    if (found == excluded.end()) {
        found = excluded.insert(excluded.end(), {std::move(why), variant_text(choices, values)});
    }
    ++found->count;
}

/// By which factor the precision makes the run longer. Readers refuse gaps that no
/// number of tokens makes up for.
double factor_of_precision(const Scenario& scenario, std::span<const ChoiceValue> values,
                           const Workload& workload)
{
    const auto gap = loss_gap_of(scenario.numerics, precision_at(scenario, values));
    return gap ? factor_of_gap(scenario, workload, gap->expected()).value() : 1.0;
}

}  // namespace

Workload workload_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    const auto* network = chosen<TrainedNetwork>(values);
    Workload workload = network != nullptr ? scenario.workloads[network->number] : scenario.workload;
    if (const PrecisionChoice* choice = precision_at(scenario, values)) {
        workload.precision = choice->precision;
        workload.attention_precision = choice->attention;
        workload.wide = choice->wide;
    }
    if (const auto* kernel = chosen<AttentionKernel>(values)) {
        workload.set_attention_kernel(*kernel);
    }
    return workload;
}

const PrecisionChoice* precision_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    const auto* choice = chosen<ChosenPrecision>(values);
    return choice != nullptr ? &scenario.space.precision[choice->number] : nullptr;
}

std::optional<int> global_batch_at(std::span<const ChoiceValue> values)
{
    const auto* batch = chosen<GlobalBatch>(values);
    return batch != nullptr ? std::optional(batch->sequences) : std::nullopt;
}

std::variant<Variant, Infeasible> variant_or_reason(const Scenario& scenario,
                                                    std::span<const ChoiceValue> values)
{
    Variant variant{scenario};
    if (!values.empty()) {
        auto hardware = hardware_at(scenario, values);
        if (auto* why = std::get_if<Infeasible>(&hardware)) {
            return std::move(*why);
        }
        auto& built = std::get<Hardware>(hardware);
        variant.cluster = std::move(built.cluster);
        variant.memory_limit =
            with_error(scenario.memory_limit, variant.cluster.stack.name, scenario.learned.memory);
        variant.reliability = std::move(built.reliability);
    }
    if (const auto* recovery = chosen<Recovery>(values)) {
        variant.reliability.recovery = *recovery;
    }
    variant.workload = workload_at(scenario, values);
    variant.deviation = deviation_from(scenario.numerics.reference, numeric_choice(variant.workload));
    if (!values.empty() && variant.deviation > scenario.numerics.max_deviation) {
        return Infeasible{Conflict::deviation_over_limit,
                          {{FactKey::deviation, variant.deviation},
                           {FactKey::most_deviation, scenario.numerics.max_deviation}}};
    }
    variant.longer = factor_of_precision(scenario, values, variant.workload);
    variant.local =
        local_updates_of(scenario, variant.workload, variant.longer * tokens_to_the_loss(scenario));
    variant.phases = phases_at(scenario, values);
    return variant;
}

std::optional<Variant> variant_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    auto variant = variant_or_reason(scenario, values);
    return std::holds_alternative<Variant>(variant) ? std::optional(std::get<Variant>(std::move(variant)))
                                                    : std::nullopt;
}

std::vector<Phase> phases_at(const Scenario& scenario, std::span<const ChoiceValue> values)
{
    if (!scenario.served.empty()) {
        return scenario.served.phases[chosen<TrainedNetwork>(values)->number];
    }
    const double factor = factor_of_precision(scenario, values, workload_at(scenario, values));
    return longer_phases(scenario, global_batch_at(values), factor);
}

void find_variants(Scenario& scenario)
{
    scenario.variants.clear();
    scenario.variant_counts = {};
    std::vector<std::size_t> at(scenario.choices.size(), 0);
    while (true) {
        ChosenValues values;
        for (std::size_t k = 0; k < at.size(); ++k) {
            values.push_back(scenario.choices[k].values[at[k]]);
        }
        ++scenario.variant_counts.combinations;
        auto variant = variant_or_reason(scenario, values);
        if (auto* why = std::get_if<Infeasible>(&variant)) {
            count_excluded(std::move(*why), scenario.choices, values, scenario.variant_counts.excluded);
        } else {
            scenario.variants.push_back(std::move(values));
        }
        std::size_t choice = at.size();
        while (choice > 0 && at[choice - 1] + 1 == scenario.choices[choice - 1].values.size()) {
            at[--choice] = 0;
        }
        if (choice == 0) {
            break;
        }
        ++at[choice - 1];
    }
    if (scenario.variants.empty()) {
        std::string reasons;
        for (const ExcludedVariants& excluded : scenario.variant_counts.excluded) {
            reasons += fmt::format("\n  {}  {}", excluded.count, excluded_text(excluded));
        }
        throw InputError(
            fmt::format("{}: no combination of the choices (clusters, [[knob]]s and other values) "
                        "is possible:{}",
                        scenario.path, reasons));
    }
}

std::string excluded_text(const ExcludedVariants& excluded)
{
    return fmt::format("{}{}: {}; {}", excluded.why.category(),
                       excluded.first.empty() ? "" : fmt::format(" ({})", excluded.first),
                       detail_text(excluded.why), remedy_text(excluded.why));
}

std::string value_text(const StudyChoice& choice, const ChoiceValue& value)
{
    if (const auto* level = std::get_if<HardwareLevel>(&value)) {
        const HardwareTargetRow& row = row_of(choice.hardware->target);
        return fmt::format("{}={:.6g}{}", choice.name, level->si / row.si, row.unit);
    }
    const auto at = std::find(choice.values.begin(), choice.values.end(), value) - choice.values.begin();
    return fmt::format("{}={}", choice.name, choice.labels.at(static_cast<std::size_t>(at)));
}

std::string variant_text(std::span<const StudyChoice> choices, std::span<const ChoiceValue> values)
{
    std::string text;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        text += k == 0 ? "" : " ";
        text += value_text(choices[k], values[k]);
    }
    return text;
}

std::string machine_text(std::span<const StudyChoice> choices, std::span<const ChoiceValue> values)
{
    std::string text;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        if (is_hardware(values[k])) {
            text += (text.empty() ? "" : " ") + value_text(choices[k], values[k]);
        }
    }
    return text;
}

std::optional<ChosenValues> variant_values(std::span<const StudyChoice> choices, const std::string& text)
{
    ChosenValues values;
    std::istringstream words(text);
    for (const StudyChoice& choice : choices) {
        std::string word;
        words >> word;
        const auto value = value_in(choice, word);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(*value);
    }
    return words >> std::ws && !words.eof() ? std::nullopt : std::optional(values);
}

std::string_view parameter_units(HardwareTarget target) { return row_of(target).si_unit; }

}  // namespace prismopt

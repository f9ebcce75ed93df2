#include "io/scenario/hardware_variants.hpp"

#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace prismopt {

namespace {

/// Units of a hardware parameter: as its values are written, with how many SI units one is, and the SI unit. Counts have none.
struct ParameterUnits {
    const char* written = "";
    double size = 1.0;
    const char* si = "1";
};

ParameterUnits units_of(HardwareTarget target)
{
    switch (target) {
        case HardwareTarget::bandwidth:
        case HardwareTarget::aggregate:
        case HardwareTarget::memory_bandwidth: return {"GB/s", 1e9, "B/s"};
        case HardwareTarget::latency: return {"us", 1e-6, "s"};
        case HardwareTarget::memory: return {"GB", 1e9, "B"};
        case HardwareTarget::compute: return {"TFLOP/s", 1e12, "FLOP/s"};
        case HardwareTarget::power: return {"W", 1.0, "W"};
        case HardwareTarget::oversubscription:
        case HardwareTarget::group:
        case HardwareTarget::workload:
        case HardwareTarget::global_batch:
        case HardwareTarget::precision:
        case HardwareTarget::attention_kernel: break;
    }
    return {};
}

std::string parameter_text(const HardwareParameter& parameter, double value)
{
    if (!parameter.choices.empty()) {
        return fmt::format("{}={}", parameter.name, parameter.choices[static_cast<std::size_t>(value)]);
    }
    if (parameter.target == HardwareTarget::global_batch) {
        return fmt::format("{}={:.0f}", parameter.name, value);
    }
    const ParameterUnits units = units_of(parameter.target);
    return fmt::format("{}={:.6g}{}", parameter.name, value / units.size, units.written);
}

/// Whether only the levels are possible: others are no choices, or have no known price.
bool has_only_levels(const HardwareParameter& parameter)
{
    return !parameter.choices.empty() || parameter.target == HardwareTarget::global_batch;
}

/// The value in what parameter_text() wrote.
std::optional<double> hardware_value(const HardwareParameter& parameter, const std::string& text)
{
    if (has_only_levels(parameter)) {
        const auto at = std::find_if(parameter.levels.begin(), parameter.levels.end(),
                                     [&](double level) { return parameter_text(parameter, level) == text; });
        return at == parameter.levels.end() ? std::nullopt : std::optional(*at);
    }
    const std::size_t from = parameter.name.size() + 1;
    double value = 0.0;
    if (text.size() <= from || std::from_chars(text.data() + from, text.data() + text.size(), value).ec != std::errc{}) {
        return std::nullopt;
    }
    value *= units_of(parameter.target).size;
    return parameter_text(parameter, value) == text ? std::optional(value) : std::nullopt;
}

/// The value of the parameter of this kind; nothing if there is none.
std::optional<double> value_at(const Scenario& scenario, HardwareTarget target, std::span<const double> values)
{
    const auto found = std::find_if(scenario.hardware_parameters.begin(), scenario.hardware_parameters.end(),
                                    [target](const HardwareParameter& parameter) { return parameter.target == target; });
    return found == scenario.hardware_parameters.end() ? std::nullopt
                                                       : std::optional(values[found - scenario.hardware_parameters.begin()]);
}

/// By which factor the precision makes the run longer; nothing if no number of tokens makes up for it.
std::optional<double> factor_of_precision(const Scenario& scenario, std::span<const double> values, const Workload& workload)
{
    const auto gap = loss_gap_of(scenario.numerics, precision_at(scenario, values));
    return gap ? factor_of_gap(scenario, workload, gap->expected()) : 1.0;
}

}  // namespace

Workload workload_at(const Scenario& scenario, std::span<const double> values)
{
    const auto network = value_at(scenario, HardwareTarget::workload, values);
    Workload workload = network ? scenario.workloads[static_cast<std::size_t>(*network)] : scenario.workload;
    if (const PrecisionChoice* choice = precision_at(scenario, values)) {
        workload.precision = choice->precision;
        workload.wide = choice->wide;
    }
    if (const auto kernel = value_at(scenario, HardwareTarget::attention_kernel, values)) {
        workload.set_attention_kernel(scenario.space.attention_kernel[static_cast<std::size_t>(*kernel)]);
    }
    return workload;
}

const PrecisionChoice* precision_at(const Scenario& scenario, std::span<const double> values)
{
    const auto choice = value_at(scenario, HardwareTarget::precision, values);
    return choice ? &scenario.space.precision[static_cast<std::size_t>(*choice)] : nullptr;
}

std::optional<int> global_batch_at(const Scenario& scenario, std::span<const double> values)
{
    const auto batch = value_at(scenario, HardwareTarget::global_batch, values);
    return batch ? std::optional(static_cast<int>(*batch)) : std::nullopt;
}

std::optional<Variant> variant_at(const Scenario& scenario, std::span<const double> values)
{
    auto hardware = turned({scenario.cluster, scenario.reliability}, scenario.hardware_parameters, values);
    const double limit = scenario.search.gpu_price_limit.si;
    if (!hardware || (limit > 0.0 && hardware->cluster.gpu_price.si > limit)) {
        return std::nullopt;
    }
    Variant variant{scenario};
    variant.cluster = std::move(hardware->cluster);
    variant.reliability = std::move(hardware->reliability);
    variant.workload = workload_at(scenario, values);
    variant.deviation = deviation_from(scenario.numerics.reference, numeric_choice(variant.workload));
    const auto factor = factor_of_precision(scenario, values, variant.workload);
    if (!factor || variant.deviation > scenario.numerics.max_deviation) {
        return std::nullopt;
    }
    variant.longer = *factor;
    variant.local = local_updates_of(scenario, variant.workload, *factor * tokens_to_the_loss(scenario));
    variant.phases = longer_phases(scenario, global_batch_at(scenario, values), *factor);
    return variant;
}

std::vector<Phase> phases_at(const Scenario& scenario, std::span<const double> values)
{
    const auto factor = factor_of_precision(scenario, values, workload_at(scenario, values));
    return longer_phases(scenario, global_batch_at(scenario, values), *factor);
}

std::vector<std::vector<double>> hardware_grid(const Scenario& scenario)
{
    std::vector<std::vector<double>> grid;
    std::vector<std::size_t> at(scenario.hardware_parameters.size(), 0);
    while (true) {
        std::vector<double> values;
        for (std::size_t k = 0; k < at.size(); ++k) {
            values.push_back(scenario.hardware_parameters[k].levels[at[k]]);
        }
        if (variant_at(scenario, values)) {
            grid.push_back(std::move(values));
        }
        std::size_t parameter = at.size();
        while (parameter > 0 && at[parameter - 1] + 1 == scenario.hardware_parameters[parameter - 1].levels.size()) {
            at[--parameter] = 0;
        }
        if (parameter == 0) {
            break;
        }
        ++at[parameter - 1];
    }
    if (grid.empty()) {
        throw InputError(
            fmt::format("{}: no combination of [[knob]] values is possible: groups must nest, and prices must not exceed "
                        "gpu_price_limit; change the values",
                        scenario.path));
    }
    return grid;
}

std::string hardware_text(std::span<const HardwareParameter> hardware_parameters, std::span<const double> values)
{
    std::string text;
    for (std::size_t k = 0; k < hardware_parameters.size(); ++k) {
        text += k == 0 ? "" : " ";
        text += parameter_text(hardware_parameters[k], values[k]);
    }
    return text;
}

std::optional<std::vector<double>> hardware_values(std::span<const HardwareParameter> hardware_parameters,
                                                   const std::string& text)
{
    std::vector<double> values;
    std::istringstream words(text);
    for (const HardwareParameter& parameter : hardware_parameters) {
        std::string word;
        words >> word;
        const auto value = hardware_value(parameter, word);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(*value);
    }
    return words >> std::ws && !words.eof() ? std::nullopt : std::optional(values);
}

std::string_view parameter_units(HardwareTarget target) { return units_of(target).si; }

}  // namespace prismopt

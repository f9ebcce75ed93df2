#include "io/hardware_variants.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

std::string value_text(KnobTarget target, double value)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::aggregate:
        case KnobTarget::memory_bandwidth: return fmt::format("{:.6g}GB/s", value / 1e9);
        case KnobTarget::latency: return fmt::format("{:.6g}us", value * 1e6);
        case KnobTarget::group: return fmt::format("{:.0f}", value);
        case KnobTarget::memory: return fmt::format("{:.6g}GB", value / 1e9);
        case KnobTarget::compute: return fmt::format("{:.6g}TFLOP/s", value / 1e12);
        case KnobTarget::power: return fmt::format("{:.6g}W", value);
    }
    return {};
}

}  // namespace

std::optional<Hardware> hardware_at(const Scenario& scenario, std::span<const double> values)
{
    auto hardware = turned({scenario.cluster, scenario.reliability}, scenario.knobs, values);
    const double limit = scenario.search.gpu_price_limit.si;
    if (hardware && limit > 0.0 && hardware->cluster.gpu_price.si > limit) {
        return std::nullopt;
    }
    return hardware;
}

std::vector<std::vector<double>> hardware_grid(const Scenario& scenario)
{
    std::vector<std::vector<double>> grid;
    std::vector<std::size_t> at(scenario.knobs.size(), 0);
    while (true) {
        std::vector<double> values;
        for (std::size_t k = 0; k < at.size(); ++k) {
            values.push_back(scenario.knobs[k].levels[at[k]]);
        }
        if (hardware_at(scenario, values)) {
            grid.push_back(std::move(values));
        }
        std::size_t knob = at.size();
        while (knob > 0 && at[knob - 1] + 1 == scenario.knobs[knob - 1].levels.size()) {
            at[--knob] = 0;
        }
        if (knob == 0) {
            break;
        }
        ++at[knob - 1];
    }
    if (grid.empty()) {
        throw InputError(
            fmt::format("{}: no combination of the [[knob]] values works: groups must nest and gpu_price_limit must be met; give "
                        "other values",
                        scenario.path));
    }
    return grid;
}

std::string hardware_text(std::span<const Knob> knobs, std::span<const double> values)
{
    std::string text;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        text += fmt::format("{}{}={}", k == 0 ? "" : " ", knobs[k].name, value_text(knobs[k].target, values[k]));
    }
    return text;
}

std::string_view knob_units(KnobTarget target)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::aggregate:
        case KnobTarget::memory_bandwidth: return "B/s";
        case KnobTarget::latency: return "s";
        case KnobTarget::group: return "1";
        case KnobTarget::memory: return "B";
        case KnobTarget::compute: return "FLOP/s";
        case KnobTarget::power: return "W";
    }
    return {};
}

}  // namespace prismopt

#include "io/scenario/hardware_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace prismopt {

namespace {

/// In which a knob's values are written, and how many SI units that is; a count has none.
struct KnobWriting {
    const char* unit;
    double size;
};

KnobWriting writing(KnobTarget target)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::aggregate:
        case KnobTarget::memory_bandwidth: return {"GB/s", 1e9};
        case KnobTarget::latency: return {"us", 1e-6};
        case KnobTarget::oversubscription:
        case KnobTarget::group:
        case KnobTarget::workload: break;
        case KnobTarget::memory: return {"GB", 1e9};
        case KnobTarget::compute: return {"TFLOP/s", 1e12};
        case KnobTarget::power: return {"W", 1.0};
    }
    return {"", 1.0};
}

std::string knob_text(const Knob& knob, double value)
{
    if (knob.target == KnobTarget::workload) {
        return fmt::format("{}={}", knob.name, knob.choices[static_cast<std::size_t>(value)]);
    }
    const KnobWriting in = writing(knob.target);
    return fmt::format("{}={:.6g}{}", knob.name, value / in.size, in.unit);
}

/// The value in what knob_text() wrote.
std::optional<double> knob_value(const Knob& knob, const std::string& text)
{
    if (knob.target == KnobTarget::workload) {
        const auto at =
            std::find_if(knob.levels.begin(), knob.levels.end(), [&](double level) { return knob_text(knob, level) == text; });
        return at == knob.levels.end() ? std::nullopt : std::optional(*at);
    }
    const std::size_t from = knob.name.size() + 1;
    double value = 0.0;
    if (text.size() <= from || std::from_chars(text.data() + from, text.data() + text.size(), value).ec != std::errc{}) {
        return std::nullopt;
    }
    value *= writing(knob.target).size;
    return knob_text(knob, value) == text ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Variant> variant_at(const Scenario& scenario, std::span<const double> values)
{
    auto hardware = turned({scenario.cluster, scenario.reliability}, scenario.knobs, values);
    const double limit = scenario.search.gpu_price_limit.si;
    if (!hardware || (limit > 0.0 && hardware->cluster.gpu_price.si > limit)) {
        return std::nullopt;
    }
    for (std::size_t k = 0; k < scenario.knobs.size(); ++k) {
        if (scenario.knobs[k].target == KnobTarget::workload) {
            return Variant{std::move(*hardware), scenario.workloads[static_cast<std::size_t>(values[k])]};
        }
    }
    return Variant{std::move(*hardware), scenario.workload};
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
        if (variant_at(scenario, values)) {
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
            fmt::format("{}: no combination of [[knob]] values is possible: groups must nest, and prices must not exceed "
                        "gpu_price_limit; change the values",
                        scenario.path));
    }
    return grid;
}

std::string hardware_text(std::span<const Knob> knobs, std::span<const double> values)
{
    std::string text;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        text += k == 0 ? "" : " ";
        text += knob_text(knobs[k], values[k]);
    }
    return text;
}

std::optional<std::vector<double>> hardware_values(std::span<const Knob> knobs, const std::string& text)
{
    std::vector<double> values;
    std::istringstream words(text);
    for (const Knob& knob : knobs) {
        std::string word;
        words >> word;
        const auto value = knob_value(knob, word);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(*value);
    }
    return words >> std::ws && !words.eof() ? std::nullopt : std::optional(values);
}

std::string_view knob_units(KnobTarget target)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::aggregate:
        case KnobTarget::memory_bandwidth: return "B/s";
        case KnobTarget::latency: return "s";
        case KnobTarget::oversubscription:
        case KnobTarget::group:
        case KnobTarget::workload: return "1";
        case KnobTarget::memory: return "B";
        case KnobTarget::compute: return "FLOP/s";
        case KnobTarget::power: return "W";
    }
    return {};
}

}  // namespace prismopt

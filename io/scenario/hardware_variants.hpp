#pragma once

/// The kinds of hardware that the knobs of a scenario make, and the networks that it chooses from.

#include "io/scenario/scenario.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

struct Variant {
    Hardware hardware;
    Workload workload;  // that is trained on it
};

/// The scenario's knobs at these values; nothing where tiers do not nest or the hardware is dearer than the limit.
std::optional<Variant> variant_at(const Scenario& scenario, std::span<const double> values);

/// Every combination of levels that works, the first knob varying slowest. Throws InputError when none does.
std::vector<std::vector<double>> hardware_grid(const Scenario& scenario);

/// "workload=llama3-8b node.bandwidth=900GB/s node.group=72"
std::string hardware_text(std::span<const Knob> knobs, std::span<const double> values);

/// The values in what hardware_text() wrote, to six digits; nothing where it is of other knobs.
std::optional<std::vector<double>> hardware_values(std::span<const Knob> knobs, const std::string& text);

/// What a knob's value is in, SI; "1" for a count.
std::string_view knob_units(KnobTarget target);

}  // namespace prismopt

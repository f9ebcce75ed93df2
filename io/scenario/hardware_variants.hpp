#pragma once

/// Hardware variants of a scenario with [[knob]], and the networks that it chooses from.

#include "io/scenario/scenario.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

struct Variant {
    Hardware hardware;
    Workload workload;  // trained on it
};

/// The variant with the knobs at these values; empty if tiers do not nest or the price exceeds the limit.
std::optional<Variant> variant_at(const Scenario& scenario, std::span<const double> values);

/// All feasible combinations of levels, the first knob varying slowest. Throws InputError if there is none.
std::vector<std::vector<double>> hardware_grid(const Scenario& scenario);

/// "workload=llama3-8b node.bandwidth=900GB/s node.group=72"
std::string hardware_text(std::span<const Knob> knobs, std::span<const double> values);

/// Parses the output of hardware_text(), which has six digits; empty if it belongs to other knobs.
std::optional<std::vector<double>> hardware_values(std::span<const Knob> knobs, const std::string& text);

/// SI unit of a knob's value; "1" for a count.
std::string_view knob_units(KnobTarget target);

}  // namespace prismopt

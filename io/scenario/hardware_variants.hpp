#pragma once

/// Hardware variants of a scenario with [[knob]], and the networks and global batches that it chooses from.

#include "io/scenario/scenario.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// The job of one combination of choices.
struct Variant : Job {
    LocalUpdates local{};    // its price of training apart
    double deviation = 1.0;  // of its precision and attention kernel: deviation_from()
    double longer = 1.0;     // the phases, than in the precision of the workload
};

/// The network that the variant with the parameters at these values trains, with its precision and attention kernel.
Workload workload_at(const Scenario& scenario, std::span<const double> values);

/// The precision of the variant; nullptr if the space does not choose it.
const PrecisionChoice* precision_at(const Scenario& scenario, std::span<const double> values);

/// The global batch of the variant; nothing if the space does not choose it.
std::optional<int> global_batch_at(const Scenario& scenario, std::span<const double> values);

/// The phases of the variant with the parameters at these values.
std::vector<Phase> phases_at(const Scenario& scenario, std::span<const double> values);

/// The variant with the hardware parameters at these values; empty if tiers do not nest, the price or the deviation of the
/// precision exceeds its limit, or no number of tokens makes up for the precision.
std::optional<Variant> variant_at(const Scenario& scenario, std::span<const double> values);

/// All feasible combinations of levels, the first hardware parameter varying slowest. Throws InputError if there is none.
std::vector<std::vector<double>> hardware_grid(const Scenario& scenario);

/// "workload=llama3-8b node.bandwidth=900GB/s node.group=72"
std::string hardware_text(std::span<const HardwareParameter> hardware_parameters, std::span<const double> values);

/// Parses the output of hardware_text(), which has six digits; empty if it belongs to other hardware parameters.
std::optional<std::vector<double>> hardware_values(std::span<const HardwareParameter> hardware_parameters,
                                                   const std::string& text);

/// SI unit of a hardware parameter's value; "1" for a count.
std::string_view parameter_units(HardwareTarget target);

}  // namespace prismopt

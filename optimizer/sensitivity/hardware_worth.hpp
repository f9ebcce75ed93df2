#pragma once

/// What hardware parameters are worth to one plan: prices at which a change of them breaks even.

#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"
#include "model/break_even.hpp"
#include "model/sensitivity.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Break-evens of one hardware parameter. Values of the curve are in units of unit_of().
struct ParameterWorth {
    HardwareParameter parameter;
    bool has_values = false;  // a [[knob]] gives the values; otherwise only the step of the what-if
    BreakEvenCurve curve;
    std::vector<MachineUse> uses;                       // [point of the curve]
    std::vector<std::optional<Infeasible>> infeasible;  // [point]
};

/// Two parameters changed together.
struct WorthPair {
    std::size_t a = 0;  // positions in HardwareWorth::parameters, and of points of their curves
    std::size_t b = 0;
    std::size_t point_a = 0;
    std::size_t point_b = 0;
    std::optional<Infeasible> infeasible;  // the estimates are then empty
    Estimate joint;                        // USD per GPU-hour
    Estimate interaction;                  // joint minus the sum of both alone

    /// Whether the interval of the interaction excludes zero.
    bool interacts() const { return !infeasible && (interaction.low > 0.0 || interaction.high < 0.0); }
};

struct HardwareWorth {
    double price = 0.0;      // USD per GPU-hour of the plan's cluster; 0: no break-even
    double held_gpus = 0.0;  // with spares
    std::vector<ParameterWorth> parameters;
    std::vector<WorthPair> pairs;  // of knobs
};

/// A hardware parameter that is not a [[knob]], and its what-if, which must outlive this.
struct ParameterStep {
    HardwareParameter parameter;
    double value = 0.0;  // SI
    const Consequence* consequence = nullptr;
};

/// What the worth is computed from. Time is p99 of the training time, as in `cost`.
struct WorthSettings {
    std::vector<std::string> only;     // names of parameters; empty: all
    std::vector<ParameterStep> steps;  // parameters without a [[knob]]
    int most_paired = 3;               // knobs with the largest worth, to pair
};

/// Computes the break-evens of the scenario's [[knob]]s at their values, and of the steps. `plan_as_it_is`:
/// the consequence of no change, on the draws of `range`. `pause`: as of consequences().
HardwareWorth hardware_worth(
    const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
    const Consequence& plan_as_it_is, const WorthSettings& settings, const DrawRange& range,
    const SamplerOptions& sampler, const Pause& pause = [] {});

}  // namespace prismopt

#pragma once

/// Worth of hardware: the price of a GPU-hour at which a change of the hardware neither saves nor costs
/// money. docs/methods/break-even.md.

#include "model/base/estimate.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace prismopt {

/// GPU-hours that one piece of work takes on one machine.
struct MachineUse {
    double gpu_hours = 0.0;    // that the job holds, with its spares; infinite: no plan is feasible
    double low = 0.0;          // limits; zero: unknown
    double high = 0.0;         // infinite: unknown
    double electricity = 0.0;  // USD per GPU-hour beside the price; 0: the price includes it
    // of `gpu_hours`, on draws that all machines share; empty: only the limits are known
    std::vector<double> pseudo_values = {};
    // the best plan is not known: the least GPU-hours lie between the limits. `gpu_hours` is then the upper
    // one, or the lower one if the upper one is unknown
    bool open = false;
};

/// Returns the addition to `price` (USD per GPU-hour, of `base`) at which the work costs
/// as much on `other` as on `base`.
///
/// Limits: with pseudo-values, a confidence interval of the jackknife (delta method). Otherwise those that
/// follow from the limits of both uses, whatever their dependence.
Estimate break_even(const MachineUse& base, const MachineUse& other, double price);

/// Returns the break-even of both changes minus the sum of those of `a` and `b` alone: above zero,
/// each is worth more with the other.
Estimate break_even_interaction(const MachineUse& base, const MachineUse& a, const MachineUse& b,
                                const MachineUse& both, double price);

/// One value of a hardware parameter, with the use of its machine.
struct ParameterLevel {
    double value = 0.0;  // in the unit of the curve
    MachineUse use;
};

/// Comparison of a stated price with a break-even: whether one is below the other
/// for certain (given the limits).
enum class Pays { unpriced, yes, no, undecided };
inline constexpr std::array<const char*, 4> pays_names{"no price", "pays", "does not pay", "undecided"};

/// One point of a curve of break-evens.
struct BreakEvenPoint {
    double value = 0.0;  // of the parameter
    Estimate gpu_hours;
    std::optional<Estimate> worth;  // USD per GPU-hour for the whole step from the base; nothing: infeasible
    // USD per GPU-hour and unit, from the value before; nothing for the first
    std::optional<Estimate> per_unit;
    double stated = 0.0;              // price of the whole step, feasible or not; meaningless without a price
    Pays pays = Pays::unpriced;       // the whole step
    Pays last_step = Pays::unpriced;  // the step from the value before, in the direction that has a price
};

struct BreakEvenCurve {
    double base_value = 0.0;
    double base_price = 0.0;                // USD per GPU-hour
    std::optional<double> stated_per_unit;  // USD per GPU-hour and unit; negative where less is better
    std::vector<BreakEvenPoint> points;     // by value, the base among them
    std::optional<std::size_t> best;  // point with the most worth beyond its price; nothing without a price
};

/// Returns the break-evens of all levels, which ascend. `base`: position of the level that `price` is the
/// price of; it must be feasible. `stated_per_unit`: the price of the parameter, if it has one.
BreakEvenCurve break_even_curve(const std::vector<ParameterLevel>& levels, std::size_t base, double price,
                                std::optional<double> stated_per_unit);

}  // namespace prismopt

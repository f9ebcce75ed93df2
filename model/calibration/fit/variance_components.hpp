#pragma once

/// Variance components: decomposes the variance of log durations into effects of step, worker, stage in a
/// step, and microbatch. docs/methods/calibration.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Partition of the observations. Observation i lies in part `level[i]`, 0 to levels - 1.
struct Partition {
    std::vector<int> level;
    int levels = 0;
};
/// Returns the common refinement of two partitions.
Partition both(const Partition& a, const Partition& b);
/// Returns the partition of equal keys.
Partition partition_by(const std::vector<std::int64_t>& keys);

/// Term of a contrast: the sum of squares of the means of some parts, less the share in common with the parts
/// whose means were subtracted from y (kind and stage).
struct SumOfSquares {
    double sign = 1.0;
    int partition = 0;  // indices in ComponentModel::partitions
    int fixed = 0;
};
/// Random effect: one independent draw per part. `contrast` isolates its variance from those of the others.
struct RandomEffect {
    std::string name;
    int partition = 0;  // index in ComponentModel::partitions
    std::vector<SumOfSquares> contrast;
};

/// Why a variance component cannot be estimated.
enum class UnknownComponent : std::uint8_t {
    single_step,    // one step does not show how steps vary
    single_gpu,     // the part that GPUs share needs several
    no_recurrence,  // no compute kernels recur in every step
    own_kernels,    // no kernels run on several GPUs
    no_freedom,     // the design does not separate it from the others
    no_interval     // one step gives an estimate without an interval
};

/// Variance component of one effect.
struct Component {
    std::string name;
    double variance = 0.0;  // of log durations; not negative
    double low = 0.0;       // 95 % confidence interval
    double high = 0.0;
    bool present = false;  // significant among the units that were measured; the interval is for other units
    int units = 0;         // number of independent draws
    std::optional<UnknownComponent> unknown;
};

/// Observations and effects.
struct ComponentModel {
    std::vector<double> y;  // log durations less the mean of their kind and stage
    std::vector<Partition> partitions;
    std::vector<RandomEffect> effects;  // the residual last: its parts are the observations
    Partition blocks;                   // neighbouring steps: units of the jackknife
};

/// Returns the components in the order of the effects, by equating each contrast with its expectation, which
/// is linear in the components (Searle, Casella, McCulloch, Variance Components (1992), chapters 4 and 5:
/// exact for balanced designs, Henderson's method I otherwise). Intervals by the jackknife over blocks of
/// steps, or over an effect's own units if it outlasts a step (Shao and Tu, The Jackknife and Bootstrap
/// (1995), section 2.3); never narrower than chi-squared with the effect's own number of draws.
std::vector<Component> variance_components(const ComponentModel& model);

/// Returns the mean of y in each part.
std::vector<double> level_means(const Partition& partition, const std::vector<double>& y);

}  // namespace prismopt

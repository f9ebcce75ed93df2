#pragma once

/// How much of the variance of log durations is due to what is shared: by a step, a worker, a stage in one step, a microbatch.

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// A partition of the observations. `level[i]` says in which part observation i lies, 0 to levels - 1.
struct Partition {
    std::vector<int> level;
    int levels = 0;
};
/// The parts in which both partitions agree.
Partition both(const Partition& a, const Partition& b);
/// From any keys: equal keys, equal level.
Partition partition_by(const std::vector<std::int64_t>& keys);

/// A term of a contrast: the sum of squares of the means of some parts, less that of what they have in common with the parts whose
/// means were subtracted from y (kind and stage).
struct SumOfSquares {
    double sign = 1.0;
    int parts = 0;  // indices in ComponentModel::partitions
    int fixed = 0;
};
/// A random effect: one independent draw a part. `contrast` is what tells its variance from the others'.
struct Effect {
    std::string name;
    int parts = 0;  // index in ComponentModel::partitions
    std::vector<SumOfSquares> contrast;
};

struct Component {
    std::string name;
    double variance = 0.0;  // of log durations; not negative
    double low = 0.0;       // limits of the 95 % interval
    double high = 0.0;
    bool present = false;  // beyond chance in the units that were seen; how it varies among others the limits say
    int units = 0;         // independent draws behind it
    std::string unknown;   // why it cannot be told here; empty otherwise
};

struct ComponentModel {
    std::vector<double> y;  // log durations less the mean of their kind and stage
    std::vector<Partition> partitions;
    std::vector<Effect> effects;  // the residual last: its parts are the observations
    Partition blocks;             // neighbouring steps: units of the jackknife
};

/// Components in the order of the effects. Each contrast is set equal to its expectation, which is linear in the components: for the sum
/// of squares of group means, sum over parts h of an effect of n_gh^2 / n_g (Searle, Casella, McCulloch, Variance Components (1992),
/// chapters 4 and 5: exact where the design is balanced, Henderson's method I where it is not). Intervals by the jackknife over blocks
/// of steps, for effects that outlast a step over their own units (Shao and Tu, The Jackknife and Bootstrap (1995), section 2.3), on a
/// logarithmic scale where a component is clearly above zero; never narrower than chi-squared of the effect's own draws has it.
std::vector<Component> variance_components(const ComponentModel& model);

/// Mean of y in each part.
std::vector<double> part_means(const Partition& parts, const std::vector<double>& y);

}  // namespace prismopt

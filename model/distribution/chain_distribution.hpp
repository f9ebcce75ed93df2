#pragma once

/// Distributions of whole passes: chains of kernels with barriers between them, composed once and cached.
/// docs/methods/composition-of-distributions.md.

#include "model/distribution/grid_distribution.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/network/layer_cost.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace prismopt {

/// Largest cap of the distributions of kernels and operations (Distribution::cap). With a larger cap, one
/// grid cell is at least half a mean wide, and draws become negative. Up to this cap, the mean of draws is
/// that of the distribution (tested).
inline constexpr double farthest_cap_of_ops = 1000.0;

/// Returns the typical coefficient of variation of the compute between two barriers of a part, over forward
/// and backward pass, weighted by time. Barriers with one member do not count.
double segment_cv(const LayerCost& layer_cost, const ResidualDistributions& residual,
                  const BarrierWidths& widths);

/// Composed duration mean_s * (1 + cv Z). Z has the distribution `shape`, with mean 0 and
/// deviation 1 (always 0 if cv is zero).
struct ComposedDuration {
    double mean_s = 0.0;
    double cv = 0.0;
    std::shared_ptr<const StandardDistribution> shape;
};

/// Seconds of work on tokens beyond the mean load of an expert-parallel group, and their upper limit over
/// their mean (infinity: no limit).
struct SurplusTime {
    double seconds = 0.0;
    double most = 0.0;
};

/// Composed durations of a pass.
struct ComposedPass {
    ComposedDuration compute;  // includes waiting at barriers: its mean is at least that of one member
    ComposedDuration communication;
};

/// Composes the distributions of passes over chunks:
///
///     compute       = sum over segments of max over members of (sum over the segment's kernels of seconds *
///     R) communication = sum over collectives of seconds * R
///
/// All R are independent, with the distribution of their kernel's class; collectives exposed together share
/// one draw. The factor of the whole op and the load of experts are added to compute. Persistent differences
/// between members: group_distribution.hpp.
///
/// p50 to p99.9 are within 0.02 % of exact transforms for lognormal and gamma kernels of cv 1 to 100 %
/// (tests/model/distribution/chain_distribution_test.cpp). Limit: several percent at jumps, if few
/// kernels whose distributions have atoms (a constant with a slow mode, a pool of few values) precede a
/// barrier; mean and deviation are kept.
class ChainDistributions {
public:
    /// `residual` must outlive this object. So must the costs that passes refer to, unless it forgets the
    /// passes before: costs are identified by their addresses.
    ChainDistributions(const ResidualDistributions& residual,
                       const StandardDistribution::NodeProbabilities& node_probability,
                       KernelDistribution operation = {}, ExpertImbalance imbalance = {})
        : residual_(residual), operation_(std::move(operation)), imbalance_(std::move(imbalance)),
          node_probability_(node_probability)
    {
    }

    /// Returns the composed durations of a pass; composed once per pass and widths.
    const ComposedPass& compose(const ChunkPass& pass, const BarrierWidths& widths);
    const ComposedPass& compose(const ChunkPass& pass, int width)
    {
        return compose(pass, BarrierWidths{width});
    }

    /// Returns the mean of the composed compute. Costs a fraction of the above if it varies by
    /// its kernels alone: means add up.
    double mean_compute(const ChunkPass& pass, const BarrierWidths& widths);

    /// Forgets what is known of the passes so far, whose costs need not live any longer.
    void forget_passes()
    {
        by_pass_.clear();
        passes_.clear();
        means_.clear();
    }

private:
    /// Distributions of a part repeated 1, 2, 4, ... times.
    struct PassDistributions {
        std::vector<GridDistribution> compute;
        std::vector<GridDistribution> communication;
    };

    // parts and their counts
    using PassKey = std::pair<std::vector<std::pair<const PassCost*, int>>, BarrierWidths>;

    PassDistributions& distributions_of(const PassCost& cost, const BarrierWidths& widths);
    std::vector<GridDistribution> between_barriers(const PassCost& cost, const BarrierWidths& widths) const;
    double mean_of_kernels(const PassCost& cost, const BarrierWidths& widths);
    bool varies_by_load(const PassCost& cost) const;
    GridDistribution segment(const Segment& kernels) const;
    GridDistribution messages(const std::vector<Exposed>& exposed) const;
    const KernelDistribution& distribution_of(KernelClass kind) const
    {
        return residual_[static_cast<std::size_t>(kind)];
    }
    GridDistribution with_operation(const GridDistribution& compute, double communication_s,
                                    const BarrierWidths& widths) const;
    /// Adds a random surplus to compute, with a share `correlation` of the variance of the expert imbalance.
    GridDistribution with_surplus(const GridDistribution& compute, const SurplusTime& surplus,
                                  double correlation, int members) const;
    ComposedDuration composed(const GridDistribution& sum);

    const ResidualDistributions& residual_;
    KernelDistribution operation_;
    ExpertImbalance imbalance_;
    StandardDistribution::NodeProbabilities node_probability_;
    std::vector<std::shared_ptr<const StandardDistribution>> shapes_;  // all different
    std::map<std::tuple<const PassCost*, BarrierWidths>, PassDistributions> by_pass_;
    std::map<PassKey, ComposedPass> passes_;
    // of the compute of one repetition of a part
    std::map<std::tuple<const PassCost*, BarrierWidths>, double> means_;
    // the same; kernels and barriers in order
    std::map<std::pair<std::vector<double>, BarrierWidths>, double> means_of_kernels_;
};

}  // namespace prismopt

#pragma once

/// Laws of whole passes: chains of kernels with barriers between them, composed once and kept.

#include "model/distribution/grid_law.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/network/layer_cost.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace prismopt {

/// Caps of the laws of kernels and operations (Law::cap): beyond, one cell of a grid is half a mean wide and more, and draws fall below
/// zero. Up to here the mean of draws is that of the law (a test holds it).
inline constexpr double farthest_cap_of_ops = 1000.0;

/// Typical coefficient of variation of the compute between two barriers of a part, forward and backward, weighted by time.
/// Barriers with one member are none.
double segment_cv(const PartCost& part, const ResidualLaws& residual, const BarrierWidths& widths);

/// A duration is mean_s * (1 + cv Z), Z from `shape`: a law of mean 0 and deviation 1 (of nothing but 0 where cv is zero).
struct ComposedDuration {
    double mean_s = 0.0;
    double cv = 0.0;
    std::shared_ptr<const StandardLaw> shape;
};

/// Seconds on tokens beyond the mean of an expert parallel group's members, and the most of them over their mean (infinity: no limit).
struct SurplusTime {
    double seconds = 0.0;
    double most = 0.0;
};

struct ComposedPass {
    ComposedDuration compute;  // with the waiting at barriers: its mean is at least that of one member
    ComposedDuration communication;
};

/// Composes passes over chunks:
///   compute = sum over segments of max over members of (sum over the segment's kernels of seconds * R),
///   communication = sum over collectives of seconds * R,
/// all R independent, of the law of their kernel's class. Collectives that are exposed together share one draw: seconds times the sum
/// over classes of share * quantile at that draw. Passes without a barrier are one segment. Where only some barriers are
/// wider (model/plan/coupling.hpp), the maximum there is over sums since the last of that kind; what lies between a layer's last
/// wide barrier and its end counts with the next layer's beginning. Members that differ for good
/// are not here: see group_law.hpp.
///
/// Both together then take a factor O of the whole op, one draw a replica. It is put into the computing,
///   compute' = (compute + mean communication) * O - mean communication,
/// and of replicas that meet inside ops it is the largest: together with the slowest kernels, too long by less than the smaller
/// of the two waits.
///
/// Work on tokens that the fullest member of an expert parallel group has beyond the mean (PassCost::surplus_s, and of its exchanges)
/// varies with the load of experts: a layer's is
///   surplus * (1 + sqrt(rho) (A - 1) + sqrt(1 - rho) (B - 1)),
/// A one draw an op, B one a layer, both of the law of expert imbalance, rho its correlation between layers. The members of a group wait
/// for the fullest at the exchanges, so that it is no maximum of theirs. Put into the computing as O is.
///
/// Against exact transforms p50 to p99.9 agree within 0.02 % of the duration, for lognormal and
/// gamma kernels of cv 1 to 100 %: tests/model/distribution/chain_law_test.cpp. Limit: where kernels' laws have atoms (a constant with
/// a slow mode, a pool of few values) and few of them meet before a barrier, several percent (a p50 that falls on a jump);
/// mean and deviation are kept (StandardLaw::standardise()).
class ChainLaws {
public:
    /// `residual` must outlive this, and so must the costs that passes refer to: they are known by their addresses.
    ChainLaws(const ResidualLaws& residual, const StandardLaw::NodeProbabilities& node_probability, KernelLaw operation = {},
              ExpertImbalance imbalance = {})
        : residual_(residual), operation_(std::move(operation)), imbalance_(std::move(imbalance)),
          node_probability_(node_probability)
    {
    }

    const ComposedPass& compose(const ChunkPass& pass, const BarrierWidths& widths);
    const ComposedPass& compose(const ChunkPass& pass, int width) { return compose(pass, BarrierWidths{width}); }

private:
    /// Laws of a part repeated 1, 2, 4, ... times.
    struct PartLaws {
        std::vector<GridLaw> compute;
        std::vector<GridLaw> communication;
    };

    using PassKey = std::pair<std::vector<std::pair<const PassCost*, int>>, BarrierWidths>;  // parts and how often

    PartLaws& part(const PassCost& cost, const BarrierWidths& widths);
    GridLaw waiting(const PassCost& cost, const BarrierWidths& widths) const;
    GridLaw segment(const Segment& kernels) const;
    GridLaw messages(const std::vector<Exposed>& exposed) const;
    const KernelLaw& law_of(KernelClass kind) const { return residual_[static_cast<std::size_t>(kind)]; }
    GridLaw with_operation(const GridLaw& compute, double communication_s, const BarrierWidths& widths) const;
    /// The computing with a varying surplus of its own, `correlation` of the law's variance.
    GridLaw with_surplus(const GridLaw& compute, const SurplusTime& surplus, double correlation, int members) const;
    ComposedDuration composed(const GridLaw& law);

    const ResidualLaws& residual_;
    KernelLaw operation_;
    ExpertImbalance imbalance_;
    StandardLaw::NodeProbabilities node_probability_;
    std::vector<std::shared_ptr<const StandardLaw>> shapes_;  // all different
    std::map<std::tuple<const PassCost*, BarrierWidths>, PartLaws> parts_;
    std::map<PassKey, ComposedPass> passes_;
};

}  // namespace prismopt

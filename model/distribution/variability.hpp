#pragma once

/// Variability of step times: the [variability] part of a scenario.

#include "model/distribution/distribution.hpp"
#include "model/hardware/kernel_class.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Exponents of the microbatch factor along the pipeline, from its first part to its last. A pass
/// whose time grows faster with the length of a microbatch than the mean pass (more attention) has
/// more than one. Empty: one everywhere.
struct MicrobatchExponents {
    std::vector<double> forward;
    std::vector<double> backward;

    bool none() const { return forward.empty() && backward.empty(); }
    bool operator==(const MicrobatchExponents&) const = default;
};

/// Returns the exponent of a chunk of a pipeline of `chunks` chunks: the mean of the list
/// over its share of the pipeline.
double exponent_of_chunk(const std::vector<double>& exponents, int chunk, int chunks);

/// Returns the quantile function of a distribution's factor to this power, of mean one.
Quantile power_of(const Distribution& distribution, double exponent);

/// Distributions of the factors of a duration:
///
///     d(op, gpu, step) = mean(op) * spatial(gpu) * common(step) * stage(step, stage) *
///     microbatch(step, microbatch)^exponent
///                        * operation * residual
///
/// Every factor has mean one. Spatial factors persist through a run (drawn once per fleet) and act on
/// compute. docs/methods/distributions.md.
struct Variability {
    Distribution gpu;                   // spatial: one factor per GPU
    Distribution node;                  // spatial: one factor per node (first network tier)
    Distribution site;                  // spatial: one factor for the whole fleet
    Distribution common_step;           // one draw per step, scales all of it; integrated exactly, not drawn
    Distribution common_compute;        // one draw per step, scales all compute
    Distribution common_communication;  // one draw per step, scales all communication
    Distribution stage;                 // one draw per step, replica and stage
    Distribution microbatch;            // one draw per step, replica and microbatch
    MicrobatchExponents microbatch_exponent;
    Distribution operation;  // one draw per op, shared by its kernels and the collectives inside it
    /// Factor of the load of the most loaded member of an expert-parallel group beyond the mean
    /// (ExpertsBlock::imbalance - 1), one draw per microbatch and layer, and its correlation between the
    /// layers that a microbatch passes in one op.
    Distribution expert_imbalance;
    double expert_imbalance_correlation = 1.0;
    /// Per-step factors of all traffic that crosses a tier of the network, one per tier; empty: constant.
    std::vector<Distribution> tier;
    // One draw per kernel (or blocking collective), by class; a class without a
    // distribution has that of its parent.
    std::array<std::optional<Distribution>, kernel_classes> residual;
};

/// Returns the residual distribution of the class, or of its nearest ancestor that
/// has one; constant if none has.
const Distribution& residual_distribution(const Variability& variability, KernelClass kernel);

/// Returns whether this quantile of every distribution is at least its mean. If not
/// (a very slow rare mode), a quantile of the step may lie below its mean, and a lower bound of the mean is
/// not a lower bound of the quantile.
bool quantiles_reach_means(const Variability& variability, double probability);

/// Returns the skewness of the most skewed distribution: third central moment over
/// variance^1.5; zero if nothing varies.
double largest_skewness(const Variability& variability);

/// Draws the node factors of one fleet: each the factor of the node times that of its slowest GPU.
std::vector<double> drawn_node_factors(const Variability& variability, int nodes, int gpus_per_node,
                                       std::uint64_t seed);

}  // namespace prismopt

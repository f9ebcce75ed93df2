#pragma once

/// How times vary: the PRISM part of a scenario.

#include "model/distribution/distribution.hpp"
#include "model/hardware/kernel_class.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// d(op, gpu, step) = mean(op) * spatial(gpu) * common(step) * stage(step, stage) * microbatch(step, microbatch) * operation
///                    * residual
///
/// Every law is a factor of mean one. Spatial factors persist through a run (drawn once a fleet) and act on compute.
struct Variability {
    Law gpu;                   // spatial: one factor a GPU
    Law node;                  // spatial: one factor a node (first network tier)
    Law site;                  // spatial: one factor for the whole fleet
    Law common_step;           // one draw a step, scales all of it; integrated exactly, not drawn
    Law common_compute;        // one draw a step, scales all compute
    Law common_communication;  // one draw a step, scales all communication
    Law stage;                 // one draw a step, replica and stage
    Law microbatch;            // one draw a step, replica and microbatch
    Law operation;             // one draw an op: what its kernels share; of collectives inside it too
    /// One draw a microbatch and layer: factor of what the fullest member of an expert parallel group has beyond the mean
    /// (ExpertsBlock::imbalance - 1), and its correlation between the layers that a microbatch passes in one op.
    Law expert_imbalance;
    double expert_imbalance_correlation = 1.0;
    /// Per-step factors of all traffic that crosses a tier of the network, one for each tier; empty: constant.
    std::vector<Law> tier;
    // One draw a kernel (or blocking collective), by class; a class without has that of the class it is within.
    std::array<std::optional<Law>, kernel_classes> residual;
};

/// The law of the class, or of the nearest that it is within; constant where there is none.
const Law& residual_law(const Variability& variability, KernelClass kernel);

/// Whether this quantile of every law is at least the law's mean. Where a rare mode is so slow that it is not, a step's quantile
/// may lie below its mean, and what bounds the mean does not bound it.
bool quantiles_reach_means(const Variability& variability, double probability);

/// Of the most skewed law: third central moment over variance^1.5; zero where nothing varies.
double largest_skewness(const Variability& variability);

/// One fleet's nodes, known: law of the node times the slowest of its GPUs.
std::vector<double> drawn_node_factors(const Variability& variability, int nodes, int gpus_per_node, std::uint64_t seed);

}  // namespace prismopt

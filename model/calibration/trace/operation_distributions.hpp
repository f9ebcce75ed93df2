#pragma once

/// Distributions of operations that the variance components of compute do not cover: transfers, collectives,
/// operations without a microbatch. docs/methods/calibration.md.

#include "model/calibration/fit/fit_distribution.hpp"
#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// Durations of one kind of operation.
struct Signature {
    std::string name;
    double mean_s = 0.0;
    DistributionFit fit;  // of the residual after position, worker and step; without values if there is none
    // share of a transfer's durations that include waiting for the other end; excluded (waiting.hpp)
    double waiting = 0.0;
    double spread = 0.0;    // standard deviation of log durations about their mean
    double own = 0.0;       // standard deviation of the residual
    bool in_class = false;  // included in the distribution of its class
    std::optional<KernelClass> kernel{};
};

/// Values of each class, its subtree included.
using ClassPools = std::array<std::vector<double>, kernel_classes>;

/// Adds factors to the pools of the class and of all classes that it is within.
void add_to_pools(KernelClass kernel, std::span<const double> factors, ClassPools& pools);

/// Returns whether a class has enough values for its own distribution, and whether they differ significantly
/// from its siblings' (two-sample Kolmogorov-Smirnov test at 1 %).
bool has_own_distribution(KernelClass kernel, const ClassPools& pools);

/// Distributions of operations by the model
///
///     log duration = mean of the kind at its position (worker, sequence) + effect of the step + residual
///
/// A step's effect is one draw, shared by all transfers and collectives, and by each kind of the others
/// alone; residuals are independent, and their distribution becomes the kernel class's. In a trace of one
/// step of one worker, kernels of a kind count as replicates. Kinds with less than a hundredth of the time of
/// their class are excluded from its distribution.
struct OperationDistributions {
    std::vector<Signature> signatures;
    std::vector<Component> communication;  // step, residual
    ClassPools pools;                      // residuals, as factors
    // kinds that occur once per step, excluded from their class
    std::array<std::string, kernel_classes> special;
    bool equal_positions = false;  // residuals are relative to the mean of the kind: one step of one worker
};

/// Computes the distributions from a trace sorted by start. `with_components`: skips the compute of
/// microbatches, which has variance components.
OperationDistributions operation_distributions(const Trace& trace, bool with_components);

}  // namespace prismopt

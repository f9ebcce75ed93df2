#pragma once

/// Variability of what the variance components of compute kernels leave out: transfers, collectives, operations without a microbatch.

#include "model/calibration/fit/fit_law.hpp"
#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/trace.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// All durations of one kind.
struct Signature {
    std::string name;
    double mean_s = 0.0;
    LawFit fit;             // of what is left when position, worker and step are taken out; no values: nothing is left
    double waiting = 0.0;   // part of a transfer's durations that wait for the other end: left out (waiting.hpp)
    double spread = 0.0;    // standard deviation of log durations about their mean
    double own = 0.0;       // of what is left
    bool in_class = false;  // whether the law of its class is of it too
};

/// Values of each class, its subtree included.
using ClassPools = std::array<std::vector<double>, kernel_classes>;

void add_to_pools(KernelClass kernel, std::span<const double> factors, ClassPools& pools);

/// Whether the class has enough values for a law of its own, and they differ significantly from its siblings' (two-sample
/// Kolmogorov-Smirnov test at 1 %).
bool has_own_law(KernelClass kernel, const ClassPools& pools);

/// log duration = mean of the kind at its position (worker, sequence) + effect of the step + residual. Position and worker are fixed
/// effects; a step's effect is one draw, shared by all transfers and collectives, and by each kind of the others alone; residuals are
/// independent draws, whose distribution becomes the kernel class's law. A trace of one step of one worker has each position once:
/// there, kernels of a kind are taken as replicates, and differences between positions stay in the residual.
/// Kinds with less than a hundredth of the time of their class are left out of its law.
struct OperationLaws {
    std::vector<Signature> signatures;
    std::vector<Component> communication;             // step, residual
    ClassPools pools;                                 // rests, as factors
    std::array<std::string, kernel_classes> special;  // kinds that happen once a step: they tell nothing of a class
    bool positions_alike = false;                     // rests are over the mean of the kind: one step of one worker
};

/// Of a trace sorted by start; `with_components`: computing of microbatches is told elsewhere.
OperationLaws operation_laws(const Trace& trace, bool with_components);

}  // namespace prismopt

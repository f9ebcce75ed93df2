#pragma once

/// How durations vary that are not in the components of computing: transfers, collectives, operations without a microbatch.

#include "model/calibrate/fit_law.hpp"
#include "model/calibrate/trace.hpp"
#include "model/calibrate/variance_components.hpp"

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

/// Values of each class, those of all classes within it among them.
using ClassPools = std::array<std::vector<double>, kernel_classes>;

void add_to_pools(KernelClass kernel, std::span<const double> factors, ClassPools& pools);

/// Whether there are values enough for a law of the class, which differ beyond chance (Kolmogorov and Smirnov, 1 %) from those of the
/// other classes within the same one.
bool has_own_law(KernelClass kernel, const ClassPools& pools);

/// log duration = mean of the kind at its position (worker, sequence) + effect of the step + rest. The rest is the law of a kernel: one
/// draw each. What position and worker explain is no draw, and what a step shares is one draw for all its operations.
/// One step of one worker has each position once: its kernels of a kind stand for one another, and what parts positions is in the rest.
/// Kinds with less than a hundredth of the time of their class say nothing of how long it takes, and are not in its law.
/// A class has the kinds of all classes within it.
/// The step's effect is shared by transfers and collectives, and by each kind of the others alone.
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

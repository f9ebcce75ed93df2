#pragma once

/// Calibration: fits the distributions of a scenario to the traces of a job. docs/methods/calibration.md.

#include "model/calibration/fit/drift_fit.hpp"
#include "model/calibration/fit/fit_distribution.hpp"
#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/gpus/slow_gpus.hpp"
#include "model/calibration/gpus/slow_workers.hpp"
#include "model/calibration/trace/operation_distributions.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// A fitted distribution with its key in [variability]: "gpu", "residual.p2p".
struct CalibratedDistribution {
    std::string key;
    DistributionFit fit;
};
/// Returns the key of a kernel class.
inline std::string residual_key(KernelClass kernel)
{
    std::string key = "residual.";
    return key.append(name(kernel));
}

/// Differences are not significant, but too few units were measured to call them zero.
struct FewUnits {
    std::string between;  // "stages in a step"
};
/// All operations of a class occur once per step.
struct OncePerStep {
    std::string kinds;
};
/// The trace has one duration per operation, not per kernel.
struct OperationsOnly {};
/// Benchmark runs, in which the variation of single kernels averages out.
struct RunsOnly {
    double spread = 0.0;  // of runs about the median of their GPU, relative
    std::string source;
};
/// Why a distribution was not fitted. io/words/calibration_text.hpp has the sentences.
using NotFitted = std::variant<UnknownComponent, FewUnits, OncePerStep, OperationsOnly, RunsOnly>;

/// A key without a fitted distribution: that of the scenario's profile stays.
struct LeftToProfile {
    std::string key;
    NotFitted why;
};

/// Exponent of the microbatch factor of one kind of operation on one stage, with its 95 % interval.
struct FittedExponent {
    std::string kind;
    int stage = 0;
    double exponent = 1.0;
    double low = 1.0;
    double high = 1.0;
};

/// Steps take longer at the end than at the beginning: relative change of their time.
struct TrendNote {
    double change = 0.0;
};
/// Growth of the number of long times of collectives with their members.
struct GrowthNote {
    double exponent = 0.0;
    double low = 0.0;  // 95 % interval
    double high = 0.0;
    bool measured = false;
    double members = 0.0;  // for which the distributions hold
    bool carried = false;  // to these members
};
/// A GPU whose times are implausibly short.
struct FastNote {
    std::string gpu;
    double less = 0.0;     // than the median of its peers, relative
    std::size_t more = 0;  // others
};
/// Remarks for the reader; a text is from who read the measurements.
/// io/words/calibration_text.hpp has the sentences.
using CalibrationNote = std::variant<TrendNote, SlowShare, ThrottlingGpu, GrowthNote, FastNote, std::string>;

/// Result of a calibration.
struct Calibration {
    std::string source;
    std::size_t operations = 0;         // operations used
    std::size_t recorded = 0;           // operations in steady steps
    std::vector<std::int32_t> steps;    // steps used
    std::vector<std::int32_t> warm_up;  // steps before times are steady
    std::vector<std::int32_t> others;   // steps with more or fewer operations
    std::vector<CalibratedDistribution> distributions;
    std::vector<LeftToProfile> left;
    std::vector<Component> components;        // of compute
    std::vector<Component> communication;     // of transfers and collectives
    std::vector<FittedExponent> exponents;    // of the microbatch factor; empty: all one
    MicrobatchExponents microbatch_exponent;  // the same as [variability] has them
    std::vector<Signature> signatures;
    std::vector<SlowUnit> slow;
    std::vector<SlowShare> slow_shares;
    // of the trace: named above, and excluded from everything but "gpu"; ascending
    std::vector<std::int32_t> slow_workers;
    std::vector<CalibrationNote> notes;
    DriftFit drift;
};

/// Returns whether too few of the recorded steps have the usual operations to
/// decompose the variance of compute.
bool few_steps(const Calibration& calibration);

/// Adds a distribution. Of two with the same key, keeps the one with more values; its source names the other.
void add_distribution(Calibration& calibration, const CalibratedDistribution& distribution);

/// Calibrates from a trace that is sorted by start and has no problems(). Very long traces are
/// thinned, steps last (thin_trace()).
Calibration calibrate(const Trace& trace);

/// Ascending step times composed from the distributions and the dependencies of the steps that a calibration
/// used: predicted_steps(). Empty without operations of microbatches.
std::vector<double> composed_steps(const Trace& trace, const Calibration& calibration);

}  // namespace prismopt

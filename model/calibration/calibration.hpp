#pragma once

/// What a job's traces say of how its times vary: laws for a scenario, and what they rest on.

#include "model/calibration/fit/drift_fit.hpp"
#include "model/calibration/fit/fit_law.hpp"
#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/operation_laws.hpp"
#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A law under its key of a scenario's [variability]: "gpu", "residual.p2p".
struct CalibratedLaw {
    std::string key;
    LawFit fit;
};
inline std::string residual_key(KernelClass kernel)
{
    std::string key = "residual.";
    return key.append(name(kernel));
}

/// A key without a law: the scenario's profile stays.
struct LeftToProfile {
    std::string key;
    std::string reason;
};

/// A GPU or stage that takes longer than its peers, beyond chance.
struct SlowPart {
    std::string name;
    double excess = 0.0;       // 0.1: a tenth longer
    double probability = 0.0;  // of as much by chance, after Holm's correction for the number looked at
};

struct Calibration {
    std::string source;
    std::size_t operations = 0;         // used
    std::size_t recorded = 0;           // in steady steps
    std::vector<std::int32_t> steps;    // used
    std::vector<std::int32_t> warm_up;  // steps before the times are steady
    std::vector<std::int32_t> others;   // steps with more or fewer operations
    std::vector<CalibratedLaw> laws;
    std::vector<LeftToProfile> left;
    std::vector<Component> components;     // of computing
    std::vector<Component> communication;  // of transfers and collectives
    std::vector<Signature> signatures;
    std::vector<SlowPart> slow;
    std::vector<std::string> notes;  // what a reader of the laws should know
    DriftFit drift;
};

/// Few of the recorded steps have the usual operations: nothing to tell the parts of computing by.
bool few_steps(const Calibration& calibration);

/// Adds a law; of two of one key that of more values stays, and its source says which was not taken.
void add_law(Calibration& calibration, const CalibratedLaw& law);

/// Of a trace sorted by start that has no problems. Very long traces are thinned, steps last (thin_trace).
Calibration calibrate(const Trace& trace);

}  // namespace prismopt

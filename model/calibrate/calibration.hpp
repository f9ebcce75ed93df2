#pragma once

/// What a job's traces say of how its times vary: laws for a scenario, and what they rest on.

#include "model/calibrate/drift_fit.hpp"
#include "model/calibrate/fit_law.hpp"
#include "model/calibrate/trace.hpp"
#include "model/calibrate/variance_components.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A law under its key of a scenario's [variability]: "gpu", "residual.p2p".
struct CalibratedLaw {
    std::string key;
    LawFit fit;
};

/// All durations of one kind.
struct Signature {
    std::string name;
    double mean_s = 0.0;
    LawFit fit;            // of durations over the mean of their stage
    double waiting = 0.0;  // part of a transfer's durations that wait for the other end: left out (waiting.hpp)
};

/// A GPU or stage that takes longer than its peers, beyond chance.
struct SlowPart {
    std::string name;
    double excess = 0.0;       // 0.1: a tenth longer
    double probability = 0.0;  // of as much by chance, after Holm's correction for the number looked at
};

struct Calibration {
    std::string source;
    std::size_t operations = 0;
    std::vector<std::int32_t> steps;    // used: of a long trace evenly spaced ones
    std::vector<std::int32_t> warm_up;  // steps before the times are steady
    std::vector<std::int32_t> others;   // steps with more or fewer operations
    std::vector<CalibratedLaw> laws;
    std::vector<Component> components;     // of computing
    std::vector<Component> communication;  // of transfers and collectives
    std::vector<Signature> signatures;
    std::vector<SlowPart> slow;
    std::vector<std::string> notes;  // what a reader of the laws should know
    DriftFit drift;
};

/// Of a trace sorted by start that has no problems.
Calibration calibrate(const Trace& trace);

}  // namespace prismopt

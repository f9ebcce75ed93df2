#pragma once

/// A plan of a study that was run.

#include <cstdint>

namespace prismopt {

/// What was measured of a plan of a study.
struct MeasuredPlan {
    std::uint64_t index = 0;
    double step_s = 0.0;        // mean; 0: not measured
    double deviation = 0.0;     // relative, of that mean; at least that of repeated runs counts
    double variation = 0.0;     // coefficient of variation of the steps; 0: not measured
    int steps = 0;              // that were measured
    double memory_bytes = 0.0;  // peak of a GPU; 0: not measured
    bool out_of_memory = false;
};

/// A measured plan beside its prediction.
struct MeasuredAndPredicted {
    MeasuredPlan measured;
    double predicted_s = 0.0;            // mean step
    double memory_share = 0.0;           // predicted, of the accelerator's
    double measured_memory_share = 0.0;  // NaN if not measured
    // of the step, in standard deviations, to all the other measurements; NaN if not measured
    double surprise = 0.0;
    // of the step, to the model's interval before anything was measured; NaN if not measured
    double prior_surprise = 0.0;
    // of the peak or of running out of memory, in standard deviations, to what was known before; else NaN
    double memory_surprise = 0.0;
    // range of the coefficient of variation of as many steps that the scenario's variability predicts
    double variation_low = 0.0;
    double variation_high = 0.0;
    bool contradictory = false;  // of the posterior, because it contradicts the other measurements
    // It contradicts them, but a second row confirms it: used for its own plan only.
    bool own_plan_only = false;
};

}  // namespace prismopt

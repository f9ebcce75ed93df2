#pragma once

/// Whether this build predicts the step times that a results file has.

#include "io/results/results.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/study/study_model.hpp"

namespace prismopt {

/// Refuses results whose step times this build does not predict, so that no value mixes or compares both:
/// those of another version or catalog, unless their predictions agree. Compares the noise-free steps of all
/// plans of the front, and the mean step of the first plan at the draws that confirmed it. `pause` is called
/// for each plan; its exceptions pass through. Throws InputError.
void refuse_other_predictions(
    const StudyModel& model, const Results& results, const Pause& pause = [] {});

}  // namespace prismopt

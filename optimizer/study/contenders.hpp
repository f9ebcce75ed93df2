#pragma once

/// Plans of a study that may be the best.

#include "io/results/results.hpp"
#include "optimizer/study/plan_facts.hpp"
#include "optimizer/study/study_model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// A plan near (near_best) the best of its number of GPUs in some objective.
struct Contender {
    std::uint64_t index = 0;
    int gpus = 0;
    bool on_front = false;
    // its objectives are from draws; otherwise estimates without noise, times how
    // far drawn plans are above theirs
    bool drawn = false;
    std::vector<double> values;  // [objective]: predicted
    double memory_share = 0.0;   // of the accelerator's memory, by its fullest GPU
    std::size_t variant = 0;     // of the hardware
};

/// Returns, by number of GPUs and objective that follows the step time, at most 1,000 plans near the best,
/// in index order. What was not drawn is judged by its estimate without noise, times how far
/// the drawn plans are above theirs.
std::vector<Contender> contenders_of(const StudyModel& model, const Results& results, const FindFacts& find);

}  // namespace prismopt

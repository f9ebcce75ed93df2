#pragma once

/// Sampling error of quantiles of the training time, by the jackknife. docs/methods/training-time.md.

#include "model/base/jackknife.hpp"
#include "model/plan/phase.hpp"
#include "model/step/sample/sampler.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace prismopt {

/// A run as drawn: what its training times were computed from, and what they are. All arrays belong to the
/// caller, and must outlive it.
struct DrawnRun {
    std::span<const Phase> phases;
    std::span<const std::vector<double>> draws;  // [phase][fleet * steps + k]
    int steps = 0;                               // per fleet
    std::span<const double> productive;          // [fleet], before drift and failures
    std::span<const double> training;            // [fleet]
};

/// Returns the training times of the fleets of all sections but one. The correction for few
/// steps is made without that section; each fleet keeps its drift and its history, which are as
/// many times its productive time.
std::vector<double> training_without_section(const DrawnRun& run, const Sections& of_fleets,
                                             std::size_t excluded);

/// Smooth quantiles of so many fleets and of all but those of one section.
struct SmoothTrainingQuantiles {
    Sections sections;
    SmoothQuantiles all;
    SmoothQuantiles others;

    SmoothTrainingQuantiles(std::size_t fleets, std::span<const double> probabilities)
        : sections(sections_of(fleets, {1, block_fleets})), all(fleets, probabilities),
          others(fleets - sections.size, probabilities)
    {
    }
};

/// Computes sampling errors of quantiles, and keeps the weights of their order statistics for the next plan.
class TrainingQuantileErrors {
public:
    explicit TrainingQuantileErrors(std::vector<double> probabilities)
        : probabilities_(std::move(probabilities))
    {
    }

    /// Returns half the width of the reported interval of each quantile, [probability], in seconds: Student's
    /// t limits of the jackknife over sections of whole blocks. Empty with too few blocks.
    std::vector<double> operator()(const DrawnRun& run, const Confidence& confidence);

private:
    std::vector<double> probabilities_;
    std::map<std::size_t, SmoothTrainingQuantiles> smooth_;  // by fleets
};

}  // namespace prismopt

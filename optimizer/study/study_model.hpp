#pragma once

/// What all ranks of a study evaluate points with.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/space/design_map.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

/// Tables for every plan of the scenario's space.
NoiseTables tables_of(const Scenario& scenario);
/// Tables for some plans, in all phases.
NoiseTables tables_of(const Scenario& scenario, const std::vector<ParallelPlan>& plans);

/// Input of the evaluation of points; identical on all ranks. The scenario must outlive it.
struct StudyModel {
    explicit StudyModel(const Scenario& of) : StudyModel(of, tables_of(of)) {}
    /// `tables`: from tables_of() on another rank, so that all ranks have the same bits.
    StudyModel(const Scenario& of, NoiseTables tables);

    const Scenario& scenario;
    Problem problem;
    DesignMap designs;
    std::vector<const Objective*> objectives;
    std::vector<bool> bounded;  // [objective]: has a lower bound that is valid under the distributions of the scenario
    double skewness = 0.0;      // of its most skewed distribution
    std::optional<std::size_t> near_objective;  // the first with a bound that follows the step

    /// Plans of one region are alternatives to each other: those on the same number of GPUs.
    static std::uint64_t region(const ParallelPlan& plan) { return static_cast<std::uint64_t>(plan.gpus()); }

    /// [objective]: minus infinity without a valid lower bound.
    std::vector<double> bounds_of(const NoiseFree& bound) const;
    SamplerOptions sampler(const DrawSource& source) const;
    /// Objectives from a prediction.
    std::vector<Estimate> values(const Prediction& prediction) const;
    /// Confidence level of this job: the parts of a space share the error probability of the study.
    double confidence() const { return 1.0 - (1.0 - scenario.search.confidence) / scenario.search.parts; }
};

}  // namespace prismopt

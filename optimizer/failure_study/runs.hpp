#pragma once

/// Runs of the failure study: one plan on several numbers of GPUs, with every checkpoint interval and number of spares.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/study/evaluator.hpp"

#include <map>
#include <optional>

namespace prismopt {

class FailureStudy {
public:
    /// The scenario's axes other than gpus, checkpoint_interval and spares must have one choice each. Throws InputError
    /// otherwise.
    explicit FailureStudy(const Scenario& scenario);

    /// Interval zero and spares as_configured: as in [reliability]. Nothing if the run is infeasible.
    std::optional<Prediction> run(int gpus, Seconds interval, int spares);
    /// The run with other failures.
    std::optional<Prediction> run(int gpus, const Reliability& reliability);

private:
    const PhaseDraws& draws(const ParallelPlan& plan);
    std::optional<Prediction> judge(Predictor& predictor, const ParallelPlan& plan);
    ParallelPlan plan(int gpus) const;

    const Scenario& scenario_;
    StudyModel model_;
    Predictor predictor_;
    std::map<int, PhaseDraws> draws_;  // [GPUs]: steps do not depend on failures
};

}  // namespace prismopt

#pragma once

/// The runs that the failure study compares: one plan on several numbers of GPUs, with every interval and number of spares.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/study/evaluator.hpp"

#include <map>
#include <optional>

namespace prismopt {

class FailureStudy {
public:
    /// The scenario's axes other than gpus, checkpoint_interval and spares must have one choice each. Throws InputError otherwise.
    explicit FailureStudy(const Scenario& scenario);

    /// Interval zero: as [reliability] says. Spares as_configured: same. Nothing where the run cannot work.
    std::optional<Prediction> run(int gpus, Seconds interval, int spares);
    /// The same with other failures.
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

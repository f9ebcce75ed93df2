#pragma once

/// Two plans compared: the ratio of their expectations and its error, and which is the faster in one run.

#include "io/compare/compare.hpp"
#include "io/compare/pairs.hpp"
#include "optimizer/accuracy/pair_error.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/predict.hpp"

#include <memory>
#include <vector>

namespace prismopt {

/// Distribution of log(actual / predicted) of the ratio of the second plan's step time to the first's, on the
/// same or on another machine. Nothing that the scenarios have learned narrows it. Throws InfeasiblePlan.
PairError pair_error(const ChosenPlan& first, const ChosenPlan& second);

/// Their mean training times, from predictions of these plans.
ComparedPair compared_plans(const ChosenPlan& first, const PlanPrediction& of_first, const ChosenPlan& second,
                            const PlanPrediction& of_second);

/// The same for many plans: what errors of pairs come from is read once, and
/// predictors have their plans compiled.
class PlanPairs {
public:
    PlanPairs();

    /// Throws InfeasiblePlan, unless memory is all that a plan lacks.
    ComparedPair compared(const PlanPredictor& first, const PlanPrediction& of_first,
                          const PlanPredictor& second, const PlanPrediction& of_second) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Whether the study chooses from several [[cluster]]s.
bool pairs_machines(const Results& results);

/// The best plan of each study against that of the first, in each objective that is proportional to the step
/// time, and the answers to their questions; then those of the machines of studies with several
/// [[cluster]]s, against the best machine. Studies of other jobs than the first's, and those that this
/// version cannot read, are omitted.
std::vector<ComparedPair> compared_pairs(const std::vector<NamedResults>& studies);

}  // namespace prismopt

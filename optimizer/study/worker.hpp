#pragma once

/// Computation of the work items of a study on one rank.

#include "model/base/parallel.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/plan_facts.hpp"
#include "optimizer/study/study_front.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/strategy.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace prismopt {

/// Has predictors of its own. The model must outlive it.
class Worker {
public:
    /// Calls `pause` within long items; its exceptions pass through.
    explicit Worker(
        const StudyModel& model, Pause pause = [] {})
        : model_(model), benches_(model.scenario, model.problem), pause_(std::move(pause))
    {
    }
    Message operator()(const Message& bytes);

    /// Lower bounds of the feasible points in a range, and the reasons why the others are infeasible.
    Sweep sweep(const SweepRange& range);
    /// The same for a range without limits, with all feasible points counted: those that the limits of the
    /// study exclude are excluded ones.
    Sweep bound_all(const SweepRange& range);
    /// The same counts, without the bounds.
    Sweep count(const SweepRange& range);
    /// Draws by point, in the order of the block.
    std::vector<PhaseDraws> draw(const DrawBlock& block);
    /// The estimates of a plan from all of its draws; those of scouts without the rest of the prediction.
    FullAnswer judge(const Judgement& judgement);
    std::vector<PlanFacts> facts(const FactsRequest& request);

private:
    FrontDetails& details();

    const StudyModel& model_;
    HardwareBenches benches_;
    std::shared_ptr<FrontDetails> details_;  // once they are asked for
    std::shared_ptr<PlanFactsMaker> facts_;  // same
    Pause pause_;
};

}  // namespace prismopt

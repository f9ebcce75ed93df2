#include "optimizer/failure_study/runs.hpp"

#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace prismopt {

FailureStudy::FailureStudy(const Scenario& scenario) : scenario_(scenario), model_(scenario), predictor_(model_.problem)
{
    ParallelPlan any;
    for_axes(any, scenario.space, [&](std::string_view axis, auto&, const auto& values) {
        if (values.size() > 1 && axis != "checkpoint_interval" && axis != "spares") {
            throw InputError(fmt::format("{}: [space] {} has {} choices; the failure study compares one plan, so keep one choice",
                                         scenario.path, axis, values.size()));
        }
    });
    for (const int gpus : scenario.space.gpus) {
        const ParallelPlan at = plan(gpus);
        auto problem = structural_problem(at, scenario.phases, scenario.workload, scenario.cluster);
        if (!problem) {
            const auto bound = predictor_.bound(at);
            const auto* refusal = std::get_if<Infeasible>(&bound);
            problem = refusal == nullptr ? std::nullopt : std::optional(*refusal);
        }
        if (problem) {
            throw InputError(fmt::format("{}: {} GPUs: {}; change the plan in [space]", scenario.path, gpus, problem->text()));
        }
    }
}

ParallelPlan FailureStudy::plan(int gpus) const
{
    ParallelPlan plan = parse_design(fmt::format("gpus={}", gpus), scenario_);
    plan.checkpoint_interval = Seconds{};
    plan.spares = as_configured;
    return plan;
}

const PhaseDraws& FailureStudy::draws(const ParallelPlan& plan)
{
    const auto found = draws_.find(plan.gpus());
    if (found != draws_.end()) {
        return found->second;
    }
    const Rung& rung = scenario_.search.confirm;
    auto made = predictor_.sample(plan, {0, rung.fleets, rung.steps}, model_.sampler(Purpose::confirm));
    return draws_.emplace(plan.gpus(), std::move(made)).first->second;
}

std::optional<Prediction> FailureStudy::judge(Predictor& predictor, const ParallelPlan& plan)
{
    if (std::holds_alternative<Infeasible>(predictor.bound(plan))) {
        return std::nullopt;
    }
    const SamplerOptions sampler = model_.sampler(Purpose::confirm);
    return predictor.summarise(plan, draws(plan), scenario_.search.confirm.steps, sampler, Confidence{});
}

std::optional<Prediction> FailureStudy::run(int gpus, Seconds interval, int spares)
{
    ParallelPlan at = plan(gpus);
    at.checkpoint_interval = interval;
    at.spares = spares;
    return judge(predictor_, at);
}

std::optional<Prediction> FailureStudy::run(int gpus, const Reliability& reliability)
{
    Problem changed = model_.problem;
    changed.reliability = reliability;
    Predictor predictor(changed);
    return judge(predictor, plan(gpus));
}

}  // namespace prismopt

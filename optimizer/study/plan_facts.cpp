#include "optimizer/study/plan_facts.hpp"

#include "model/step/graph/mean_step.hpp"

#include <limits>
#include <memory>
#include <variant>

namespace prismopt {

std::vector<PlanFacts> PlanFactsMaker::operator()(const FactsRequest& request)
{
    std::vector<PlanFacts> facts;
    for (const std::uint64_t index : request.points) {
        pause_();
        const Point point = model_.designs.space().point(index);
        facts.push_back(request.kind == FactsRequest::Kind::estimates ? estimates_of(point)
                                                                      : gradients_of(point));
    }
    return facts;
}

PlanFacts PlanFactsMaker::estimates_of(const Point& point)
{
    const std::size_t variant = model_.designs.variant(point);
    Predictor& predictor = bench_.of(variant);
    const auto compiled = predictor.compile(model_.designs.plan(point), CompileFor::noise_free_step);
    const auto* run = std::get_if<CompiledRun>(&compiled);
    if (run == nullptr || predictor.problem_of_run(*run)) {
        return {.memory_share = std::numeric_limits<double>::infinity()};
    }
    constexpr int fleets = 256;  // histories of failures, whose 99th percentile then has a value
    constexpr int steps = 2;
    PhaseDraws draws;
    for (const CompiledPlan& phase : run->phases) {
        draws.emplace_back(fleets * steps, noise_free_step(phase.graph).step_s);
    }
    const Prediction prediction =
        predictor.summarise(*run, draws, steps, model_.sampler({Purpose::search}), Confidence{});
    PlanFacts facts;
    for (const Estimate& value : model_.values(prediction)) {
        facts.estimates.push_back(value.value);
    }
    facts.memory_share = prediction.memory.total() / bench_.problem(variant).cluster.accelerator.memory;
    return facts;
}

PlanFacts PlanFactsMaker::gradients_of(const Point& point)
{
    const std::size_t variant = model_.designs.variant(point);
    const ParallelPlan first = plan_in_phase(model_.designs.plan(point), gradients_.phase(variant));
    return {.gradient = gradients_.of(variant).of(first),
            .shift = gradients_.shift(variant, first),
            .by_software = gradients_.by_software(variant, first)};
}

FindFacts facts_by_own_work(const StudyModel& model, const Pause& pause)
{
    const auto maker = std::make_shared<PlanFactsMaker>(model, pause);
    return [maker](const FactsRequest& request) { return (*maker)(request); };
}

}  // namespace prismopt

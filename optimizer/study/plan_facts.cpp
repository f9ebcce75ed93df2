#include "optimizer/study/plan_facts.hpp"

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
        facts.push_back(request.kind == FactsRequest::Kind::bounds ? bounds_of(point) : gradients_of(point));
    }
    return facts;
}

PlanFacts PlanFactsMaker::bounds_of(const Point& point)
{
    const std::size_t variant = model_.designs.variant(point);
    const auto bound = bench_.of(variant).bound(model_.designs.plan(point));
    const auto* plan = std::get_if<NoiseFree>(&bound);
    if (plan == nullptr) {
        return {.memory_share = std::numeric_limits<double>::infinity()};
    }
    return {.bounds = model_.bounds_of(*plan),
            .memory_share = plan->memory_bytes / bench_.problem(variant).cluster.accelerator.memory.si};
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

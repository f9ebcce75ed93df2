#include "optimizer/preview/example_plan.hpp"

#include "io/scenario/variants.hpp"
#include "optimizer/preview/space_estimate.hpp"
#include "optimizer/preview/unmet_question.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/space/spread_ranges.hpp"
#include "optimizer/study/worker.hpp"

namespace prismopt {

namespace {

/// Of the plans that may meet the question.
std::optional<ExamplePlan> best_plan(const Scenario& scenario, const Pause& pause)
{
    constexpr std::uint64_t most_looked_at = 1'000'000;  // a second or so
    const StudyModel model(scenario);
    Worker worker(model, pause);
    std::optional<Bound> best;
    const auto consider = [&best](const Bound& bound) {
        if (!best || bound.objectives.front() < best->objectives.front()) {
            best = bound;
        }
    };
    for (const SweepRange& range : spread_ranges(model.designs.space().size(), most_looked_at)) {
        for (const Bound& bound : worker.sweep(range).feasible) {
            consider(bound);
        }
    }
    if (!best && model.designs.space().size() > most_looked_at) {
        for (const SpaceEstimate::Plan& plan : estimate_space(model, pause).plans) {
            consider(plan.bound);
        }
    }
    if (!best) {
        return std::nullopt;
    }
    const Point point = model.designs.space().point(best->index);
    return ExamplePlan{model.designs.plan(point),
                       scenario.choices.empty() ? "" : model.designs.variant_words(point)};
}

}  // namespace

std::optional<ExamplePlan> example_plan(const Scenario& scenario, const Pause& pause)
{
    std::optional<ExamplePlan> best = best_plan(scenario, pause);
    return best || !scenario.question ? best : best_plan(without_question(scenario), pause);
}

std::string example_design(const Scenario& scenario)
{
    const std::optional<ExamplePlan> found = example_plan(scenario);
    if (!found) {
        return {};
    }
    const std::string design = design_text(found->plan, scenario.space);
    return found->variant.empty() ? design : found->variant + " " + design;
}

}  // namespace prismopt

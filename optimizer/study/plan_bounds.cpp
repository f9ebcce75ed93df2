#include "optimizer/study/plan_bounds.hpp"

#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"

namespace prismopt {

namespace {

/// Sizes of the plan's groups that synchronise in each layer, as far as there are no tables for them.
std::vector<int> groups_without_tables(const ParallelPlan& plan, const Scenario& scenario,
                                       const NoiseTables& tables)
{
    std::vector<int> sizes;
    for (const Phase& phase : scenario.phases) {
        const ParallelPlan here = plan_in_phase(plan, phase);
        const int size = here.tp * here.cp;
        if (!tables.group.contains(size)) {
            sizes.push_back(size);
        }
    }
    return sizes;
}

}  // namespace

NoiseTables tables_for(const ParallelPlan& plan, const Scenario& scenario, const NoiseTables& of_space)
{
    return groups_without_tables(plan, scenario, of_space).empty() ? of_space : tables_of(scenario, {plan});
}

class PlanBounds::OfVariant {
public:
    OfVariant(const Scenario& scenario, NoiseTables tables)
        : scenario_(scenario), model_(scenario_, std::move(tables)), predictor_(model_.problem)
    {
    }

    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan)
    {
        if (auto why = structural_problem(plan, scenario_)) {
            return *why;
        }
        return predictor_.bound(plan);
    }

private:
    const Scenario scenario_;
    const StudyModel model_;
    Predictor predictor_;
};

PlanBounds::PlanBounds(const NoiseTables& tables) : tables_(tables) {}
PlanBounds::~PlanBounds() = default;

std::variant<NoiseFree, Infeasible> PlanBounds::bound(const ParallelPlan& plan, const Scenario& scenario,
                                                      const std::string& variant)
{
    auto& known = variants_[{variant, groups_without_tables(plan, scenario, tables_)}];
    if (!known) {
        known = std::make_unique<OfVariant>(scenario, tables_for(plan, scenario, tables_));
    }
    return known->bound(plan);
}

}  // namespace prismopt

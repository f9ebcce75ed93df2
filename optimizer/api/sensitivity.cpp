#include "optimizer/api/sensitivity.hpp"

#include "io/base/input_error.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/study/study_model.hpp"

namespace prismopt {

std::variant<Sensitivity, Infeasible> sensitivity_of(const ChosenPlan& chosen, const SensitivityOptions& options)
{
    const Scenario& scenario = chosen.scenario;
    if (auto why = structural_problem(chosen.plan, scenario)) {
        return *why;
    }
    const StudyModel model(scenario, tables_of(scenario, {chosen.plan}));
    const auto bound = Predictor(model.problem).bound(chosen.plan);
    if (const auto* why = std::get_if<Infeasible>(&bound)) {
        return *why;
    }
    Sensitivity found = sensitivity(scenario, model.problem, chosen.plan, options, model.sampler({Purpose::confirm}));
    if (found.effects.empty()) {
        throw InputError("--only selects nothing that varies or can be changed in this scenario; omit it to see all effects");
    }
    return found;
}

}  // namespace prismopt

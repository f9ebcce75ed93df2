#include "optimizer/api/sensitivity.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

constexpr int least_sensitivity_draws = 128;  // two steps for each fleet of a block
constexpr int most_sensitivity_draws = 10'000'000;
constexpr double most_percent = 1000.0;
constexpr int most_pairs = 10;

void refuse_wrong(const SensitivityOptions& options, const Scenario& scenario)
{
    if (!(options.percent > 0.0 && options.percent <= most_percent)) {
        throw InputError(fmt::format(
            "--faster {:g} is not a percentage above 0 and at most {:g}; write for example --faster 10",
            options.percent, most_percent));
    }
    if (options.pairs < 0 || options.pairs > most_pairs) {
        throw InputError(fmt::format("--pairs {} is not between 0 and {}; write for example --pairs 3",
                                     options.pairs, most_pairs));
    }
    const std::vector<std::string> known = sensitivity_names(scenario);
    for (const std::string& name : options.only) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw InputError(
                fmt::format("--only {} is not a kernel class, noise source or hardware parameter of this "
                            "scenario{}; choose from {}",
                            name, guess_of(name, known), listed(known)));
        }
    }
}

}  // namespace

SensitivityOptions with_draws(SensitivityOptions options, int draws)
{
    if (draws < least_sensitivity_draws || draws > most_sensitivity_draws) {
        throw InputError(fmt::format("--draws {} is not between {} and {}; write for example --draws 4096",
                                     draws, least_sensitivity_draws, most_sensitivity_draws));
    }
    options.fleets = fleets_for(draws, options.steps);
    return options;
}

std::variant<Sensitivity, Infeasible> sensitivity_of(const ChosenPlan& chosen,
                                                     const SensitivityOptions& options, const Pause& pause)
{
    const Scenario& scenario = chosen.scenario;
    refuse_wrong(options, scenario);
    if (auto why = structural_problem(chosen.plan, scenario)) {
        return *why;
    }
    const StudyModel model(scenario, tables_of(scenario, {chosen.plan}));
    const auto bound = Predictor(model.problem).bound(chosen.plan);
    if (const auto* why = std::get_if<Infeasible>(&bound)) {
        return *why;
    }
    Sensitivity found =
        sensitivity(scenario, model.problem, chosen.plan, options, model.sampler({Purpose::confirm}), pause);
    if (found.effects.empty()) {
        throw InputError(
            "--only selects nothing that varies or can be changed in this scenario; omit it to see all "
            "effects");
    }
    return found;
}

}  // namespace prismopt

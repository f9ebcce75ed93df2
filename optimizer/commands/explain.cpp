#include "optimizer/api/explain.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/commands/chosen_job.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/scenario_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace po = boost::program_options;

namespace {

int exit_of(const Explanation& of)
{
    return of.prediction.prediction.infeasible ? exit_infeasible : exit_done;
}

/// Neither a plan nor the files of a job, which have one.
bool lacks_a_plan(const po::variables_map& values, const ChosenJob& job)
{
    return values.count("point") == 0 && values["design"].as<std::string>().empty() && !job.job;
}

/// Of a scenario without --design whose default plan has an infeasible structure: a plan of its space.
Explanation explained(const ChosenPlan& chosen, bool changes, bool any_plan)
{
    Explanation of = explain(chosen, changes);
    const std::string example = of.stages.empty() && any_plan ? example_design(chosen.scenario) : "";
    if (example.empty()) {
        return of;
    }
    log_warning(
        fmt::format("without --design: the default plan is infeasible ({}), so this is the plan of [space] "
                    "with the best noise-free {}; "
                    "--design \"...\" names another",
                    of.prediction.prediction.infeasible->category(), chosen.scenario.objectives.front()));
    return explain(plan_with(chosen.scenario, example), changes);
}

int print_against(const ChosenPlan& first, const std::string& words, bool json)
{
    if (words.find_first_not_of(' ') == std::string::npos) {
        throw InputError(
            "--against is empty; give the values that differ, for example --against \"tp=4 recompute=full\"");
    }
    const Versus versus = explain_against(first, changed_plan(first, words));
    fmt::print("{}", json ? versus_json(versus) : versus_text(versus));
    return std::max(exit_of(versus.first), exit_of(versus.second));
}

}  // namespace

int explain_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_plan_options(options);
    options.add_options()(
        "against", po::value<std::string>()->value_name("PLAN"),
        "explain why this plan takes more or less time and memory instead: values of axes that differ, "
        "\"tp=4 recompute=full\"")("no-changes", po::bool_switch(),
                                   "do not look for changes that make the plan fit or faster")(
        "json", po::bool_switch(), "print one JSON object instead of text");
    add_job_options(options);
    const auto values = parse_options("explain", options, {"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const bool json = (*values)["json"].as<bool>();
    const ChosenJob job = chosen_job(*values);
    if (lacks_a_plan(*values, job)) {
        log_warning(
            "no plan is named, so this is the default one of [space]; name yours with --design \"...\"");
    }
    log_notes(job.chosen.scenario);
    if (values->count("against") > 0) {
        return print_against(job.chosen, (*values)["against"].as<std::string>(), json);
    }
    const Explanation of =
        explained(job.chosen, !(*values)["no-changes"].as<bool>(), lacks_a_plan(*values, job));
    fmt::print("{}", json ? explanation_json(of) : explanation_text(of));
    return exit_of(of);
}

}  // namespace prismopt

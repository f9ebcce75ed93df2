#include "optimizer/api/sensitivity.hpp"
#include "io/base/input_error.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/toml/nearest.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/program/scenario_log.hpp"
#include "optimizer/sensitivity/effects_text.hpp"
#include "optimizer/sensitivity/worth_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <variant>

namespace prismopt {

namespace po = boost::program_options;

namespace {

std::vector<std::string> names_in(const std::string& text)
{
    std::vector<std::string> names;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        names.push_back(word);
    }
    return names;
}

[[noreturn]] void refuse_plan(const Infeasible& why, const po::variables_map& values,
                              const Scenario& scenario)
{
    const bool of_point = values.count("point") > 0;
    const bool unnamed = !of_point && values["design"].as<std::string>().empty();
    std::string_view named = of_point ? "--point:" : "--design:";
    std::string remedy = "change the plan";
    if (unnamed) {
        named = "without --design,";
        if (const std::string example = example_design(scenario); !example.empty()) {
            remedy = fmt::format("write for example --design \"{}\"", example);
        }
    }
    throw InfeasiblePlan(why, fmt::format("{} the plan is infeasible: {}; {}", named, infeasible_text(why),
                                          remedy));
}

std::string figure_name(const std::string& name)
{
    const std::vector<std::string> known{"tornado", "break-even"};
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw InputError(fmt::format("--figure {} is not a figure{}; choose from {}", name,
                                     guess_of(name, known), listed(known)));
    }
    return name;
}

SensitivityOptions options_of(const po::variables_map& values)
{
    SensitivityOptions options;
    options.percent = values["faster"].as<double>();
    options.pairs = values["pairs"].as<int>();
    options.only = names_in(values["only"].as<std::string>());
    return with_draws(options, values["draws"].as<int>());
}

}  // namespace

int sensitivity_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_plan_options(options);
    options.add_options()("draws", po::value<int>()->value_name("N")->default_value(4096),
                          "number of step draws")(
        "faster", po::value<double>()->value_name("PERCENT")->default_value(10.0),
        "percentage by which kernels and hardware are made faster; latencies are divided by 1 + PERCENT/100")(
        "pairs", po::value<int>()->value_name("K")->default_value(3),
        "also change pairs: among the K strongest noise sources, and among the K strongest kernels and "
        "hardware parameters; 0: "
        "none")("only", po::value<std::string>()->value_name("NAMES")->default_value("", "all"),
                "only these kernel classes, noise sources and hardware parameters, for example "
                "gemm,gpu,node.bandwidth")("json", po::bool_switch(),
                                           "print one JSON object instead of text")(
        "svg", po::value<std::string>()->value_name("FILE"), "write the figure")(
        "figure", po::value<std::string>()->value_name("NAME")->default_value("tornado"),
        "figure of --svg: tornado (changes in p99), or break-even (worth of each [[knob]] over its values)")(
        "csv", po::value<std::string>()->value_name("FILE"), "write the break-evens as CSV");
    add_seed_option(options);
    const auto values = parse_options("sensitivity", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto& path = (*values)["SCENARIO"].as<std::string>();
    ChosenPlan asked = chosen_plan(*values);
    Scenario& scenario = asked.scenario;
    set_seed(*values, scenario);
    const SensitivityOptions chosen = options_of(*values);
    const std::string figure = figure_name((*values)["figure"].as<std::string>());
    const auto effects = sensitivity_of(asked, chosen);
    if (const auto* why = std::get_if<Infeasible>(&effects)) {
        refuse_plan(*why, *values, scenario);
    }
    const auto& found = std::get<Sensitivity>(effects);
    const SensitivityOf of{scenario, asked.plan, chosen};
    if (values->count("svg") > 0) {
        const std::string drawing = figure == "tornado" ? sensitivity_svg(found, of) : worth_svg(found.worth);
        write_output("svg", (*values)["svg"].as<std::string>(), drawing, {path});
    }
    if (values->count("csv") > 0) {
        write_output("csv", (*values)["csv"].as<std::string>(), worth_csv(found.worth), {path});
    }
    log_notes(scenario);
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", sensitivity_json(found, of).dump(2));
    } else {
        fmt::print("{}", sensitivity_text(found, of));
    }
    return exit_done;
}

}  // namespace prismopt

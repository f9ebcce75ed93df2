#include "io/base/input_error.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/commands/plan_shortlist.hpp"
#include "optimizer/study/measured_table.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

int learn_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()(
        "measured", po::value<std::string>()->value_name("CSV"),
        fmt::format("measured plans of the study; columns: {}", measured_columns_text).c_str());
    options.add_options()("out,o", po::value<std::string>()->value_name("FILE"),
                          "write the update to FILE (TOML); later studies read it with learned in [cluster]");
    options.add_options()("accept", po::bool_switch(),
                          "learn from measurements that the model's intervals do not allow, too");
    add_shortlist_options(options);
    options.add_options()("json", po::bool_switch(),
                          "print one JSON object instead of text (results/README.md lists the keys)");
    const auto values = parse_options("learn", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    if (values->count("measured") == 0) {
        throw InputError(
            fmt::format("prismopt learn needs --measured CSV with the columns {}", measured_columns_text));
    }
    const std::string file = (*values)["RESULTS"].as<std::string>();
    const std::string measured = (*values)["measured"].as<std::string>();
    const Results results = open_results_of_one_job(file);
    const auto implausible = (*values)["accept"].as<bool>() ? Implausible::accepted : Implausible::refused;
    PlanChoice plans(results, measured, implausible);
    const Shortlists all = plans.shortlists(shortlist_request(*values));
    const WhatWasLearned learned = plans.learned();
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", shortlist_json(all, &learned));
    } else {
        fmt::print("{}{}\n{}", measured_text(learned), shortlist_text(all), verdict_text(all));
    }
    if (values->count("out") > 0) {
        write_output("out", (*values)["out"].as<std::string>(), plans.overlay(file), {file, measured});
    }
    return exit_done;
}

}  // namespace prismopt

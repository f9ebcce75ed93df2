#include "io/base/input_error.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/report/outcome_text.hpp"
#include "io/report/report.hpp"
#include "io/results/merge_results.hpp"
#include "io/results/results_file.hpp"
#include "io/results/stored_scenario.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/stored_study.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace prismopt {

namespace po = boost::program_options;

int merge_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("out,o", po::value<std::string>()->value_name("FILE"), "merged results file")(
        "part", po::value<std::vector<std::string>>()->multitoken()->value_name("FILE..."),
        "results files of the parts, at least two")(
        "partial", po::bool_switch(),
        "merge even if parts are missing or were stopped; the result is marked incomplete")(
        "force", po::bool_switch(), "overwrite existing results");
    const auto values = parse_options("merge", options, "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    if (values->count("out") == 0 || values->count("part") == 0 ||
        (*values)["part"].as<std::vector<std::string>>().size() < 2) {
        throw InputError(
            "prismopt merge needs --out FILE and --part with at least two results files; see prismopt merge "
            "--help");
    }
    const std::string out = (*values)["out"].as<std::string>();
    refuse_input_as_output({"out", out}, (*values)["part"].as<std::vector<std::string>>());
    if (!(*values)["force"].as<bool>() && std::filesystem::exists(out)) {
        throw InputError(fmt::format(
            "{} already exists; name another file with --out, or overwrite it with --force", out));
    }
    std::vector<Results> one_each;
    for (const std::string& path : (*values)["part"].as<std::vector<std::string>>()) {
        one_each.push_back(open_results_of_one_job(path));
    }
    Results merged =
        merge_results(one_each, (*values)["partial"].as<bool>() ? Missing::marked : Missing::refused);
    merged.study.command_line = call.command_line;
    merged.study.outcome_text = merged_text(merged);
    merged.may_not_fit.outcome = merged_may_not_fit_text(merged.may_not_fit);
    if (merged.study.outcome.proved && merged.feasible == 0) {
        Archive archive;
        Sweep whole;
        whole.rejected = merged.rejected;
        archive.add(std::vector<Answer>{whole});
        refuse_infeasible(scenario_of(merged.study), archive);
    }
    if (!merged.provisional) {
        add_posterior(StoredStudy(merged).model(), merged);
    }
    write_results(merged, out);
    fmt::print("{}\nresults: {}\n", text_report(merged), out);
    return exit_done;
}

}  // namespace prismopt

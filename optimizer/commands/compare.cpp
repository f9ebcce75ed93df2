#include "io/base/input_error.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/toml/nearest.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr std::size_t most_studies = 26;  // named A to Z

std::string objectives_of(const Results& results)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        names.push_back(objective.name);
    }
    std::sort(names.begin(), names.end());
    return listed(names);
}

/// Reduces all studies to the objectives that they share; throws if that drops any and the user has not allowed it.
void share_objectives(std::vector<NamedResults>& studies, bool common_only)
{
    const std::vector<std::string> common = common_objectives(studies);
    if (!common_only) {
        const std::string first = objectives_of(studies.front().results);
        for (const NamedResults& study : studies) {
            if (const std::string other = objectives_of(study.results); other != first) {
                throw InputError(
                    fmt::format("{} minimises {}, and {} minimises {}: fronts with different objectives cannot be compared; add "
                                "--common to compare only the objectives that all results share",
                                studies.front().file, first, study.file, other));
            }
        }
    }
    if (common.empty()) {
        throw InputError("the results have no objective in common; search again with a shared objective");
    }
    for (NamedResults& study : studies) {
        study.results = with_objectives(std::move(study.results), common);
    }
}

}  // namespace

int compare_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("html", po::value<std::string>()->value_name("FILE"), "write one HTML page with all fronts")(
        "common", po::bool_switch(), "compare only the objectives that all results share");
    const auto values = parse_options("compare", options, {"RESULTS", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto paths = (*values)["RESULTS"].as<std::vector<std::string>>();
    if (paths.size() < 2 || paths.size() > most_studies) {
        throw InputError(fmt::format("prismopt compare needs 2 to {} results files; see prismopt compare --help", most_studies));
    }
    std::vector<NamedResults> studies;
    for (const std::string& path : paths) {
        studies.push_back({path, open_results(path), ""});
        studies.back().job = trained_job(studies.back().results);
    }
    share_objectives(studies, (*values)["common"].as<bool>());
    if (values->count("html") > 0) {
        std::vector<ReportedStudy> reported;
        for (const NamedResults& study : studies) {
            reported.push_back(reported_study(study.results, study.file));
            reported.back().name =
                fmt::format("{} {}", static_cast<char>('A' + reported.size() - 1), study.results.study.scenario_name);
        }
        write_output("html", (*values)["html"].as<std::string>(), report_page(reported, program_name(), compared(studies)),
                     paths);
    }
    fmt::print("{}", comparison_text(studies));
    return exit_done;
}

}  // namespace prismopt

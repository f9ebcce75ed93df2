#include "io/base/input_error.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/toml/nearest.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/api/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace prismopt {

namespace po = boost::program_options;

int compare_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("html", po::value<std::string>()->value_name("FILE"),
                          "write one HTML page with all fronts")(
        "csv", po::value<std::string>()->value_name("FILE"),
        "write the best values of each study as CSV, a row per study")(
        "json", po::value<std::string>()->value_name("FILE")->implicit_value("-"),
        "print the comparison as one JSON object instead of text, or write it to FILE (results/README.md "
        "lists the keys)")("common", po::bool_switch(), "compare only the objectives that all results share");
    const auto values = parse_options("compare", options, {"RESULTS", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const auto paths = (*values)["RESULTS"].as<std::vector<std::string>>();
    const bool json_printed = values->count("json") > 0 && (*values)["json"].as<std::string>() == "-";
    std::vector<OutputPath> outputs;
    for (const char* option : {"html", "csv", "json"}) {
        if (values->count(option) > 0 && !(json_printed && std::string_view(option) == "json")) {
            outputs.push_back({option, (*values)[option].as<std::string>()});
        }
    }
    refuse_same_outputs(outputs);
    std::vector<NamedResults> studies;
    for (const std::string& path : paths) {
        studies.push_back({path, open_results_of_one_job(path), ""});
        studies.back().job = trained_job(studies.back().results);
    }
    if (studies.size() == 1 && !pairs_machines(studies.front().results)) {
        throw InputError(
            "prismopt compare needs 2 or more results files, or one of a study with several [[cluster]]; see "
            "prismopt compare "
            "--help");
    }
    share_objectives(studies,
                     (*values)["common"].as<bool>() ? OtherObjectives::dropped : OtherObjectives::refused);
    const std::vector<ComparedPair> pairs = compared_pairs(studies);
    const auto write = [&](const char* option, const auto& make) {
        if (values->count(option) > 0) {
            write_output(option, (*values)[option].as<std::string>(), make(), paths);
        }
    };
    write("html", [&] { return comparison_page(studies); });
    write("csv", [&] { return comparison_csv(studies); });
    if (json_printed) {
        fmt::print("{}", comparison_json(studies, pairs));
        return exit_done;
    }
    write("json", [&] { return comparison_json(studies, pairs); });
    fmt::print("{}", comparison_text(studies, pairs));
    return exit_done;
}

}  // namespace prismopt

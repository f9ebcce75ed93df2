#include "optimizer/commands/command.hpp"

#include "io/journal.hpp"
#include "io/report.hpp"
#include "io/results_file.hpp"
#include "io/scenario.hpp"
#include "optimizer/study.hpp"
#include "optimizer/study_journal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace prismopt {

namespace po = boost::program_options;

int report_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("csv", po::value<std::string>()->value_name("FILE"), "also write the front as CSV to this file");
    const auto values = parse_options("report", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const Results results = read_results((*values)["RESULTS"].as<std::string>());
    if (values->count("csv") > 0) {
        const std::string path = (*values)["csv"].as<std::string>();
        std::error_code error;
        if (std::filesystem::equivalent(path, (*values)["RESULTS"].as<std::string>(), error)) {
            throw InputError(fmt::format("--csv {} is the results file itself, which would be lost; name another file", path));
        }
        std::ofstream file(path);
        file << front_csv(results);
        file.close();
        if (!file) {
            throw InputError(fmt::format("--csv {} cannot be written ({}); name a file in a folder that you may write to", path,
                                         std::strerror(errno)));
        }
    }
    fmt::print("{}", text_report(results));
    return exit_done;
}

int inspect_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("inspect", po::options_description("Options"), "FILE", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string path = (*values)["FILE"].as<std::string>();
    if (!is_journal(path)) {
        fmt::print("{}", summary(read_results(path)));
        return exit_done;
    }
    const JournalContents contents = read_journal(path);
    const Scenario scenario = journaled_scenario(path);
    fmt::print("journal of \"{}\" ({}), seed {}: {} answers, {} bytes, {}\n", scenario.name, scenario.path, scenario.seed,
               contents.records.size() - 1, contents.good_bytes,
               contents.damage.empty() ? "undamaged" : "damaged: " + contents.damage);
    return exit_done;
}

}  // namespace prismopt

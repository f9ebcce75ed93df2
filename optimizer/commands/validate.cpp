#include "optimizer/commands/command.hpp"

#include "io/scenario.hpp"
#include "optimizer/evaluator.hpp"
#include "optimizer/study.hpp"
#include "search/archive.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prismopt {

namespace po = boost::program_options;

int validate_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("json", po::bool_switch(), "one JSON object instead of text");
    const auto values = parse_options("validate", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const Scenario scenario = read_scenario((*values)["SCENARIO"].as<std::string>());
    const StudyModel model(scenario);
    const std::uint64_t size = model.designs.space().size();
    Archive archive;
    archive.add(std::vector<Answer>{Worker(model).sweep({.begin = 0, .end = size, .keep = 1024})});
    if (archive.feasible() == 0) {
        refuse_infeasible(scenario, archive);
    }
    if ((*values)["json"].as<bool>()) {
        nlohmann::json json{{"valid", true}, {"raw_tuples", size}, {"feasible", archive.feasible()}};
        json["rejected"] = nlohmann::json::object();
        for (const Rejected& rejected : archive.rejected()) {
            json["rejected"][rejected.reason] = rejected.count;
        }
        fmt::print("{}\n", json.dump(2));
        return exit_done;
    }
    fmt::print("{}: valid\n{:>12} raw tuples\n{:>12} feasible\n", scenario.path, size, archive.feasible());
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count > 0) {
            fmt::print("{:>12} rejected: {}\n", rejected.count, rejected.reason);
        }
    }
    return exit_done;
}

}  // namespace prismopt

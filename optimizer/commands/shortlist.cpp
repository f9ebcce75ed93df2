#include "optimizer/commands/command.hpp"
#include "optimizer/commands/plan_shortlist.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

int shortlist_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_shortlist_options(options);
    options.add_options()("json", po::bool_switch(), "print one JSON object instead of text (results/README.md lists the keys)");
    const auto values = parse_options("shortlist", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const Results results = open_results((*values)["RESULTS"].as<std::string>());
    StoredStudy study(results);
    const PlanPosterior plans(study.model(), results);
    const ShortlistRequest asked = shortlist_request(*values, results, plans);
    const nlohmann::ordered_json json = shortlist_json(results, plans, asked, study);
    fmt::print("{}{}", (*values)["json"].as<bool>() ? json.dump(1) : shortlist_text(json, results, asked),
               (*values)["json"].as<bool>() ? "\n" : "");
    return exit_done;
}

}  // namespace prismopt

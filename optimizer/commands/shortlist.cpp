#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/plan_shortlist.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

int shortlist_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_shortlist_options(options);
    options.add_options()("json", po::bool_switch(),
                          "print one JSON object instead of text (results/README.md lists the keys)");
    const auto values = parse_options("shortlist", options, "RESULTS", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const Results results = open_results_of_one_job((*values)["RESULTS"].as<std::string>());
    const Shortlists all = PlanChoice(results).shortlists(shortlist_request(*values));
    fmt::print("{}", (*values)["json"].as<bool>() ? shortlist_json(all) + "\n" : shortlist_text(all));
    return exit_done;
}

}  // namespace prismopt

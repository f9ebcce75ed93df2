#include "optimizer/commands/command.hpp"

#include "io/scenario.hpp"

#include <fmt/format.h>

#include <sstream>

namespace prismopt {

namespace po = boost::program_options;

const std::vector<Command>& commands()
{
    static const std::vector<Command> list{
        {"search", "SCENARIO", "search the design space; alone or under mpirun/srun", search_command},
        {"resume", "FILE", "continue a search that was stopped (results file or journal)", resume_command},
        {"predict", "SCENARIO", "one design: distribution, breakdown, memory", predict_command},
        {"validate", "SCENARIO", "check a scenario and count its space", validate_command},
        {"report", "RESULTS", "the front as a table, with how far to trust it; CSV", report_command},
        {"inspect", "FILE", "what a results file or a journal holds", inspect_command},
    };
    return list;
}

std::optional<po::variables_map> parse_options(const std::string& command, const po::options_description& options,
                                               const std::string& positional, const std::vector<std::string>& words,
                                               const Call& call)
{
    po::options_description all;
    all.add(options);
    all.add_options()("help,h", "this text");
    po::options_description with_argument;
    with_argument.add(all);
    with_argument.add_options()(positional.c_str(), po::value<std::string>());
    po::positional_options_description place;
    place.add(positional.c_str(), 1);
    po::variables_map values;
    try {
        po::store(po::command_line_parser(words).options(with_argument).positional(place).run(), values);
        po::notify(values);
    } catch (const po::error& error) {
        throw InputError(fmt::format("prismopt {}: {}; see prismopt {} --help", command, error.what(), command));
    }
    if (values.count("help") > 0) {
        if (call.team.rank() != 0) {
            return std::nullopt;
        }
        std::ostringstream text;
        text << all;
        fmt::print("Usage: prismopt {} {} [options]\n\n{}", command, positional, text.str());
        return std::nullopt;
    }
    if (values.count(positional) == 0) {
        throw InputError(fmt::format("prismopt {} needs a {}; see prismopt {} --help", command, positional, command));
    }
    return values;
}

}  // namespace prismopt

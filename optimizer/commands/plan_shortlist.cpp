#include "optimizer/commands/plan_shortlist.hpp"

#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace prismopt {

namespace po = boost::program_options;

void add_shortlist_options(po::options_description& options)
{
    options.add_options()(
        "cover", po::value<double>()->value_name("P"),
        "list the smallest set of plans that contains the best one with this probability (default: 0.9)")(
        "most", po::value<std::int64_t>()->value_name("K"),
        "list K plans instead, chosen so that measuring them and using the fastest has the lowest expected "
        "regret")("objective", po::value<std::string>()->value_name("NAME"),
                  "objective to compare (default: the first one proportional to the step time)")(
        "gpus", po::value<int>()->value_name("N"),
        "list only plans on N GPUs (default: one list for each number of GPUs on the front)")(
        "precision", po::value<double>()->value_name("SHARE"),
        "precision of the mean of the measured steps (default: 0.01)");
}

ShortlistRequest shortlist_request(const po::variables_map& values)
{
    if (values.count("cover") > 0 && values.count("most") > 0) {
        throw InputError(
            "--cover and --most exclude each other: give the probability or the number of plans");
    }
    ShortlistRequest asked;
    if (values.count("objective") > 0) {
        asked.objective = values["objective"].as<std::string>();
    }
    if (values.count("gpus") > 0) {
        asked.gpus = {values["gpus"].as<int>()};
    }
    if (values.count("most") > 0) {
        const auto most = values["most"].as<std::int64_t>();
        if (most < 1) {
            throw InputError(fmt::format("--most {} is less than 1; write for example --most 3", most));
        }
        asked.most = static_cast<std::size_t>(most);
    }
    if (values.count("cover") > 0) {
        asked.cover = values["cover"].as<double>();
    }
    if (values.count("precision") > 0) {
        asked.precision = values["precision"].as<double>();
    }
    return asked;
}

}  // namespace prismopt

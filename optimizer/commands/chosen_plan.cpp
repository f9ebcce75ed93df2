#include "optimizer/commands/chosen_plan.hpp"

#include "io/base/input_error.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/commands/command.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

void add_plan_options(po::options_description& options)
{
    options.add_options()(
        "design", po::value<std::string>()->value_name("PLAN")->default_value("", "from the scenario"),
        "values of axes, for example \"gpus=16384 tp=8 pp=16 v=8 schedule=interleaved\", or a plan as "
        "reports print it");
    options.add_options()("point", po::value<std::int64_t>()->value_name("ID"),
                          "number of a plan in reports, if a results file is given instead of the scenario "
                          "(default: the first plan of the front)");
    add_catalog_option(options);
}

ChosenPlan chosen_plan(const po::variables_map& values)
{
    return chosen_plan(values["SCENARIO"].as<std::string>(), values);
}

FileOfPlan file_of_plan(const std::string& path, const po::variables_map& values)
{
    const bool of_point = values.count("point") > 0;
    if (of_point && !values["design"].as<std::string>().empty()) {
        throw InputError("--design and --point both select the plan; give only one of them");
    }
    if (!is_hdf5(path)) {
        if (of_point) {
            throw InputError(fmt::format(
                "--point needs a results file, and {} is not one; give the .h5 file of a search", path));
        }
        return FileOfPlan::scenario;
    }
    if (values.count("catalog") > 0) {
        throw InputError(fmt::format(
            "--catalog has no effect: {} contains the catalog that its search used; remove the option",
            path));
    }
    return FileOfPlan::results;
}

ChosenPlan chosen_plan(const std::string& path, const po::variables_map& values)
{
    const auto& design = values["design"].as<std::string>();
    if (file_of_plan(path, values) == FileOfPlan::scenario) {
        return plan_with(read_scenario(path, catalogs_of(values)), design);
    }
    const Results results = open_results(path);
    if (design.empty()) {
        return plan_at(results, number_of_point(values));
    }
    return plan_with(scenario_of(results.study), design);
}

std::optional<std::int64_t> number_of_point(const po::variables_map& values)
{
    return values.count("point") > 0 ? std::optional(values["point"].as<std::int64_t>()) : std::nullopt;
}

}  // namespace prismopt

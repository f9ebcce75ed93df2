#pragma once

/// The plan that the user selects: --design in a scenario, or --point of a results file.

#include "optimizer/api/plans.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace prismopt {

/// Adds the options --design and --point.
void add_plan_options(boost::program_options::options_description& options);

enum class FileOfPlan { scenario, results };
/// Returns what the file is. Throws InputError if it cannot contain the plan of the options.
FileOfPlan file_of_plan(const std::string& path, const boost::program_options::variables_map& values);

/// Reads the file given as "SCENARIO". Throws InputError if the file cannot contain the plan.
ChosenPlan chosen_plan(const boost::program_options::variables_map& values);
/// Reads this file instead.
ChosenPlan chosen_plan(const std::string& path, const boost::program_options::variables_map& values);

/// The number in --point; nothing: the first plan of the front.
std::optional<std::int64_t> number_of_point(const boost::program_options::variables_map& values);

}  // namespace prismopt

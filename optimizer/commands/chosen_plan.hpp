#pragma once

/// The plan that the user selects: --design in a scenario, or --point of a results file.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"
#include "optimizer/study/stored_study.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <string>

namespace prismopt {

struct ChosenPlan {
    Scenario scenario;  // with the variant of the plan if the study chooses more than plans
    ParallelPlan plan;
    std::string variant;  // values of the choices, as "node.bandwidth=900GB/s"; empty: none, or none chosen
    std::string price;    // of a GPU-hour, with its source
    double longer = 1.0;  // the run, by its precision
};

/// Adds the options --design and --point.
void add_plan_options(boost::program_options::options_description& options);

/// Reads the file given as "SCENARIO". Throws InputError if the file cannot contain the plan.
ChosenPlan chosen_plan(const boost::program_options::variables_map& values);

/// The point number of --point, or of the first point of the front.
std::uint64_t chosen_point(const boost::program_options::variables_map& values, const Results& results, const StoredStudy& study);

}  // namespace prismopt

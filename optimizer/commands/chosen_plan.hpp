#pragma once

/// The plan that a command is asked about: --design in a scenario, or --point of a results file.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"
#include "optimizer/study/stored_study.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <string>

namespace prismopt {

struct ChosenPlan {
    Scenario scenario;  // with the plan's hardware where its knobs leave a choice
    ParallelPlan plan;
    std::string hardware;  // at what the knobs stand: "node.bandwidth=900GB/s"; empty: there are none, or they are not chosen
    std::string price;     // of a GPU-hour, and where it is from
};

/// The options --design and --point.
void add_plan_options(boost::program_options::options_description& options);

/// Reads the file that "SCENARIO" names. Throws InputError for a plan that it cannot have.
ChosenPlan chosen_plan(const boost::program_options::variables_map& values);

/// The number of the point that --point names, or of the first of the front.
std::uint64_t chosen_point(const boost::program_options::variables_map& values, const Results& results, const StoredStudy& study);

}  // namespace prismopt

#pragma once

/// Bubble rates of the authors of the zero-bubble schedules, compared with ours.

#include "model/step/graph/execution_graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Idle share of the time of the longest stage, from its first to its last op.
double bubble_rate(const ExecutionGraph& graph);

/// A network of Qi et al. on a number of stages.
struct RatedNetwork {
    std::string_view name;
    int layers, hidden, heads, stages, microbatch;
};

/// Times of a middle stage for one microbatch in our model.
struct RatedTimes {
    StageTimes stage;
    double transfer = 0.0;  // of a message to the next stage, mean over the pipeline
};

struct RatedSchedule {
    std::string name;  // as its authors call it
    int microbatches = 0;
    double published = 0.0;
    double ours = 0.0;
};

struct RatedCase {
    RatedNetwork network;
    RatedTimes times;
    std::vector<RatedSchedule> schedules;
};

/// Qi et al., arXiv 2401.10241, tables 5 and 8.
std::vector<RatedCase> rated_cases();

/// The comparison as a section of the study.
std::string bubble_rates_section();

}  // namespace prismopt

#pragma once

/// One search over a team of ranks: ask, evaluate, tell, journal; then confirm the front and write the results.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace prismopt {

struct StudyOptions {
    std::string out;      // results file; the journal is `out`.journal
    bool force = false;   // replace what is there
    bool resume = false;  // continue the journal that is there
    std::optional<std::chrono::duration<double>> max_time;
    std::string command_line;
};

struct StudyEnd {
    bool complete = false;       // false: stopped, to be resumed
    Results results;             // on rank 0
    bool nothing_to_do = false;  // and so no results
};

/// Runs the search on all ranks of the team; each calls it, and rank 0 reads the scenario (nothing: there is nothing to do).
/// Throws InputError on rank 0 (before any search) when the scenario is wrong, or the output is taken or cannot be written;
/// and when nothing in the space is feasible, with the nearest miss.
StudyEnd run_study(const std::function<std::optional<Scenario>()>& read, Communicator& team, const StudyOptions& options);

}  // namespace prismopt

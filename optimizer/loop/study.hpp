#pragma once

/// A search over a team of ranks: ask, evaluate, tell, journal; then confirm the front and write the results.

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
    bool force = false;   // overwrite existing results and journal
    bool resume = false;  // continue the existing journal
    std::optional<std::chrono::duration<double>> max_time;
    bool posterior = true;  // say which plans may be the best, given the error of the model
    std::string command_line;
};

struct StudyEnd {
    bool complete = false;       // false: stopped, can be resumed
    Results results;             // on rank 0
    bool nothing_to_do = false;  // the results are empty
};

/// Runs the search. Call it on all ranks of the team; rank 0 calls `read` for the scenario (nothing: there is nothing to do).
/// Throws InputError on rank 0, before the search, if the scenario is invalid, or the output exists or cannot be written; and
/// after the sweep, with the closest plan, if no plan of the space is feasible.
StudyEnd run_study(const std::function<std::optional<Scenario>()>& read, Communicator& team, const StudyOptions& options);

}  // namespace prismopt

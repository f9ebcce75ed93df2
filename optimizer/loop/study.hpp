#pragma once

/// A search over a team of ranks: ask, evaluate, answer, journal; then confirm
/// the front and write the results.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace prismopt {

/// State of a running search.
struct SearchProgress {
    double elapsed_s = 0.0;
    std::optional<SweepProgress> sweep;  // of the space, in progress; nothing: plans are drawn and compared
    bool whole = false;  // the counts are of the whole space; false: of single plans looked at before it
    std::uint64_t feasible = 0;  // plans found
    // Each feasible plan counts in exactly one of these, as in Outcome:
    std::uint64_t evaluated = 0;
    std::uint64_t pruned = 0;
    std::uint64_t open = 0;
    std::size_t front = 0;     // plans
    double hypervolume = 0.0;  // of the front, in the normalised box of the study
    std::uint64_t draws = 0;   // made
    double idle_share = 0.0;   // of the ranks
    // by objective, how much better than the best limit a plan can be at most; empty: not known
    std::string gaps;
    std::optional<double> done;    // fraction of the work in progress; nothing: its end is not known
    std::optional<double> left_s;  // until the end of that work; nothing: not known
    bool finished = false;         // the last call, of a search that is complete or was stopped
};

/// Legs that may follow each other on their own, for example 20 jobs of four hours. A leg that
/// gets nowhere ends them sooner.
inline constexpr int default_most_legs = 20;

/// Options of a leg. `max_time`, `posterior`, `most_legs` and `command_line` of the first leg hold in
/// later ones that do not set them.
struct StudyOptions {
    std::string out;               // results file; the journal is `out`.journal
    bool force = false;            // overwrite existing results and journal
    bool resume = false;           // continue the existing journal
    bool continues = false;        // start the study, or continue its journal, if there is one
    std::optional<int> most_legs;  // with `continues`; nothing: default_most_legs
    std::optional<std::chrono::duration<double>> max_time;  // from the call on; then as `stop`
    bool posterior = true;  // say which plans may be the best, given the error of the model
    std::string command_line;
    /// Called on rank 0, by the thread that called run_study(), at most every `progress_every_s`. Its
    /// exceptions pass through, and leave a journal that can be resumed.
    std::function<void(const SearchProgress&)> progress = {};
    double progress_every_s = 5.0;
    double progress_longest_s = 0.0;  // if larger: a tenth of the time so far, up to this
    /// Receives notes and warnings, on the same thread; empty: they go to standard error.
    std::function<void(const std::string&)> message = {};
    std::stop_token stop = {};  // asks the search to stop with a complete checkpoint
};

struct StudyEnd {
    bool complete = false;  // false: stopped by `stop`, `max_time` or a signal, can be resumed
    // on rank 0; the front of a stopped search is provisional, and empty before the first draws
    Results results;
    bool nothing_to_do = false;  // the results are empty
    std::string last_leg;        // why another leg must not follow a stopped one on its own; empty: it may
};

/// Runs the search. Call it on all ranks of the team; rank 0 calls `read` for the scenario (nothing: there is
/// nothing to do). Throws InputError on rank 0, before the search, if the scenario is invalid, the output
/// exists or cannot be written, or another rank runs another build; and
/// after the sweep NoFeasiblePlan, with the closest plan, if no plan of the space is feasible. (A part of a
/// space may have none: its results are complete, and the front is empty.)
StudyEnd run_study(const std::function<std::optional<Scenario>()>& read, Communicator& team,
                   const StudyOptions& options);

}  // namespace prismopt

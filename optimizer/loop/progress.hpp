#pragma once

/// Progress of a running search: a bar on a terminal, dated lines in a batch log, and the progress curve of the results.

#include "io/results/results.hpp"
#include "model/objective.hpp"
#include "optimizer/loop/time_left.hpp"
#include "search/archive.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// "training_time_p99 1.3 %, cost 0.9 %": how much better than the best limit a plan can be at most. Empty if that is not known.
std::string gaps_text(const std::vector<Gap>& gaps, const std::vector<const Objective*>& objectives);

class Progress {
public:
    Progress();

    /// State of the search, in addition to the archive.
    struct State {
        std::uint64_t draws = 0;  // made
        // Each feasible plan counts in exactly one of these, as in Outcome:
        std::uint64_t evaluated = 0;
        std::uint64_t pruned = 0;
        std::uint64_t open = 0;
        std::optional<SweepProgress> sweep = {};  // in progress
        double idle_share = 0.0;                  // of the ranks
        std::string gaps = {};                    // gaps_text()
    };

    /// Adds a point to the curve, after a batch of answers.
    void record(const Archive& archive);
    /// Whether the next output is due: every few seconds (a bar: several times per second).
    bool due() const;
    void show(const Archive& archive, const State& state);
    void finish() const;

    const std::vector<ProgressPoint>& curve() const { return curve_; }

private:
    double hypervolume_of_front(const Archive& archive);
    double elapsed() const;

    std::chrono::steady_clock::time_point start_;
    double shown_s_ = -1e9;
    std::optional<SweepPurpose> swept_;  // the last time; nothing: plans were compared
    TimeLeft time_left_;
    bool terminal_;
    std::vector<double> low_;  // box that normalises hypervolume, fixed with the first evaluations
    std::vector<double> high_;
    std::vector<ProgressPoint> curve_;
};

}  // namespace prismopt

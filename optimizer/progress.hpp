#pragma once

/// What a running search shows: a bar on a terminal, dated lines in a batch log; and the curve that goes into results.

#include "io/results.hpp"
#include "search/archive.hpp"

#include <chrono>
#include <vector>

namespace prismopt {

class Progress {
public:
    Progress();

    /// Records the state after a batch of answers and shows it, at most every few seconds (a bar: several times a second).
    void update(const Archive& archive, std::uint64_t draws, std::uint64_t open);
    void finish() const;

    const std::vector<ProgressPoint>& curve() const { return curve_; }

private:
    double hypervolume_of_front(const Archive& archive);
    double elapsed() const;

    std::chrono::steady_clock::time_point start_;
    double shown_s_ = -1e9;
    bool terminal_;
    std::vector<double> low_;  // box that normalises hypervolume, fixed with the first evaluations
    std::vector<double> high_;
    std::vector<ProgressPoint> curve_;
};

}  // namespace prismopt

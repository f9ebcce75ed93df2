#pragma once

/// Progress of a running search, and the progress curve of the results.

#include "io/results/results.hpp"
#include "model/objective.hpp"
#include "optimizer/loop/study.hpp"
#include "optimizer/loop/time_left.hpp"
#include "search/archive.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Time between two outputs: `every_s`, or a tenth of the time so far where
/// that is longer, up to `longest_s`.
double output_interval_s(double elapsed_s, double every_s, double longest_s);

class Progress {
public:
    Progress(double every_s, double longest_s)
        : start_(std::chrono::steady_clock::now()), every_s_(every_s), longest_s_(longest_s)
    {
    }

    /// Adds a point to the curve, after a batch of answers.
    void record(const Archive& archive);
    /// Whether the next output is due.
    bool due() const { return elapsed() - shown_s_ >= output_interval_s(elapsed(), every_s_, longest_s_); }
    /// Completes a state, which has what the archive does not know.
    SearchProgress state(const Archive& archive, SearchProgress state);

    const std::vector<ProgressPoint>& curve() const { return curve_; }

private:
    double hypervolume_of_front(const Archive& archive);
    double elapsed() const;

    std::chrono::steady_clock::time_point start_;
    double every_s_;
    double longest_s_;
    double shown_s_ = -1e9;
    std::optional<SweepPurpose> swept_;  // the last time; nothing: plans were compared
    TimeLeft time_left_;
    std::vector<double> low_;  // box that normalises hypervolume, fixed with the first evaluations
    std::vector<double> high_;
    std::vector<ProgressPoint> curve_;
};

}  // namespace prismopt

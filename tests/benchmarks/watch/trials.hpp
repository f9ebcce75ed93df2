#pragma once

/// Jobs with a known change: what the detector finds, and when. Percentages with limits by a
/// bootstrap over clusters of jobs.

#include "model/run/changes/change_detector.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace prismopt::bench {

/// Runs `work(run)` for all runs on the threads of the machine; results are by run, so threads do not matter.
void in_parallel(int runs, const std::function<void(int)>& work);

/// Step times of a job, multiplied by 1 + `size` from step `at` on (counted from 1).
struct Trial {
    std::vector<double> seconds;
    std::int64_t at = 0;
    double size = 0.0;
    int baseline = 200;
    int cluster = 0;
};

struct Outcome {
    int cluster = 0;
    // steps to the first change in its direction, the first slow one included; infinite: none
    double delay = 0.0;
    bool before = false;  // a change found before it
    double now_error = 0.0;
    std::optional<double> place_error{};  // the rest: of the change that was found
    bool place_inside = false;
    bool size_inside = false;
    double size_width = 0.0;
};

/// `now_s`: true step time at the end; the change that was found is judged there, its place when it is found.
Outcome outcome_of(const Trial& trial, double now_s);

/// Changes found in a job without any, at the steps at which they were found.
std::vector<std::int64_t> false_changes(const std::function<double()>& next_s, std::int64_t steps);

std::string steps_text(double steps);
double median(std::vector<double> values);
double quantile(std::vector<double> values, double probability);

struct Judged {
    int cluster = 0;
    bool holds = false;
};
/// Share that holds, in percent; with more than one cluster also its 95 % limits.
std::string share_text(const std::vector<Judged>& all);
std::string share_text(const std::vector<Outcome>& outcomes, const std::function<bool(const Outcome&)>& is);

/// Cells of a table: found in at most so many steps; median and p99 of the delay; now within 1 %; size inside
/// its limits, and their median width.
std::string outcome_cells(const std::vector<Outcome>& outcomes, int within);

}  // namespace prismopt::bench

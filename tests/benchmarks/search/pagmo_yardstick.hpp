#pragma once

/// pagmo's nsga2 on a space of labels, as a user would set it up: whole numbers for labels, an
/// infeasible tuple as a huge cost.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace prismopt::bench {

struct YardstickProblem {
    std::vector<int> labels;  // by axis
    std::size_t objectives = 0;
    /// Empty: infeasible. Called for each individual, repeats and infeasible ones among them.
    std::function<std::vector<double>(std::span<const int>)> values;
};

/// Runs generations of `population` until `enough` says so or there have been so many calls.
void run_pagmo_nsga2(const YardstickProblem& problem, unsigned population, unsigned seed,
                     std::uint64_t most_calls, const std::function<bool()>& enough);

}  // namespace prismopt::bench

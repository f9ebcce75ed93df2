#pragma once

/// Several results beside each other: what their fronts gain on the first, and in what their studies differ.

#include "io/results/results.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct NamedResults {
    std::string file;
    Results results;
    std::string job = {};  // trained_job()
};

/// "A" for the first.
std::string study_letter(std::size_t study);

/// What the scenario of these results trains, in words; empty where this program does not read it.
std::string trained_job(const Results& results);
bool same_job(const NamedResults& a, const NamedResults& b);

/// Whether quantiles of all are of a fleet, or of all of known nodes.
bool same_population(const std::vector<NamedResults>& studies);

/// Objectives that all have, in the order of the first.
std::vector<std::string> common_objectives(const std::vector<NamedResults>& studies);

/// The same results with these objectives only; fronts keep all of their points.
Results with_objectives(Results results, const std::vector<std::string>& names);

/// Hypervolume of each front in the box of all: from the best to 1.1 times the worst value of any front member in each objective.
std::vector<double> joint_hypervolumes(const std::vector<NamedResults>& studies);

struct Comparison {
    std::vector<std::vector<std::string>> gains;  // a table, its head first; none where a front is empty
    std::string hypervolumes;
    std::string differences;  // jobs, populations, axes and lines of the scenarios
};

/// With a warning where jobs or populations differ. All studies have the same objectives.
Comparison compared(const std::vector<NamedResults>& studies);

/// As text, with all points of the fronts.
std::string comparison_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt

#pragma once

/// Comparison of several results: gains of their fronts over the first, and differences of their studies.

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

/// Workload and phases of the scenario; empty if this program cannot read it.
std::string trained_job(const Results& results);
bool same_job(const NamedResults& a, const NamedResults& b);

/// Whether all quantiles are taken over the same population: a fleet, or known nodes.
bool same_population(const std::vector<NamedResults>& studies);

/// Objectives that all studies have, in the order of the first.
std::vector<std::string> common_objectives(const std::vector<NamedResults>& studies);

/// The same results with these objectives only; fronts keep all of their points.
Results with_objectives(Results results, const std::vector<std::string>& names);

/// Hypervolume of each front in a common box: from the best to 1.1 times the worst value of any front in each objective.
std::vector<double> joint_hypervolumes(const std::vector<NamedResults>& studies);

struct Comparison {
    std::vector<std::vector<std::string>> gains;  // a table, its header first; empty if a front is empty
    std::string hypervolumes;
    std::string differences;  // workloads, populations, axes and lines of the scenarios
};

/// Compares studies with the same objectives; warns if workloads or populations differ.
Comparison compared(const std::vector<NamedResults>& studies);

/// The comparison as text, with all points of the fronts.
std::string comparison_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt

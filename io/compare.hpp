#pragma once

/// Several results beside each other: what their fronts gain on the first, and in what their studies differ.

#include "io/results.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct NamedResults {
    std::string file;
    Results results;
};

/// Whether quantiles of all are of a fleet, or of all of known nodes.
bool same_population(const std::vector<NamedResults>& studies);

/// Objectives that all have, in the order of the first.
std::vector<std::string> common_objectives(const std::vector<NamedResults>& studies);

/// The same results with these objectives only; fronts keep all of their points.
Results with_objectives(Results results, const std::vector<std::string>& names);

/// Hypervolume of each front in the box of all: from the best to 1.1 times the worst value of any front member in each objective.
std::vector<double> joint_hypervolumes(const std::vector<NamedResults>& studies);

/// As text, with a warning where quantiles are not of the same population. All studies have the same objectives.
std::string comparison_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt

#pragma once

/// Comparison of several results: gains of their fronts over the first, and differences of their studies.

#include "io/compare/pairs.hpp"
#include "io/results/results.hpp"
#include "model/base/estimate.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace prismopt {

struct NamedResults {
    std::string file;
    Results results;
    std::string job = {};  // trained_job()
};

/// What comparisons call each study: the name of its scenario, or of its file where
/// others have that name, or its path.
std::vector<std::string> study_names(const std::vector<NamedResults>& studies);

/// Workload and phases of the scenario; empty if this program cannot read it.
std::string trained_job(const Results& results);
bool same_job(const NamedResults& a, const NamedResults& b);

/// Whether all quantiles are taken over the same population: a fleet, or known nodes.
bool same_population(const std::vector<NamedResults>& studies);

/// Objectives that all studies have, in the order of the first.
std::vector<std::string> common_objectives(const std::vector<NamedResults>& studies);

/// The same results with these objectives only; fronts keep all of their points.
Results with_objectives(Results results, const std::vector<std::string>& names);

/// Hypervolume of each front in a common box: from the best to 1.1 times the worst value
/// of any front in each objective.
std::vector<double> joint_hypervolumes(const std::vector<NamedResults>& studies);

/// Best value of an objective in a front, and the point that has it.
struct BestValue {
    std::uint64_t point = 0;
    std::string plan;
    Estimate value;
    Estimate with_model_error;  // NaN: unknown, or no multiple of time
    // Relative to the first study's; NaN: of the first, or not comparable.
    double change = std::numeric_limits<double>::quiet_NaN();
};

/// Facts of one study in a comparison.
struct ComparedStudy {
    std::string name;  // study_names()
    std::string scenario;
    std::string file;
    std::uint64_t seed = 0;
    std::string software;  // empty: unknown
    std::string hardware;  // accelerator; empty: unknown
    bool provisional = false;
    std::size_t front_points = 0;
    // NaN: the studies train different workloads
    double hypervolume = std::numeric_limits<double>::quiet_NaN();
    std::vector<BestValue> best;  // by objective; empty: the front is
};

struct Comparison {
    std::vector<std::vector<std::string>> gains;  // a table, its header first; empty if a front is empty
    std::string hypervolumes;
    std::string differences;  // workloads, populations, axes and lines of the scenarios
    std::vector<ObjectiveInfo> objectives = {};
    std::vector<ComparedStudy> studies = {};
    std::vector<ComparedPair> pairs = {};
};

/// Compares studies with the same objectives; warns if workloads or populations
/// differ. `pairs`: of their plans.
Comparison compared(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs = {});

/// The comparison as text, with all points of the fronts.
std::string comparison_text(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs = {});

/// One row per study: where it comes from, hypervolume, and the best value of each objective.
std::string comparison_csv(const std::vector<NamedResults>& studies);
/// The same as JSON, with the differences; results/README.md documents the keys.
std::string comparison_json(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs = {});

}  // namespace prismopt

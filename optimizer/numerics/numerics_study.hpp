#pragma once

/// The experiments of `prismopt numerics`, as tables.

#include "optimizer/numerics/attention_cases.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Rows are objects with the same keys in the same order; numbers that are not finite are null.
struct NumericsTable {
    std::string name;
    std::string title;
    std::string note;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

/// A table of the study.
struct NumericsExperiment {
    const char* name;
    const char* title;
    const char* note;
    nlohmann::ordered_json (*rows)(std::uint64_t seed);
};
/// All of them, in the order of results/numerics.md.
const std::vector<NumericsExperiment>& numerics_experiments();
/// Their names, separated by ", ".
std::string numerics_experiment_names();

NumericsTable run_experiment(const NumericsExperiment& experiment, std::uint64_t seed);

/// Deviation of one user's cases.
NumericsTable attention_table(const AttentionGrid& grid, std::uint64_t seed);

/// Statements of Golden et al., arXiv 2405.02803, beside what the tables show.
/// Omits those whose tables are not among these.
NumericsTable paper_table(const std::vector<NumericsTable>& tables);

}  // namespace prismopt

#pragma once

/// Measured training runs from a folder of CSV tables: what the model is held against, beside the figures of the catalog.

#include "io/measured/csv.hpp"
#include "io/scenario/scenario.hpp"
#include "model/plan/phase.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct MeasuredRun {
    std::string source;   // name of the table, or a citation
    std::string row;      // which run of it
    std::string assumed;  // what the source does not say
    Workload workload;
    Phase phase;
    Cluster cluster;
    ParallelPlan plan;
    std::string variability = "hpc-2024";  // profile of the catalog that its times are compared under
    double measured_s = 0.0;               // step time
    double memory_bytes = 0.0;             // measured peak of a GPU; zero where the source has none
    bool memory_allocated = false;         // the peak of what the framework allocated: without driver and communication buffers
};

/// A row that cannot be predicted.
struct SkippedRow {
    std::string source;
    std::string row;
    std::string reason;
};

struct MeasuredRuns {
    std::vector<MeasuredRun> runs;
    std::vector<SkippedRow> skipped;
};

/// Reads every table of `folder` that model/catalog/measured_tables.toml describes; tables without a description are skipped
/// rows as well, under the table's name. Throws InputError when the folder has none, or a table cannot be read.
MeasuredRuns read_measured_runs(const std::string& folder);

}  // namespace prismopt

#pragma once

/// Measured training runs from a folder of CSV tables, to validate the model.

#include "io/base/csv.hpp"
#include "io/measured/published_runs.hpp"
#include "model/job.hpp"
#include "model/plan/plan.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A measured plan of a job of one phase.
struct MeasuredRun : Job {
    MeasuredRun() { phases.resize(1); }

    std::string source;   // name of the table, or a citation
    std::string row;      // the run within the source
    std::string line;     // of models: rows of a line resemble each other more than rows of a source
    std::string assumed;  // values that the source does not give
    ParallelPlan plan;
    std::string variability = "hpc-2024";  // catalog profile for the comparison
    double measured_s = 0.0;               // step time
    double memory_bytes = 0.0;             // measured peak of a GPU; zero if the source gives none
    bool fitted = true;                    // whether the constants are fitted to it
    bool of_formula = false;               // the step time rests on an assumed number of operations
    double kept_bytes = 0.0;               // per parameter on a GPU: what its trainer keeps beside gradients and optimizer states
    double undivided_bytes = 0.0;          // ... and of the optimizer states, what sharding does not divide
    bool memory_allocated = false;         // peak allocated by the framework: without driver and communication buffers

    const Phase& phase() const { return phases.front(); }
};

/// A row that cannot be predicted.
struct SkippedRow {
    std::string source;
    std::string row;
    std::string reason;
};

struct MeasuredRuns {
    std::vector<MeasuredRun> runs;
    std::vector<PublishedRun> own;  // of tables that name a scenario and a plan per row
    std::vector<SkippedRow> skipped;
    std::vector<std::string> not_read;  // names of tables that are none of runs, as far as is known here
};

/// The line of models that a model is of: its name up to its size, in lower case ("LLAMA3_70B": "llama3").
std::string line_of(const std::string& model);

/// Reads every table of `folder` that model/catalog/measured_tables.toml describes, and those of own runs; other tables are
/// listed among the skipped rows. Throws InputError when the folder contains no known table, or a table cannot be read.
MeasuredRuns read_measured_runs(const std::string& folder);

}  // namespace prismopt

#pragma once

/// Measured training runs from tables, to validate the model and to fit its constants.
/// docs/accuracy.md has the columns.

#include "io/base/csv.hpp"
#include "model/base/names.hpp"
#include "model/job.hpp"
#include "model/plan/plan_axes.hpp"

#include <array>
#include <string>
#include <vector>

namespace prismopt {

/// What a measured peak of memory counts: all of the device in use; what the framework's allocator reserved
/// of it, without the driver and the buffers of communication libraries; or what tensors had of that.
enum class MemoryBasis { device, reserved, allocated };
template <>
inline constexpr auto names_of<MemoryBasis> =
    std::to_array<Named<MemoryBasis>>({{MemoryBasis::device, "device"},
                                       {MemoryBasis::reserved, "reserved"},
                                       {MemoryBasis::allocated, "allocated"}});

/// A measured plan of a job of one phase.
struct MeasuredRun : Job {
    MeasuredRun() { phases.resize(1); }

    std::string source;   // name of the table, or a citation
    std::string row;      // the run within the source
    std::string line;     // of models: rows of a line resemble each other more than rows of a source
    std::string assumed;  // values that the source does not give
    ParallelPlan plan;
    std::string variability = "hpc-2024";  // catalog profile for the comparison
    bool out_of_memory = false;            // the run ended so, without a step time
    double measured_s = 0.0;               // step time
    double memory_bytes = 0.0;             // measured peak of a GPU; zero if the source gives none
    bool fitted = true;                    // whether the constants are fitted to it
    bool of_formula = false;               // the step time rests on an assumed number of operations
    // per parameter on a GPU: what its trainer keeps beside gradients and optimizer states
    double kept_bytes = 0.0;
    double undivided_bytes = 0.0;  // ... and of the optimizer states, what sharding does not divide
    MemoryBasis memory_basis = MemoryBasis::device;  // of memory_bytes

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
    std::vector<MeasuredRun> out_of_memory;  // runs that ended so
    std::vector<SkippedRow> skipped;
};

/// A row of a table: a run whose plan is text, which space and number of GPUs complete.
struct RunRow {
    MeasuredRun run;     // without its plan; without its step time where the source gives a rate
    std::string design;  // in the syntax of --design
    bool sequence_parallel = true;
    SpaceSettings space;
    FlopsPerSecond compute_rate;  // measured model FLOP/s per GPU, or zero
    std::string skipped;          // why the run cannot be predicted; empty: it can
};

/// The line of models that a model is of: its name up to its size, in lower case ("LLAMA3_70B": "llama3").
std::string line_of(const std::string& model);

/// The columns of tables of runs; others begin with "note".
std::vector<std::string> run_columns();

/// Reads a row. `path`: its table, to which scenarios are relative; `number`: of
/// the row, for rows without a name.
RunRow read_run_row(const CsvRow& row, const std::string& path, int number);

/// The table that ships, model/catalog/published_runs.csv.
std::vector<RunRow> shipped_run_rows();

struct RunTables {
    std::vector<RunRow> rows;
    std::vector<std::string> not_read;  // names of tables without a column `design`
    bool published = false;             // whether some of them are published tables in another format
};

/// Reads all tables of a folder that have a column `design` or `scenario`, in the order of their names.
/// Throws InputError if there is none, for a table with unknown columns or without those that are needed,
/// and for one that cannot be read.
RunTables read_run_tables(const std::string& folder);

/// How to write published tables of a folder in the columns that are read here.
std::string how_to_normalise(const std::string& folder);

/// Whether the header of a table has this column.
bool table_has_column(const std::string& path, const std::string& column);

}  // namespace prismopt

#pragma once

/// Descriptions of tables of measured runs: their machines, and values that the source does not give.

#include "model/network/transformer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// A machine: that of the `gpu` column (machine_names.hpp) and, if given, of software in the `framework` and `zero_fsdp` columns.
struct TableMachine {
    std::string software;     // part of them
    std::string accelerator;  // of the catalog
    std::string stack;
    std::vector<std::string> links;          // of the catalog: inside a node, and between nodes
    int node = 8;                            // GPUs that the first link joins, where there are no slices
    std::vector<std::vector<int>> slices{};  // shapes of the tori in use, smallest first; empty: a switch joins a node
    int closed = 0;                          // shortest axis of a slice that is closed to a ring
    int cores = 1;                           // an accelerator's equal cores, which the rows count as GPUs
};

/// Values for empty columns (for all columns if `replaces`), in rows whose columns contain these texts.
struct TableFill {
    std::vector<std::pair<std::string, std::string>> when;  // column, text
    std::vector<std::pair<std::string, std::string>> set;
    bool replaces = false;
};

/// Rows that the model does not cover.
struct TableSkip {
    std::string column;
    std::string value;
    std::string reason;
};

struct MeasuredTable {
    std::string name;  // of the file, without ".csv"
    std::string source;
    std::string assumed;
    std::string variability = "hpc-2024";
    bool fitted = true;  // whether the constants are fitted to its rows
    bool sweep = false;  // of plans of few models: each model is a line of its own (line_of() in measured_runs.hpp)
    std::vector<TableMachine> machines;
    std::vector<TableFill> fills;
    std::vector<TableSkip> skips;
    std::vector<std::pair<std::string, std::string>> models;  // part of the `model` column -> workload of the catalog
    bool own_shapes = false;  // the table names the kernels of networks whose shapes its columns give
    Transformer workload;     // those kernels
    ParallelPlan plan;        // defaults of what the columns do not give
};

/// All tables that the catalog describes.
std::vector<MeasuredTable> measured_tables();

}  // namespace prismopt

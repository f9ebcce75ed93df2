#pragma once

/// How the rows of a table of measured runs are to be read: which machine its columns mean, and what the source leaves out.

#include "io/scenario/scenario.hpp"
#include "model/network/transformer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// A machine, by a part of what the table's `gpu` column says, and where given of its `framework` and `zero_fsdp` columns.
struct TableMachine {
    std::string gpu;
    std::string software;
    std::string accelerator;  // of the catalog
    std::string stack;
    std::vector<std::string> links;  // of the catalog: inside a node, and between nodes
    int node = 8;                    // GPUs that the first link joins
};

/// Columns to fill where they are empty (or always, where `replaces`), in rows whose `column` has `value` as a part.
struct TableFill {
    std::string column;
    std::string value;
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
    std::vector<TableMachine> machines;
    std::vector<TableFill> fills;
    std::vector<TableSkip> skips;
    std::vector<std::pair<std::string, std::string>> models;  // part of the `model` column -> workload of the catalog
    Transformer workload;                                     // kinds of kernels, for rows that print their own shape
    ParallelPlan plan;                                        // what no column says
};

/// All tables that the catalog describes.
std::vector<MeasuredTable> measured_tables();

}  // namespace prismopt

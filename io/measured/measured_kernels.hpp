#pragma once

/// Measured forward kernels from a table, to validate and to fit the model of kernel times.

#include "io/measured/measured_runs.hpp"
#include "model/hardware/kernel_time.hpp"

#include <string>
#include <vector>

namespace prismopt {

enum class KernelTable { product, attention, window, latent_attention, experts, cast, largest_value };
template <>
inline constexpr auto names_of<KernelTable> =
    std::to_array<Named<KernelTable>>({{KernelTable::product, "products"},
                                       {KernelTable::attention, "attention"},
                                       {KernelTable::window, "attention, windows"},
                                       {KernelTable::latent_attention, "latent attention"},
                                       {KernelTable::experts, "experts"},
                                       {KernelTable::cast, "casts"},
                                       {KernelTable::largest_value, "largest values"}});

/// A measured kernel, or the kernels of a layer of experts.
struct MeasuredKernel {
    KernelTable table = KernelTable::product;
    std::string row;
    std::string accelerator;  // of the catalog
    std::string key;  // of the share that sets its level (machine_constants.hpp); empty: none is fitted to it
    // its family of shapes: products of one n and k, attention of one length, experts of one network
    std::string shapes;
    Precision precision = Precision::bf16;
    // Products [m, k] times [k, n], `groups` times. Experts: two products, of hidden size
    // k and width n, of m rows each.
    double groups = 1.0;
    double m = 0.0;
    double n = 0.0;
    double k = 0.0;
    double tokens = 0.0;  // of experts: before they are sent to several
    AttentionWork attention{};
    double measured_s = 0.0;
};

/// Name of their table in a folder.
inline constexpr const char* kernels_table = "training_kernels.csv";

struct MeasuredKernels {
    std::vector<MeasuredKernel> rows;
    std::vector<SkippedRow> skipped;
};

/// Reads the rows of that table that the model covers, of one engine for each accelerator; empty
/// if the folder has no such table.
MeasuredKernels read_measured_kernels(const std::string& folder);

}  // namespace prismopt

#pragma once

/// Times of what steps consist of: collectives of a cluster, kernels of a network; and
/// collectives as measured on a cluster.

#include "io/scenario/scenario.hpp"
#include "optimizer/api/kernel_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// GPUs of a collective: neighbours in each of some nodes.
struct GroupMembers {
    int inside = 1;  // of each node
    int nodes = 1;

    int count() const { return inside * nodes; }
    std::string text() const;  // "16 GPUs: 8 in each of 2 nodes"
};

struct CollectiveRow {
    double bytes = 0.0;
    double seconds = 0.0;
    double bus_bandwidth = 0.0;  // bytes per second, as nccl-tests define it
    std::string algorithm;       // the fastest
};

struct CollectiveTimes {
    std::string collective;
    GroupMembers members;
    std::vector<CollectiveRow> rows;  // by size
};

/// Returns the times of collectives in a node, two nodes, all nodes, and with one GPU of each node, from 1
/// KiB to 4 GiB. `factor`: between sizes.
std::vector<CollectiveTimes> collective_times(const Cluster& cluster, double factor = 4.0);

/// Kernels of a network for a microbatch on one GPU.
struct KernelTimes {
    std::string network;
    std::string precision;
    int microbatch = 1;  // sequences
    int sequence = 0;    // tokens
    int tp = 1;
    int cp = 1;
    std::vector<KernelRow> rows;
};
/// `design`: of the plan (parse_design()); empty: one sequence on one GPU.
KernelTimes kernel_times(const Scenario& scenario, const std::string& design = "");

struct MeasuredCollectiveRow {
    double bytes = 0.0;
    double measured_s = 0.0;
    double predicted_s = 0.0;
    double explained_s = 0.0;  // with the values that explain the file
};

/// Mean errors over sizes of one kind, relative.
struct ErrorOfRegion {
    std::string region;
    double now = 0.0;
    double explained = 0.0;
};

/// A value of [[cluster.tier]] that explains a file; its prior is the scenario's.
struct TierValue {
    std::string tier;
    std::string key;      // efficiency, latency, in_network
    double before = 0.0;  // in SI units
    double value = 0.0;
    double deviation = 0.0;   // relative
    bool determined = false;  // by this file
    // of the tier in the scenario, in bytes per second; a file determines its product with efficiency
    double bandwidth = 0.0;
};

struct CollectiveComparison {
    std::string collective;
    GroupMembers members;
    std::vector<MeasuredCollectiveRow> rows;
    std::vector<ErrorOfRegion> regions;
    std::vector<TierValue> values;
    CollectiveTimes curve;    // predicted, for plots
    double bus_factor = 0.0;  // bus bandwidth over bytes per second
};

/// Compares collectives of a cluster with what a program of nccl-tests or of the OSU benchmarks printed.
/// `collective` and `members`: if the file does not name them. Throws InputError.
std::vector<CollectiveComparison> compare_collectives(const Cluster& cluster, const std::string& path,
                                                      const std::string& collective = "",
                                                      std::optional<int> members = {});

}  // namespace prismopt

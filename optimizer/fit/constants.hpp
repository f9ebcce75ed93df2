#pragma once

/// The constants of the catalog that are fitted to measured runs, as one vector.

#include "io/measured/measured_runs.hpp"

#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// Files of the catalog.
inline constexpr const char* accelerators_file = "accelerators.toml";
inline constexpr const char* links_file = "links.toml";
inline constexpr const char* libraries_file = "libraries.toml";

/// What is believed of a library of collectives before any table: a value in SI, the deviation
/// of its logarithm, and a limit.
struct LibraryBelief {
    const char* key;
    double value;
    double spread;
    double largest;
};
// Latencies and the protocol for short messages as NCCL's tuner has them (src/graph/tuning.cc), a launch of 5
// us included; otherwise assumptions.
inline constexpr LibraryBelief library_beliefs[] = {
    {"start", 13.4e-6, 0.3, 1e-3},
    {"low_latency_start", 11.6e-6, 0.3, 1e-3},
    {"low_latency_in_nodes", 0.2, 1.0, 1.0},
    {"low_latency_between_nodes", 0.2, 1.0, 1.0},
    {"low_latency_bandwidth", 0.25, 0.3, 1.0},
    {"in_network_start", 28e-6, 0.3, 1e-3},
    {"fill", 1.0, 0.3, 10.0},
    {"trees_between_nodes", 1.2, 0.3, 2.0},
    {"all_to_all_between_nodes", 0.6, 0.3, 1.0},
    {"all_to_all_start", 25e-6, 0.5, 1e-3},
};

/// Accelerators, stacks, links and libraries by name, with the constants of the catalog or others.
struct Machines {
    std::map<std::string, Accelerator> accelerators;  // without a stack
    std::map<std::string, SoftwareStack> stacks;
    std::map<std::string, NetworkTier> links;
    std::map<std::string, CollectiveLibrary> libraries;

    static Machines of_catalog();
    /// The cluster of a run, built from these.
    Cluster cluster_of(const MeasuredRun& run) const;
};

/// A constant of catalog entries, or the mean of a family of such constants. Its logarithm is fitted, with a
/// normal prior: standard deviation `spread` about the value of its parent, or about `value` where it has no
/// parent. A constant with few runs therefore stays near its family (partial pooling: Gelman and Hill, "Data
/// Analysis Using Regression and Multilevel/Hierarchical Models", Cambridge 2007, chapter 12).
struct FitConstant {
    std::string file;  // of the catalog
    std::string group;
    std::vector<std::string> sections;  // entries that share it; empty: the mean of a family
    std::string key;
    double value = 0.0;  // SI
    double spread = 0.0;
    double largest = 0.0;
    std::string parent{};  // name of the constant that is its prior mean
    /// A value that components alone have, and the deviation of its logarithm.
    struct Observation {
        double value = 0.0;
        double deviation = 0.0;
    };
    std::vector<Observation> observations{};
    bool spread_known = true;  // false: how far members of a family lie apart is estimated from the runs

    std::string name() const { return group + "." + key; }
    bool is_mean() const { return sections.empty(); }
    /// Whether it is the constant of an entry: it may be that of others, too.
    bool is(const FitConstant& of_entry) const;
    /// Whether the time of the run may depend on it.
    bool concerns(const MeasuredRun& run) const;
};

/// Constants of all machines that the runs use, at their prior values, with the means of their
/// families. Members of a family that no run uses share one constant, which is the mean of the
/// family with a member's deviation.
std::vector<FitConstant> fitted_constants(const std::vector<MeasuredRun>& runs);

/// Sets a constant in all entries that share it.
void set_constant(Machines& machines, const FitConstant& constant, double value);

}  // namespace prismopt

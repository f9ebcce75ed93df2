#pragma once

/// The constants of the catalog that are fitted to measured runs, as one vector.

#include "io/measured/measured_runs.hpp"

#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// Accelerators, stacks and links by name, with the constants of the catalog or others.
struct Machines {
    std::map<std::string, Accelerator> accelerators;  // without a stack
    std::map<std::string, SoftwareStack> stacks;
    std::map<std::string, NetworkTier> links;

    static Machines of_catalog();
    /// The cluster of a run, built from these.
    Cluster cluster_of(const MeasuredRun& run) const;
};

/// One constant. Its logarithm is fitted, with a normal prior of mean log(`value`) and standard deviation `spread`. If it has a
/// `relative` (the same chip in another package, the next release of a framework), the prior has the value of that constant as its
/// mean, and half of `spread`.
struct FitConstant {
    std::string file;  // of the catalog
    std::string group;
    std::vector<std::string> sections;  // entries that share it
    std::string key;
    double value = 0.0;  // SI
    double spread = 0.0;
    double largest = 0.0;
    std::string relative{};  // name of the constant that is its prior mean, if that is fitted too

    std::string name() const { return group + "." + key; }
    /// Whether the time of the run may depend on it.
    bool concerns(const MeasuredRun& run) const;
};

/// Constants of all machines that the runs use, at their prior values.
std::vector<FitConstant> fitted_constants(const std::vector<MeasuredRun>& runs);

/// Sets a constant in all entries that share it.
void set_constant(Machines& machines, const FitConstant& constant, double value);

}  // namespace prismopt

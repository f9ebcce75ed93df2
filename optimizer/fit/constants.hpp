#pragma once

/// The constants of the catalog that are fitted to measured runs, as one vector.

#include "io/measured/measured_runs.hpp"

#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// Accelerators, stacks and links by name, as the catalog has them or with other constants.
struct Machines {
    std::map<std::string, Accelerator> accelerators;  // without a stack
    std::map<std::string, SoftwareStack> stacks;
    std::map<std::string, NetworkTier> links;

    static Machines of_catalog();
    /// The run's cluster made of these.
    Cluster cluster_of(const MeasuredRun& run) const;
};

/// One constant. What is fitted is its logarithm, with a normal prior: `value` is believed to within `spread`, or the value of its
/// relative (the same chip in another package, the next release of a framework) to within half of that.
struct FitConstant {
    std::string file;  // of the catalog
    std::string group;
    std::vector<std::string> sections;  // entries that share it
    std::string key;
    double value = 0.0;  // SI
    double spread = 0.0;
    double largest = 0.0;
    std::string relative{};  // name of a constant that it is believed to be near, where that is fitted too

    std::string name() const { return group + "." + key; }
    /// Whether the run's time may depend on it.
    bool concerns(const MeasuredRun& run) const;
};

/// Constants of all machines that the runs use, as they are believed before any run.
std::vector<FitConstant> fitted_constants(const std::vector<MeasuredRun>& runs);

/// Sets a constant in all its entries.
void set_constant(Machines& machines, const FitConstant& constant, double value);

}  // namespace prismopt

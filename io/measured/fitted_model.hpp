#pragma once

/// The catalog's fit to measured runs (fit.toml): its constants, their covariance and the unexplained scatter.

#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A constant of one or more entries of the catalog's accelerators, stacks or links.
struct FittedConstant {
    std::string key;                   // "gemm"
    std::vector<std::string> entries;  // "a100-sxm-80gb", ...
    int rows = 0;                      // runs that it was fitted to
};

/// Kinds of runs whose errors differ in size.
enum class RunKind { dense, low_precision, mixture };
inline constexpr int run_kinds = 3;

/// Low precision takes precedence over dense and mixture.
RunKind kind_of(const Workload& workload);
const char* name(RunKind kind);

/// Number of mixture-of-experts runs in the fit, per accelerator and stack.
struct FittedMixtures {
    std::string accelerator;
    std::string stack;
    int rows = 0;
};

struct FittedModel {
    int rows = 0;
    std::vector<FittedMixtures> mixtures;
    std::vector<FittedConstant> constants;
    std::vector<double> covariance;  // [i * constants + j], of natural logarithms
    std::vector<double> scatter;     // [kind]: 95 % of |log(measured / predicted)| is within 1.96 times this
    double unmeasured = 0.0;         // additional scatter of accelerators whose efficiencies are taken from another one
};

/// Returns the number of runs that the accelerator's share of the peak was fitted to; 0: the entry is declared, from data sheets.
int rows_on(const FittedModel& model, const std::string& accelerator);

/// Reads the fit in the catalog. Throws InputError when fit.toml is not as jobs/fit_constants writes it.
FittedModel fitted_model();

/// Note on the runs behind the model interval of a mixture of experts, and on what it does not cover; empty for dense networks.
std::string mixtures_text(const FittedModel& model, const std::vector<const Workload*>& networks, const Cluster& cluster);

}  // namespace prismopt

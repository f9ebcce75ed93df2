#pragma once

/// What the catalog's fit (fit.toml) tells of its constants: which there are, how well they are known, and what they leave unexplained.

#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A constant of one or more entries of the catalog's accelerators, stacks or links.
struct FittedConstant {
    std::string key;                   // "gemm"
    std::vector<std::string> entries;  // "a100-sxm-80gb", ...
};

/// Kinds of runs whose errors differ in size.
enum class RunKind { dense, low_precision, mixture };
inline constexpr int run_kinds = 3;

/// Fewer than 16 bits first, whether dense or not.
RunKind kind_of(const Workload& workload);
const char* name(RunKind kind);

/// Runs of mixtures of experts among those of the fit.
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
    std::vector<double> scatter;     // [kind]: 1.96 times as much holds 95 % of |log(measured / predicted)|
    double unmeasured = 0.0;         // what accelerators add to it whose shares of the peak are not their own but another's
};

/// The catalog's. Throws InputError when fit.toml is not as jobs/fit_constants writes it.
FittedModel fitted_model();

/// What the fit's interval of a mixture of experts rests on, and what it does not cover; empty for dense networks.
std::string mixtures_text(const FittedModel& model, const std::vector<const Workload*>& networks, const Cluster& cluster);

}  // namespace prismopt

#pragma once

/// The catalog's fit to measured runs (fit.toml): its constants, their
/// covariance and the unexplained scatter.

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
enum class RunKind { dense, low_precision, moe, hybrid, encoder, recommendation, torus };
inline constexpr int run_kinds = 7;

/// Runs on a torus are of one kind, whatever they train. Elsewhere networks with embedding tables are
/// recommendation networks; those with convolutions of images or attention to later tokens are
/// encoders (U-Nets, BERT, T5); those with state-space layers or windows of attention are hybrids,
/// whatever else they have; mixtures of experts are mixtures in any precision; the other networks are
/// dense, or dense in low precision.
RunKind kind_of(const Workload& workload, const Cluster& cluster);
const char* name(RunKind kind);
const char* key(RunKind kind);  // in fit.toml

/// Number of mixture-of-experts runs in the fit, per accelerator and stack.
struct FittedMoe {
    std::string accelerator;
    std::string stack;
    int rows = 0;
};

/// Mean absolute relative error of some rows, share of them inside their 95 % intervals, and the
/// mean half-width of the intervals.
struct FamilyErrors {
    double error = 0.0;
    double inside = 0.0;
    double half_width = 0.0;
};

/// Rows of one kind in a family (a line of models within a source): errors of the fit of all rows,
/// and of a fit without the family.
struct HeldOutErrors {
    std::string source;
    std::string line;
    RunKind kind = RunKind::dense;
    bool known = false;  // accelerator and stack of each row occur in other families
    int rows = 0;
    FamilyErrors fitted;
    FamilyErrors held_out;
    double bias = 0.0;                    // mean signed error, held out
    std::vector<std::string> machines{};  // of the rows: accelerator and stack, "h100-sxm megatron-bridge"
};

struct FittedModel {
    int rows = 0;
    std::vector<FittedMoe> moe;
    std::vector<FittedConstant> constants;
    std::vector<double> covariance;  // [i * constants + j], of natural logarithms, if rows were independent
    // [kind]: factor of that variance that holds 95 % of rows left out of the fit
    std::vector<double> widening;
    std::vector<double> scatter;  // [kind]: 95 % of |log(measured / predicted)| is within 1.96 times this
    // additional scatter of accelerators whose efficiencies are taken from another one
    double unmeasured = 0.0;
    std::vector<HeldOutErrors> held_out;
};

/// The covariance of the logarithms of the constants for runs of a kind, widened.
std::vector<double> widened_covariance(const FittedModel& model, RunKind kind);

/// Returns the number of runs that the constant of this entry was fitted to; 0: none.
int rows_of(const FittedModel& model, const std::string& key, const std::string& entry);
/// The same for the accelerator's share of the peak; 0: the entry is declared, from data sheets.
int rows_on(const FittedModel& model, const std::string& accelerator);

/// Reads the fit in the catalog. Throws InputError when fit.toml is not as jobs/fit_constants writes it.
FittedModel fitted_model();

/// Note on the runs behind the model interval of a mixture of experts, and on what it does not
/// cover; empty for dense networks.
std::string moe_text(const FittedModel& model, const std::vector<const Workload*>& networks,
                     const std::vector<const Cluster*>& clusters);

}  // namespace prismopt

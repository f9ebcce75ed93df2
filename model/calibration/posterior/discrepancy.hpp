#pragma once

/// How measured step times deviate from predicted ones, beyond the uncertainty of the fitted constants.
/// docs/methods/posterior.md.
///
///     log(measured / predicted) = source + g . constants + delta(plan) + repeat
///
/// `source`: an effect common to all plans of a job on a cluster. `delta`: a Gaussian process over plans.
/// `repeat`: noise of repeated runs.

#include "model/calibration/posterior/memory_error.hpp"
#include "model/plan/plan.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// What of a plan decides how similar its error is to that of another.
struct PlanTraits {
    static constexpr std::array<std::string_view, 6> degree_names{"tp", "cp", "pp", "v", "ep", "microbatch"};
    static constexpr std::array<std::string_view, 3> kind_names{"schedule", "recompute", "sharding"};
    static constexpr std::size_t count = degree_names.size() + kind_names.size();
    static constexpr std::string_view name(std::size_t k)
    {
        return k < degree_names.size() ? degree_names[k] : kind_names[k - degree_names.size()];
    }

    std::array<double, degree_names.size()> degrees{};  // logarithms to base 2
    std::array<int, kind_names.size()> kinds{};

    auto operator<=>(const PlanTraits&) const = default;
};
PlanTraits traits_of(const ParallelPlan& plan);

/// How measured peak memory scatters about the predicted one.
struct MemoryScatter {
    int rows = 0;
    double deviation = 0.0;  // of the logarithm of measured over predicted
};

/// Standard deviations are of logarithms.
struct Discrepancy {
    double deviation = 0.0;  // of delta
    double source = 0.0;
    double repeat = 0.0;
    double memory = 0.0;          // of measured over predicted peak memory: common to the plans of a source
    double memory_of_plan = 0.0;  // the part that differs between plans
    std::map<std::string, MemoryScatter> memory_of_stack{};
    std::array<double, PlanTraits::count> lengths{};  // of the degrees, in octaves, then of the kinds
    int groups = 0;                                   // of measured plans that it was fitted to

    /// Of a plan that runs on this software stack. A stack without rows has those of all plans.
    MemoryScatter memory_on(const std::string& stack) const;
    /// Of a study on this stack before anything was tried: the scatter of memory_on(), of which as large a
    /// share is common to the plans as on all stacks.
    MemoryError memory_error_on(const std::string& stack) const;
};

/// Covariance of delta: deviation^2 exp(-sum over traits of |difference| / length); kinds differ by 0 or 1.
double covariance(const Discrepancy& discrepancy, const PlanTraits& a, const PlanTraits& b);

/// Measured plans of one job on one cluster.
struct MeasuredGroup {
    std::vector<PlanTraits> traits;  // [plan]
    std::vector<double> log_ratio;   // [plan]: log(measured / predicted)
    // [plan * plans + plan]: covariance of log(predicted) from the fitted constants
    std::vector<double> constants;
    double weight = 1.0;
};

/// Deviation of repeated measurements of one plan on one cluster: root of the mean over sources of their
/// pooled variances. `repeats`: [source][plan][repetition], logarithms. Zero if nothing is repeated.
double repeat_deviation(const std::vector<std::vector<std::vector<double>>>& repeats);

/// The discrepancy of largest marginal likelihood of the groups (Rasmussen and Williams, "Gaussian Processes
/// for Machine Learning", MIT Press 2006, section 5.4.1), with lognormal priors: lengths about 4 octaves,
/// `source` about 5 %. `repeat` is given.
Discrepancy fit_discrepancy(std::span<const MeasuredGroup> groups, double repeat);

}  // namespace prismopt

#pragma once

/// Sensitivity of a plan's times: the plan with something changed, on the same draws.

#include "model/base/estimate.hpp"
#include "model/base/parallel.hpp"
#include "model/distribution/noise_source.hpp"
#include "model/hardware_parameter.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

struct DrawRange;
struct Problem;
struct SamplerOptions;

/// Change: a source of noise removed.
struct Without {
    NoiseSource source;  // its distribution is replaced by its mean
};
/// Change: faster kernels.
struct Faster {
    KernelClass kernels = KernelClass::gemm;  // with all classes within it
    double speed = 1.0;                       // divides their mean times
};
/// Change: another value of a hardware parameter.
struct Turned {
    HardwareParameter parameter;
    double value = 0.0;  // SI
};
using PlanChange = std::variant<Without, Faster, Turned>;
using WhatIf = std::vector<PlanChange>;  // applied together; empty: the plan unchanged

enum class Figure { p50, p95, p99, spread, cv, training_p99, cost };
inline constexpr std::size_t figure_count = 7;
inline constexpr std::array<const char*, figure_count> figure_names{
    "p50", "p95", "p99", "p99_over_p50", "cv", "training_p99", "cost"};

/// Figures of a what-if: p50, p95, p99 (s), spread (p99 over p50) and cv of the step time in the first phase;
/// p99 of the run's time (s) and the cost of its GPUs until then (US dollars).
using Figures = std::array<double, figure_count>;

/// Outcome of one what-if.
struct Consequence {
    std::optional<Infeasible> infeasible;  // if set, the other members are empty
    Figures predicted{};                   // as by Predictor::summarise()
    Figures all{};                         // with smooth quantiles (jackknife.hpp), for differences
    std::vector<Figures> pseudo_values;    // of `all`, [section]; empty if there are too few draws
};

/// One term of combined(). The consequence belongs to its caller.
struct Term {
    double weight;
    const Consequence* consequence;
};
/// Returns the sum of weight * consequence: weights 1 and -1 for a difference; 1, -1, -1 and 1 for an
/// interaction. Limits by the jackknife over sections of the shared draws; infinite with fewer than 512
/// fleets. They do not cover slow modes that are as rare as the tail probability of the quantile.
Estimate combined(std::initializer_list<Term> terms, Figure figure, const Confidence& confidence = {});

/// Returns the kernel classes that the plan uses: those whose slowdown lengthens its noise-free
/// step. The plan must be feasible.
std::vector<KernelClass> kernel_classes_of(const Problem& problem, const ParallelPlan& plan);

/// Returns the outcomes of what-ifs of one plan on the same draws (common random numbers). What-ifs whose
/// sources of noise act on the graph alone are drawn together. The plan must be feasible unchanged. `range`:
/// from fleet 0, with at least two steps per fleet. `pause` is called several times per second; its
/// exceptions pass through.
std::vector<Consequence> consequences(
    const Problem& problem, const ParallelPlan& plan, const std::vector<WhatIf>& what_ifs,
    const DrawRange& range, const SamplerOptions& options, const Pause& pause = [] {});

}  // namespace prismopt

#pragma once

/// What moves a plan's times: the same draws of the plan with something changed, side by side.

#include "model/distribution/noise_source.hpp"
#include "model/knob.hpp"
#include "model/predictor.hpp"

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// Changes that a what-if is made of.
struct Without {
    NoiseSource source;  // its law made its mean
};
struct Faster {
    KernelClass kernels = KernelClass::gemm;  // and all within
    double speed = 1.0;                       // times as fast: their mean times divided by it
};
struct Turned {
    Knob knob;
    double value = 0.0;  // SI
};
using Change = std::variant<Without, Faster, Turned>;
using WhatIf = std::vector<Change>;  // all at once; empty: the plan as it is

enum class Figure { p50, p95, p99, spread, cv, training_p99, cost };
inline constexpr std::size_t figure_count = 7;
inline constexpr std::array<const char*, figure_count> figure_names{"p50", "p95",          "p99", "p99_over_p50",
                                                                    "cv",  "training_p99", "cost"};

/// Of the step of the first phase: p50, p95, p99 (s), spread (p99 over p50) and cv; of the run: p99 of its time (s), and what its GPUs
/// cost until then (US dollars).
using Figures = std::array<double, figure_count>;

/// What the draws of one what-if say.
struct Consequence {
    std::optional<Infeasible> infeasible;  // then nothing else
    Figures predicted{};                   // as Predictor::summarise() has them
    Figures all{};                         // with smooth quantiles (jackknife.hpp): what differences are taken of
    std::vector<Figures> pseudo_values;    // of `all`, by section; empty where draws are too few
};

/// sum of weight * consequence: 1 and -1 for a difference, 1, -1, -1 and 1 for an interaction. With limits by the jackknife over sections
/// of the shared draws: 512 fleets at least, else infinite. They know nothing of a slow mode as rare as the quantile is deep.
struct Term {
    double weight;
    const Consequence* consequence;
};
Estimate combined(std::initializer_list<Term> terms, Figure figure, const Confidence& confidence = {});

/// Classes that the plan has kernels of: its noise-free steps take longer where these do. The plan must be feasible.
std::vector<KernelClass> kernel_classes_of(const Problem& problem, const ParallelPlan& plan);

/// Outcomes of one plan on the same draws (common random numbers: they are keyed by what they are for). What-ifs whose sources of noise act on the graph alone share
/// their making. The plan must be feasible as it is.
/// `range`: from fleet 0; two steps a fleet at least, for the run.
std::vector<Consequence> consequences(const Problem& problem, const ParallelPlan& plan, const std::vector<WhatIf>& what_ifs,
                                      const DrawRange& range, const SamplerOptions& options);

}  // namespace prismopt

#pragma once

/// Effects of noise sources, kernels and hardware parameters on the times of a plan, as
/// `prismopt sensitivity` computes them.

#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"
#include "model/sensitivity.hpp"
#include "optimizer/sensitivity/hardware_worth.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

enum class EffectKind { variance, speed, hardware };
inline constexpr std::array<const char*, 3> effect_kind_names{"variance", "speed", "hardware"};

/// Changes of all figures.
using Differences = std::array<Estimate, figure_count>;

struct Effect {
    EffectKind kind = EffectKind::variance;
    std::string name;  // "gemm", "node", "cluster.bandwidth"
    WhatIf change;
    double cv = 0.0;  // of the removed distribution; of several, the largest
    Consequence consequence;
    Differences difference{};  // relative to the unchanged plan
};

struct Pair {
    std::size_t a = 0;  // places in `effects`
    std::size_t b = 0;
    std::optional<Infeasible> infeasible;
    Differences joint{};        // both, relative to the unchanged plan
    Differences interaction{};  // joint effect minus the two single effects: zero if effects add up
};

struct Sensitivity {
    Consequence plan;
    std::vector<Effect> effects;  // by kind, the largest change of p99 first
    std::vector<Pair> pairs;
    HardwareWorth worth;
};

struct SensitivityOptions {
    double percent = 10.0;  // by which kernels and hardware are made faster
    int pairs = 3;  // number of the strongest noise sources, and of the strongest other effects, to pair
    std::vector<std::string> only;  // names; empty: all
    int fleets = 2048;              // random samples of GPUs
    int steps = 2;  // drawn per fleet; at least two separate the variance of steps from that of fleets
};

/// Names that `only` accepts: all noise sources, kernel classes, kinds of collectives and
/// hardware parameters of the scenario.
std::vector<std::string> sensitivity_names(const Scenario& scenario);

/// Computes all effects. The plan must be feasible. Skips sources that do not vary, hardware
/// parameters without effect on time (memory, groups) and, unless `only` names them, kernel classes
/// without kernels in the plan or with the same kernels as one of their subclasses. Prices are those
/// of the [[knob]]s of the scenario. `pause`: as of consequences().
Sensitivity sensitivity(
    const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
    const SensitivityOptions& options, const SamplerOptions& sampler, const Pause& pause = [] {});

/// Unit in which the values of a hardware parameter are shown.
struct ParameterUnit {
    const char* name;
    double si;
};
ParameterUnit unit_of(HardwareTarget target);

/// Change of the p99 step time in seconds per unit of the hardware parameter.
double per_unit(const Effect& effect, const Cluster& cluster);
/// Change of the p99 step time in seconds per USD per GPU-hour that the change costs; nothing if it is free.
std::optional<double> per_dollar(const Effect& effect, const Cluster& cluster);

}  // namespace prismopt

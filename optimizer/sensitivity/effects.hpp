#pragma once

/// Which sources of noise, kernels and hardware knobs move a plan's times: what `prismopt sensitivity` computes.

#include "io/scenario/scenario.hpp"
#include "model/sensitivity.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

enum class EffectKind { variance, speed, hardware };
inline constexpr std::array<const char*, 3> effect_kind_names{"variance", "speed", "hardware"};

/// A figure's change, by what was changed.
using Differences = std::array<Estimate, figure_count>;

struct Effect {
    EffectKind kind = EffectKind::variance;
    std::string name;  // "gemm", "node", "cluster.bandwidth"
    WhatIf change;
    double cv = 0.0;  // of the law that was removed; of several, the largest
    Consequence consequence;
    Differences difference{};  // against the plan as it is
};

struct Pair {
    std::size_t a = 0;  // places in `effects`
    std::size_t b = 0;
    std::optional<Infeasible> infeasible;
    Differences joint{};        // both, against the plan as it is
    Differences interaction{};  // joint less the two alone: zero where effects add up
};

struct Sensitivity {
    Consequence plan;
    std::vector<Effect> effects;  // by kind, the largest change of p99 first
    std::vector<Pair> pairs;
};

struct SensitivityOptions {
    double percent = 10.0;          // by which kernels and hardware are made faster
    int pairs = 3;                  // of so many of the strongest sources of noise, and of the strongest of the others
    std::vector<std::string> only;  // names; empty: all
    DrawRange range{0, 2048, 2};
    SamplerOptions sampler;
};

/// What may be asked for by name: all sources of noise, kernel classes, kinds of collectives and knobs of the scenario.
std::vector<std::string> sensitivity_names(const Scenario& scenario);

/// The plan must be feasible. Sources that do not vary are left out, and so are knobs without effect on time (memory, groups) and, unless
/// they are asked for by name, classes that the plan has no kernels of, or the same ones as a class within them.
/// Knobs of the scenario bring their prices.
Sensitivity sensitivity(const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
                        const SensitivityOptions& options);

/// How a knob's values are shown.
struct KnobUnit {
    const char* name;
    double si;
};
KnobUnit unit_of(KnobTarget target);

/// Seconds of p99 for each unit by which the knob was raised.
double per_unit(const Effect& effect, const Cluster& cluster);
/// Seconds of p99 for each dollar an hour that the turn adds to a GPU; nothing where it is free.
std::optional<double> per_dollar(const Effect& effect, const Cluster& cluster);

}  // namespace prismopt

#pragma once

/// Inner loops of the sampler over a window of ops of a program, 64 fleets side by side.
///
/// fill_draws() draws the random part of each op, which is the same for all plans whose ops have the
/// same keys; run_window() runs the pipelines of the plans through the window. The draws thus serve
/// many plans and stay in the cache.

#include "model/distribution/noise_tables.hpp"
#include "model/schedule/program.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// One op in 64 draws. `compute` and `communication` are normal scores, to which the distributions of the
/// op are applied; or draws of the standard distribution itself if all plans of a window share it.
/// `transfer` is a factor of mean one.
struct OpDraws {
    Floats compute;
    Floats communication;
    Floats transfer;
};

/// Part of the random counter that a window has in common (model/base/random.hpp). It refers to the BlockStep
/// of its thread, and to the lot, which threads share.
struct DrawKeys {
    const FleetPhilox& philox;
    Purpose purpose = Purpose::search;
    std::uint32_t step_replica = 0;
    const std::uint16_t* first_slot = nullptr;  // [part]
};

/// Common properties of the plans of a window. `compute`, `communication`: the standard distributions of
/// all their ops; both or neither. They belong to the plans' graphs.
struct SharedDistributions {
    const StandardDistribution* compute = nullptr;
    const StandardDistribution* communication = nullptr;
    bool communicates = true;  // some op has collectives inside

    bool one_distribution() const { return compute != nullptr; }
};

/// Fills draws[i] for ops[i].
void fill_draws(std::span<const ProgramOp> ops, const DrawKeys& keys, const NoiseTables& noise,
                const SharedDistributions& shared, OpDraws* draws);

/// Durations of an op for run_window(): means and spreads in seconds, and standard distributions,
/// which belong to the plan's graph.
struct OpSpread {
    float compute_s = 0.0F;
    float compute_spread_s = 0.0F;
    float communication_s = 0.0F;
    float communication_spread_s = 0.0F;
    float transfer_s = 0.0F;
    const StandardDistribution* compute_distribution = nullptr;
    const StandardDistribution* communication_distribution = nullptr;
    int transfer_tier = 0;
};

/// One plan's pipeline in the middle of a step. Rows hold 64 draws. They belong to the PlanStep, the
/// BlockStep and the scratch of its thread; `distribution` belongs to the BoundPlan, which threads share.
struct PipelineRun {
    bool overlapped = true;                  // gradient collectives run beside compute
    const OpSpread* distribution = nullptr;  // [part * passes + pass]
    // All null if no factor varies:
    const Floats* compute_factor = nullptr;  // [stage * factor_rows], + microbatch if factor_rows is not one
    const Floats* communication_factor = nullptr;
    const Floats* transfer_factor = nullptr;  // [tier]
    int factor_rows = 1;
    // [microbatch], of each power one after the other; null: no such factor
    const Floats* microbatch = nullptr;
    // [part * passes + pass]: where the pass's power begins; null: there is one
    const std::uint32_t* first_of_power = nullptr;
    // Null if replicas exchange nothing:
    const Floats* gathered = nullptr;  // [part]: time at which its parameters are gathered
    const Floats* reduce = nullptr;    // [part]: duration of its gradient collective
    Floats* slot = nullptr;            // [slot]: ends of ops; zeros in Program::start
    Floats* gradients_end = nullptr;   // [stage]
};
/// Number of plans that go through a window together if ops share a distribution: each
/// draw is read once for all of them.
inline constexpr std::size_t plans_together = 4;
/// Runs the window's ops in each of the plans.
void run_window(std::span<const ProgramOp> ops, const OpDraws* draws, const SharedDistributions& shared,
                std::span<const PipelineRun* const> plans);

/// out = draws of the distribution at these words.
void standard_draws(const NormalScores& scores, const StandardDistribution& distribution, const Words& bits,
                    Floats& out);

}  // namespace prismopt

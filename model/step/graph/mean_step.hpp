#pragma once

/// Noise-free step: every duration at its mean.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/graph/step_summary.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

namespace prismopt {

/// Noise-free step time and its shares. It is a lower bound of the mean step time: the step is convex in its
/// durations, and factors are independent (Jensen). docs/methods/step-graph.md.
struct NoiseFreeStep {
    double step_s = 0.0;
    StepShares shares;
};
NoiseFreeStep noise_free_step(const ExecutionGraph& graph);

/// Collectives of data parallelism that a stage waits for in the noise-free step, and its part of the update.
struct StageEnds {
    double gathering_s = 0.0;  // before its first op
    double reduction_s = 0.0;  // after its last one
    double optimizer_s = 0.0;
};
/// Returns them by stage. The program must be whole.
std::vector<StageEnds> stage_ends(const ExecutionGraph& graph);

/// Returns the optimizer's time in the noise-free step.
double optimizer_time(const ExecutionGraph& graph);
/// Returns the factor of each stage in the noise-free step, [stage].
std::vector<double> mean_factors(const ExecutionGraph& graph);

/// Returns the time, [stage], between the arrival of a stage's parameters and its
/// first op in the noise-free step.
std::vector<float> idle_before(const ExecutionGraph& graph);

/// Run over the program with durations at their means: the recurrence shared by
/// noise_free_step() and critical_paths(). The graph must outlive it.
class MeanRun {
public:
    /// `slow_stage` takes `slowness` times as long; -1: none. `replica`: uses the known
    /// factors of that replica's nodes.
    MeanRun(const ExecutionGraph& graph, int slow_stage, double slowness,
            std::optional<int> replica = std::nullopt)
        : graph_(graph)
    {
        const auto stage_chunks = static_cast<std::size_t>(graph.stages()) * graph.chunks();
        duration_.resize(stage_chunks * graph.passes());
        for (std::size_t i = 0; i < duration_.size(); ++i) {
            const int stage = static_cast<int>(i) / graph.passes() / graph.chunks();
            const double factor = replica ? graph.mean_factor(*replica, stage) : graph.group_mean;
            duration_[i] =
                mean_duration(graph.distribution[i], factor * (stage == slow_stage ? slowness : 1.0));
        }
        gate_.resize(stage_chunks);
        for (int stage = 0; stage < graph.stages(); ++stage) {
            double gathered = 0.0;
            for (int c = 0; c < graph.chunks(); ++c) {
                gathered += static_cast<double>(graph.gathering[stage * graph.chunks() + c].exposed());
                gate_[stage * graph.chunks() + c] = gathered;
            }
            if (graph.dp_overlap == DataParallelOverlap::off) {
                std::fill_n(gate_.begin() + static_cast<std::ptrdiff_t>(stage) * graph.chunks(),
                            graph.chunks(), gathered);
            }
        }
    }

    /// Calls step(op index, op, start, end, fed) for each op of a whole program. `fed`: the op waited
    /// for its input, not for its stage.
    template <class Step>
    void run(Step&& step)
    {
        assert(graph_.program->slots > 0);
        begin();
        slot_end_.assign(graph_.program->slots, 0.0);
        for (std::size_t i = 0; i < graph_.program->ops.size(); ++i) {
            const ProgramOp& op = graph_.program->ops[i];
            const OpTimes times = run_op(op, op.in == Program::start ? nullptr : &slot_end_[op.in]);
            slot_end_[op.out] = times.end;
            step(i, op, times.start, times.end, times.fed);
        }
        finish();
    }

    /// Runs to the same ends up to rounding, but skips repetitions once each delays all ends by the same
    /// time, because all further ones do, too (docs/methods/step-graph.md). Returns the number of ops that it
    /// ran; nothing if the program lacks repetitions that cannot be skipped.
    std::optional<std::size_t> run_skipping();

    /// Runs until each stage has begun. Returns the time, [stage], between the arrival of
    /// its parameters and its first op.
    std::vector<float> idle_before();

    /// Returns the time of the stage's ops without waiting.
    std::vector<double> busy() const;

    double gradients_end(int stage) const { return gradients_end_[stage]; }
    /// Returns the time from the beginning of the stage's step until its gradients are reduced.
    double step_end(int stage) const
    {
        return graph_.ahead_s.empty() ? gradients_end_[stage]
                                      : gradients_end_[stage] - static_cast<double>(graph_.ahead_s[stage]);
    }
    double stage_end(int stage) const { return stage_end_[stage]; }
    double gate(int stage_chunk) const { return gate_[stage_chunk]; }

private:
    struct OpTimes {
        double start = 0.0;
        double end = 0.0;
        bool fed = false;
    };

    void begin()
    {
        stage_end_.assign(graph_.stages(), 0.0);
        gradients_end_.assign(graph_.stages(), 0.0);
    }

    /// `feeder_end`: of the op that feeds it; null: there is none.
    OpTimes run_op(const ProgramOp& op, const double* feeder_end)
    {
        OpTimes times{.start = stage_end_[op.stage]};
        if (op.first_of_chunk) {
            times.start = std::max(times.start, gate_[op.stage_chunk]);
        }
        if (feeder_end != nullptr) {
            const double arrival =
                *feeder_end + static_cast<double>(graph_.distribution[op.distribution].transfer_s);
            times.fed = arrival > times.start;
            times.start = std::max(times.start, arrival);
        }
        times.end = times.start + duration_[op.distribution];
        stage_end_[op.stage] = times.end;
        if (op.last_of_chunk) {
            const auto reduce = static_cast<double>(graph_.reduction[op.stage_chunk].exposed());
            double& gradients = gradients_end_[op.stage];
            gradients = graph_.dp_overlap == DataParallelOverlap::on ? std::max(gradients, times.end) + reduce
                                                                     : gradients + reduce;
        }
        return times;
    }

    void finish()
    {
        for (int stage = 0; graph_.dp_overlap == DataParallelOverlap::off && stage < graph_.stages();
             ++stage) {
            gradients_end_[stage] += stage_end_[stage];
        }
    }

    static double mean_duration(const OpDistribution& distribution, double factor)
    {
        return static_cast<double>(distribution.compute_s) * factor +
               static_cast<double>(distribution.communication_s);
    }

    const ExecutionGraph& graph_;
    std::vector<double> duration_;  // [part * passes + pass]
    std::vector<double> gate_;      // [part]: time at which its parameters are gathered
    std::vector<double> stage_end_;
    std::vector<double> gradients_end_;  // [stage]: end of its reductions
    std::vector<double> slot_end_;
};

}  // namespace prismopt

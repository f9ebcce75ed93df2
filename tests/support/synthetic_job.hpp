#pragma once

/// Synthetic traces of a job with known variance: GPipe, transfers that wait for both ends, a
/// gradient reduction, an optimizer.

#include "model/calibration/trace/trace.hpp"
#include "tests/support/test_names.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace prismopt {

/// Shape of a synthetic job, and standard deviations of the logarithms of its factors.
struct SyntheticJob {
    int replicas = 4;
    int stages = 2;
    int microbatches = 4;
    int steps = 1000;
    double step = 0.0;
    double gpu = 0.0;
    double stage = 0.0;
    double microbatch = 0.0;
    double residual = 0.01;
    double communication = 0.0;       // of each transfer and collective
    double communication_step = 0.0;  // shared by all transfers and collectives of a step
    double position = 0.0;       // relative increase of a microbatch's transfers over those of the one before
    double slow_clip = 0.0;      // relative increase of the optimizer in every third step, on all workers
    double drift = 0.0;          // of an autoregressive part of the step's factor
    double drift_steps = 100.0;  // its correlation time in steps
    double slow_worker = 0.0;    // relative slowness of replica 1's stage 1
    double slow_backward = 0.0;  // the same for its backward passes alone, in addition
    std::vector<double> forward_exponent{};   // of the microbatch's factor, by stage; empty: one
    std::vector<double> backward_exponent{};  // ... of backward passes
    double long_stage = 0.0;                  // relative additional work of the last stage
    double long_sequences = 0.0;              // share of microbatches that take twice as long
};

/// Generator of traces.
class SyntheticTrace {
public:
    SyntheticTrace(const SyntheticJob& job, unsigned seed) : job_(job), generator_(seed)
    {
        trace_.source = "synthetic";
        for (int dp = 0; dp < job.replicas; ++dp) {
            for (int stage = 0; stage < job.stages; ++stage) {
                trace_.worker_index({dp, stage});
                gpu_.push_back(job.gpu * normal() +
                               (dp == 1 && stage == 1 ? std::log1p(job.slow_worker) : 0.0));
            }
        }
    }

    /// Returns the next SyntheticJob::steps steps of the job, on the same GPUs.
    Trace next()
    {
        trace_.ops.clear();
        for (int t = 0; t < job_.steps; ++t) {
            run_step(step_++);
        }
        sort_by_start(trace_);
        return trace_;
    }

private:
    std::size_t place(int dp, int stage) const
    {
        return static_cast<std::size_t>(dp) * static_cast<std::size_t>(job_.stages) +
               static_cast<std::size_t>(stage);
    }
    double normal() { return normal_(generator_); }
    static double exponent(const std::vector<double>& exponents, int stage)
    {
        return exponents.empty() ? 1.0 : exponents[static_cast<std::size_t>(stage)];
    }
    double& clock(int dp, int stage) { return clock_[place(dp, stage)]; }

    void add(int dp, int stage, const std::string& kind, int sequence, int microbatch, double start,
             double duration)
    {
        TraceOp op;
        op.step = step_now_;
        op.worker = trace_.worker_index({dp, stage});
        op.kind = trace_.kind_index(kind, test_names());
        op.sequence = sequence;
        op.microbatch = static_cast<std::int16_t>(microbatch);
        op.start_s = start;
        op.duration_s = static_cast<float>(duration);
        op.line = static_cast<std::uint32_t>(trace_.ops.size() + 2);
        trace_.ops.push_back(op);
    }

    double communication(double mean)
    {
        return mean * std::exp(job_.communication * normal() + communication_step_);
    }

    void compute(int dp, int stage, const std::string& kind, double mean, int microbatch, double effect)
    {
        const double duration = mean * std::exp(effect + job_.residual * normal());
        add(dp, stage, kind, microbatch, microbatch, clock(dp, stage), duration);
        clock(dp, stage) += duration;
    }

    void exchange(int dp, int from, int to, const std::string& what, int microbatch)
    {
        const double start = std::max(clock(dp, from), clock(dp, to));
        const double duration = communication(0.002 * (1.0 + job_.position * microbatch));
        add(dp, from, what + "-send", microbatch, -1, start, duration);
        add(dp, to, what + "-recv", microbatch, -1, start, duration);
        clock(dp, from) = start + duration;
        clock(dp, to) = start + duration;
    }

    void run_step(int step)
    {
        step_now_ = step;
        clock_.assign(place(job_.replicas, 0), 0.0);
        const double memory = std::exp(-1.0 / job_.drift_steps);
        drift_ = step == 0 ? job_.drift * normal()
                           : memory * drift_ + job_.drift * std::sqrt(1.0 - memory * memory) * normal();
        const double common = job_.step * normal() + drift_;
        communication_step_ = job_.communication_step > 0.0 ? job_.communication_step * normal() : 0.0;
        for (int dp = 0; dp < job_.replicas; ++dp) {
            run_replica(dp, common);
        }
        for (int stage = 0; stage < job_.stages; ++stage) {
            double start = 0.0;
            for (int dp = 0; dp < job_.replicas; ++dp) {
                start = std::max(start, clock(dp, stage));
            }
            const double duration = communication(0.05);
            for (int dp = 0; dp < job_.replicas; ++dp) {
                add(dp, stage, "grads-reduce-scatter", 0, -1, start, duration);
                clock(dp, stage) = start + duration;
                add(dp, stage, "optimizer", 0, -1, clock(dp, stage),
                    0.01 * (step % 3 == 0 ? 1.0 + job_.slow_clip : 1.0));
            }
        }
    }

    void run_replica(int dp, double common)
    {
        std::vector<double> stage_effect;
        stage_effect.reserve(static_cast<std::size_t>(job_.stages));
        for (int stage = 0; stage < job_.stages; ++stage) {
            stage_effect.push_back(common + job_.stage * normal() + gpu_[place(dp, stage)]);
        }
        std::vector<double> microbatch_effect;
        microbatch_effect.reserve(static_cast<std::size_t>(job_.microbatches));
        for (int m = 0; m < job_.microbatches; ++m) {
            const bool is_long = uniform_(generator_) < job_.long_sequences;
            microbatch_effect.push_back(job_.microbatch * normal() + (is_long ? std::log(2.0) : 0.0));
        }
        const auto work = [&](int stage) { return stage == job_.stages - 1 ? 1.0 + job_.long_stage : 1.0; };
        for (int m = 0; m < job_.microbatches; ++m) {
            for (int stage = 0; stage < job_.stages; ++stage) {
                compute(dp, stage, "forward-compute", 0.05 * work(stage), m,
                        stage_effect[static_cast<std::size_t>(stage)] +
                            exponent(job_.forward_exponent, stage) *
                                microbatch_effect[static_cast<std::size_t>(m)]);
                if (stage + 1 < job_.stages) {
                    exchange(dp, stage, stage + 1, "forward", m);
                }
            }
        }
        for (int m = 0; m < job_.microbatches; ++m) {
            for (int stage = job_.stages - 1; stage >= 0; --stage) {
                const double slow = dp == 1 && stage == 1 ? std::log1p(job_.slow_backward) : 0.0;
                compute(dp, stage, "backward-compute", 0.1 * work(stage), m,
                        stage_effect[static_cast<std::size_t>(stage)] + slow +
                            exponent(job_.backward_exponent, stage) *
                                microbatch_effect[static_cast<std::size_t>(m)]);
                if (stage > 0) {
                    exchange(dp, stage, stage - 1, "backward", m);
                }
            }
        }
    }

    SyntheticJob job_;
    std::mt19937_64 generator_;
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    Trace trace_;
    std::vector<double> gpu_;  // [dp * stages + stage]
    std::vector<double> clock_;
    double drift_ = 0.0;
    double communication_step_ = 0.0;
    int step_ = 0;
    int step_now_ = 0;
};

}  // namespace prismopt

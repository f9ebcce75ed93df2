#pragma once

/// A job simulated GPU by GPU and kernel by kernel, in double precision, with the standard
/// library's random numbers: nothing of the sampler's but the order of the schedule's tasks. One
/// draw is one step of a new fleet.

#include "model/plan/coupling.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {

struct BruteForceKernel {
    double seconds = 0.0;
    double cv = 0.0;  // lognormal
};

struct BruteForceSegment {
    std::vector<BruteForceKernel> kernels;
    Meeting end = Meeting::tensor;  // who waits for each other at its end
};
using BruteForceLayer = std::vector<BruteForceSegment>;

/// A pass over a chunk, from the input's arrival.
struct BruteForcePass {
    std::vector<BruteForceLayer> layers;
    double communication_s = 0.0;  // constant, after its compute
    double transfer_s = 0.0;       // of its input
};

struct BruteForceJob {
    ScheduleShape shape;
    BarrierWidths widths;
    int replicas = 1;
    std::vector<BruteForcePass> passes;  // [stage_chunk * 2 + pass]
    std::vector<double> gather_s;        // [stage_chunk]: of a chunk's parameters, before its first forward
    std::vector<double> reduce_s;        // [stage_chunk]: of a chunk's gradients, after its last backward
    double optimizer_s = 0.0;
    bool overlapped = true;
    /// Where replicas synchronise by pass: they gather each layer while they compute the one before, so
    /// none is more than that ahead of the slowest; seconds of such a gather. All wait for the
    /// reductions after a backward pass.
    double layer_gather_s = 0.0;

    double gpu_cv = 0.0;  // normal
    double slow_probability = 0.0;
    double slow_excess = 0.0;
    double stage_cv = 0.0;       // lognormal
    double microbatch_cv = 0.0;  // lognormal
};

class BruteForce {
public:
    BruteForce(const BruteForceJob& job, std::uint64_t seed)
        : job_(job), orders_(std::get<TaskOrders>(task_orders(job.shape))),
          members_(count(job.widths.replicas())), contexts_(count(job.widths.context)),
          tensor_(count(job.widths.tensor)), stages_(count(job.shape.stages)),
          chunks_(count(job.shape.chunks)), microbatches_(count(job.shape.microbatches)), random_(seed)
    {
    }

    double step_s()
    {
        // Ends of last backwards, latest over all sets: each gradient collective
        // has all replicas as its members.
        latest_.assign(stages_ * chunks_, 0.0);
        slowest_gpu_ = 0.0;
        for (int set = 0; set < job_.replicas / job_.widths.replicas(); ++set) {
            run_set();
        }
        double step = 0.0;
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            // In the order in which they end.
            std::vector<std::size_t> stage_chunks;
            for (std::size_t stage_chunk = stage * chunks_; stage_chunk < (stage + 1) * chunks_;
                 ++stage_chunk) {
                stage_chunks.push_back(stage_chunk);
            }
            std::sort(stage_chunks.begin(), stage_chunks.end(),
                      [this](std::size_t a, std::size_t b) { return latest_[a] < latest_[b]; });
            double done = job_.overlapped ? 0.0 : latest_[stage_chunks.back()];
            for (const std::size_t stage_chunk : stage_chunks) {
                done = std::max(done, latest_[stage_chunk]) + job_.reduce_s[stage_chunk];
            }
            step = std::max(step, done);
        }
        return step + job_.optimizer_s * slowest_gpu_;
    }

private:
    static std::size_t count(int n) { return static_cast<std::size_t>(n); }
    using Times = std::vector<double>;  // by member of a set

    double normal() { return normal_(random_); }
    double lognormal(double cv)
    {
        if (cv == 0.0) {
            return 1.0;
        }
        const double deviation = std::sqrt(std::log1p(cv * cv));
        return std::exp(deviation * normal() - 0.5 * deviation * deviation);
    }

    double gpu()
    {
        const bool slow = std::uniform_real_distribution<double>()(random_) < job_.slow_probability;
        const double factor = (1.0 + job_.gpu_cv * normal()) * (slow ? 1.0 + job_.slow_excess : 1.0) /
                              (1.0 + job_.slow_probability * job_.slow_excess);
        slowest_gpu_ = std::max(slowest_gpu_, factor);
        return factor;
    }

    /// All ops of one coupled set, in any order in which inputs exist.
    void run_set()
    {
        gpu_.clear();
        for (std::size_t i = 0; i < members_ * stages_ * contexts_ * tensor_; ++i) {
            gpu_.push_back(gpu());
        }
        stage_.clear();
        for (std::size_t i = 0; i < members_ * stages_; ++i) {
            stage_.push_back(lognormal(job_.stage_cv));
        }
        microbatch_.clear();
        for (std::size_t i = 0; i < members_ * microbatches_; ++i) {
            microbatch_.push_back(lognormal(job_.microbatch_cv));
        }
        std::vector<Times> end(2 * stages_ * chunks_ * microbatches_);  // empty: not yet known
        const auto place = [&](Pass pass, std::size_t stage_chunk, int microbatch) {
            return (stage_chunk * 2 + static_cast<std::size_t>(pass)) * microbatches_ + count(microbatch);
        };
        std::vector<std::size_t> next(stages_, 0);
        std::vector<Times> free(stages_, Times(members_, 0.0));
        gathered_.assign(stages_, 0.0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < stages_; ++stage) {
                while (next[stage] < orders_[stage].size()) {
                    const Task& task = orders_[stage][next[stage]];
                    const std::size_t k = count(task.chunk) * stages_ + stage;  // place in the network
                    const std::size_t stage_chunk = stage * chunks_ + count(task.chunk);
                    const bool forward = task.pass == Pass::forward;
                    const BruteForcePass& pass =
                        job_.passes[stage_chunk * 2 + static_cast<std::size_t>(task.pass)];
                    const Times* input = nullptr;
                    if (forward ? k > 0 : k + 1 < stages_ * chunks_) {
                        const std::size_t from = forward ? k - 1 : k + 1;
                        input = &end[place(task.pass, from % stages_ * chunks_ + from / stages_,
                                           task.microbatch)];
                        if (input->empty()) {
                            break;
                        }
                    }
                    Times& clock = free[stage];
                    for (std::size_t member = 0; member < members_; ++member) {
                        clock[member] =
                            std::max(clock[member], forward ? parameters(stage, count(task.chunk)) : 0.0);
                        clock[member] = std::max(clock[member],
                                                 input == nullptr ? 0.0 : (*input)[member] + pass.transfer_s);
                    }
                    run(pass, stage, count(task.microbatch), task.pass, clock);
                    end[place(task.pass, stage_chunk, task.microbatch)] = clock;
                    if (!forward) {
                        latest_[stage_chunk] =
                            std::max(latest_[stage_chunk], *std::max_element(clock.begin(), clock.end()));
                    }
                    ++next[stage];
                    moved = true;
                }
            }
        }
    }

    /// When a chunk's parameters are there.
    double parameters(std::size_t stage, std::size_t chunk) const
    {
        double sum = 0.0;
        for (std::size_t c = 0; c < (job_.overlapped ? chunk + 1 : chunks_); ++c) {
            sum += job_.gather_s[stage * chunks_ + c];
        }
        return sum;
    }

    static void synchronise(Times& clock, std::size_t first, std::size_t number)
    {
        const auto begin = clock.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(number);
        std::fill(begin, end, *std::max_element(begin, end));
    }
    static void synchronise_groups(Times& clock, std::size_t size)
    {
        for (std::size_t first = 0; first < clock.size(); first += size) {
            synchronise(clock, first, size);
        }
    }

    void run(const BruteForcePass& pass, std::size_t stage, std::size_t microbatch, Pass direction,
             Times& clock)
    {
        Times groups;  // of tensor parallel groups, [member * contexts + context]
        for (const double start : clock) {
            groups.insert(groups.end(), contexts_, start);
        }
        for (const BruteForceLayer& layer : pass.layers) {
            if (job_.widths.pass > 1) {
                for (double& time : groups) {
                    time = std::max(time, gathered_[stage]);
                }
                gathered_[stage] = *std::max_element(groups.begin(), groups.end()) + job_.layer_gather_s;
            }
            for (const BruteForceSegment& segment : layer) {
                for (std::size_t group = 0; group < groups.size(); ++group) {
                    groups[group] += seconds(segment, stage, microbatch, group);
                }
                if (segment.end != Meeting::tensor) {
                    synchronise_groups(groups, contexts_ * (segment.end == Meeting::experts
                                                                ? count(job_.widths.experts)
                                                                : 1));
                }
            }
            if (job_.widths.layer > 1) {
                synchronise_groups(groups, contexts_ * count(job_.widths.experts * job_.widths.layer));
            }
        }
        synchronise_groups(groups, contexts_);
        if (job_.widths.pass > 1 && direction == Pass::backward) {
            synchronise_groups(groups, groups.size());
        }
        for (std::size_t member = 0; member < members_; ++member) {
            clock[member] = groups[member * contexts_] + pass.communication_s;
        }
    }

    double seconds(const BruteForceSegment& segment, std::size_t stage, std::size_t microbatch,
                   std::size_t group)
    {
        const std::size_t member = group / contexts_;
        double slowest = 0.0;
        for (std::size_t i = 0; i < tensor_; ++i) {
            double work = 0.0;
            for (const BruteForceKernel& kernel : segment.kernels) {
                work += kernel.seconds * lognormal(kernel.cv);
            }
            slowest = std::max(slowest, gpu_[(stage * members_ * contexts_ + group) * tensor_ + i] * work);
        }
        return slowest * stage_[member * stages_ + stage] * microbatch_[member * microbatches_ + microbatch];
    }

    BruteForceJob job_;
    TaskOrders orders_;
    std::size_t members_;   // of a set
    std::size_t contexts_;  // tensor parallel groups of a replica
    std::size_t tensor_;
    std::size_t stages_;
    std::size_t chunks_;
    std::size_t microbatches_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    std::vector<double> gpu_;         // [((stage * members + member) * contexts + context) * tensor + i]
    std::vector<double> stage_;       // [member * stages + stage]
    std::vector<double> microbatch_;  // [member * microbatches + microbatch]
    std::vector<double> latest_;      // [part]
    std::vector<double> gathered_;    // [stage]: when the parameters of the next layer are there
    double slowest_gpu_ = 0.0;
};

}  // namespace prismopt

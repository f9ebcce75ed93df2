#pragma once

/// A job simulated GPU by GPU and kernel by kernel, in double precision, with the standard library's random numbers: nothing of
/// the sampler's but the order of the schedule's tasks. One draw is one step of a new fleet.

#include "model/step/schedule.hpp"

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

/// Equal layers; a pass is a list of segments, at the end of each of which all members meet.
struct BruteForceJob {
    ScheduleShape shape;
    int tp = 1;
    int replicas = 1;
    int coupled = 1;  // consecutive replicas that meet in every segment
    int layers = 1;   // of a chunk
    std::vector<std::vector<BruteForceKernel>> forward;
    std::vector<std::vector<BruteForceKernel>> backward;
    double transfer_s = 0.0;
    double gather_s = 0.0;  // of a chunk's parameters, before its first forward
    double reduce_s = 0.0;  // of a chunk's gradients, after its last backward
    bool overlapped = true;

    double gpu_cv = 0.0;  // normal
    double slow_probability = 0.0;
    double slow_excess = 0.0;
    double stage_cv = 0.0;       // lognormal
    double microbatch_cv = 0.0;  // lognormal
};

class BruteForce {
public:
    BruteForce(const BruteForceJob& job, std::uint64_t seed)
        : job_(job), orders_(std::get<TaskOrders>(task_orders(job.shape))), random_(seed)
    {
    }

    double step_s()
    {
        const auto stages = static_cast<std::size_t>(job_.shape.stages);
        const auto chunks = static_cast<std::size_t>(job_.shape.chunks);
        // Ends of last backwards, latest over all sets: each gradient collective has all replicas as its members.
        latest_.assign(stages * chunks, 0.0);
        for (int set = 0; set < job_.replicas / job_.coupled; ++set) {
            run_set();
        }
        double step = 0.0;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            std::vector<double> ready(latest_.begin() + static_cast<std::ptrdiff_t>(stage * chunks),
                                      latest_.begin() + static_cast<std::ptrdiff_t>((stage + 1) * chunks));
            std::sort(ready.begin(), ready.end());
            double done = job_.overlapped ? 0.0 : ready.back();
            for (const double time : ready) {
                done = std::max(done, time) + job_.reduce_s;
            }
            step = std::max(step, done);
        }
        return step;
    }

private:
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
        return (1.0 + job_.gpu_cv * normal()) * (slow ? 1.0 + job_.slow_excess : 1.0) /
               (1.0 + job_.slow_probability * job_.slow_excess);
    }

    /// All ops of one coupled set, in any order in which inputs exist.
    void run_set()
    {
        const auto stages = static_cast<std::size_t>(job_.shape.stages);
        const auto chunks = static_cast<std::size_t>(job_.shape.chunks);
        const auto microbatches = static_cast<std::size_t>(job_.shape.microbatches);
        const auto members = static_cast<std::size_t>(job_.coupled);
        const auto tp = static_cast<std::size_t>(job_.tp);
        gpu_.clear();
        for (std::size_t i = 0; i < members * stages * tp; ++i) {
            gpu_.push_back(gpu());
        }
        stage_.clear();
        for (std::size_t i = 0; i < members * stages; ++i) {
            stage_.push_back(lognormal(job_.stage_cv));
        }
        microbatch_.clear();
        for (std::size_t i = 0; i < members * microbatches; ++i) {
            microbatch_.push_back(lognormal(job_.microbatch_cv));
        }
        constexpr double unknown = -1.0;
        std::vector<double> end(2 * stages * chunks * microbatches, unknown);
        const auto place = [&](Pass pass, std::size_t part, int microbatch) {
            return (part * 2 + static_cast<std::size_t>(pass)) * microbatches + static_cast<std::size_t>(microbatch);
        };
        std::vector<std::size_t> next(stages, 0);
        std::vector<double> free(stages, 0.0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < stages; ++stage) {
                while (next[stage] < orders_[stage].size()) {
                    const Task& task = orders_[stage][next[stage]];
                    const auto chunk = static_cast<std::size_t>(task.chunk);
                    const bool forward = task.pass == Pass::forward;
                    const std::size_t k = chunk * stages + stage;  // place in the network
                    const std::size_t last = stages * chunks - 1;
                    double start = free[stage];
                    if (forward) {
                        start = std::max(start, job_.gather_s * static_cast<double>(job_.overlapped ? chunk + 1 : chunks));
                    }
                    if (forward ? k > 0 : k < last) {
                        const std::size_t from = forward ? k - 1 : k + 1;
                        const double input = end[place(task.pass, from % stages * chunks + from / stages, task.microbatch)];
                        if (input == unknown) {
                            break;
                        }
                        start = std::max(start, input + job_.transfer_s);
                    }
                    const std::size_t part = stage * chunks + chunk;
                    free[stage] = start + duration(stage, static_cast<std::size_t>(task.microbatch), forward);
                    end[place(task.pass, part, task.microbatch)] = free[stage];
                    if (!forward) {
                        latest_[part] = std::max(latest_[part], free[stage]);
                    }
                    ++next[stage];
                    moved = true;
                }
            }
        }
    }

    double duration(std::size_t stage, std::size_t microbatch, bool forward)
    {
        const auto stages = static_cast<std::size_t>(job_.shape.stages);
        const auto microbatches = static_cast<std::size_t>(job_.shape.microbatches);
        double sum = 0.0;
        for (int layer = 0; layer < job_.layers; ++layer) {
            for (const auto& segment : forward ? job_.forward : job_.backward) {
                double slowest = 0.0;
                for (std::size_t member = 0; member < static_cast<std::size_t>(job_.coupled); ++member) {
                    const double known = stage_[member * stages + stage] * microbatch_[member * microbatches + microbatch];
                    for (std::size_t i = 0; i < static_cast<std::size_t>(job_.tp); ++i) {
                        double work = 0.0;
                        for (const BruteForceKernel& kernel : segment) {
                            work += kernel.seconds * lognormal(kernel.cv);
                        }
                        const double own = gpu_[(member * stages + stage) * static_cast<std::size_t>(job_.tp) + i];
                        slowest = std::max(slowest, known * own * work);
                    }
                }
                sum += slowest;
            }
        }
        return sum;
    }

    BruteForceJob job_;
    TaskOrders orders_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    std::vector<double> gpu_;         // [(member * stages + stage) * tp + i]
    std::vector<double> stage_;       // [member * stages + stage]
    std::vector<double> microbatch_;  // [member * microbatches + microbatch]
    std::vector<double> latest_;      // [part]
};

}  // namespace prismopt

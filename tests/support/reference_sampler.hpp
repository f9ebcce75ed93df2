#pragma once

/// The slow, obvious judge of the sampler: one draw at a time, in double precision, every replica op by op,
/// times found by asking for what an op waits for. Uses the same keys and tables, so it must agree draw by
/// draw, to single precision, with a sampler that simulates all replicas.

#include "model/base/random.hpp"
#include "model/schedule/schedule.hpp"
#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/sampler.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace prismopt {

class ReferenceStep {
public:
    ReferenceStep(const ExecutionGraph& graph, const NoiseTables& noise, const SamplerOptions& options,
                  std::uint32_t fleet, std::uint32_t step)
        : graph_(graph), noise_(noise), options_(options), fleet_(fleet), step_(step),
          orders_(std::get<TaskOrders>(task_orders(graph.program->shape)))
    {
        const auto common = strata(step_, shared_by_replicas, 0, Stream::common);
        common_compute_ = noise.common_compute(common[0]);
        common_communication_ = noise.common_communication(common[1]);
        common_compute_ *= static_cast<double>(noise.site(strata(0, shared_by_replicas, 0, Stream::site)[0]));
    }

    double seconds()
    {
        double last_gradient = 0.0;
        double optimizer = 0.0;
        for (int replica = 0; replica < graph_.placement.replicas; ++replica) {
            replica_ = replica;
            end_.clear();
            for (int stage = 0; stage < graph_.stages(); ++stage) {
                last_gradient = std::max(last_gradient, gradients_end(stage));
                optimizer = std::max(optimizer, static_cast<double>(graph_.optimizer_s[stage]) *
                                                    persistent_factor(stage));
            }
        }
        return last_gradient + optimizer + static_cast<double>(graph_.outer_s);
    }

private:
    std::array<std::uint32_t, 4> words(std::uint32_t step, std::uint32_t replica, std::uint32_t event,
                                       Stream stream, std::uint32_t kind = 0) const
    {
        return philox(options_.seed,
                      {fleet_, step_replica(step, replica), event, use(stream, options_.purpose, kind)});
    }
    std::array<std::uint32_t, 4> strata(std::uint32_t step, std::uint32_t replica, std::uint32_t event,
                                        Stream stream) const
    {
        auto w = words(step, replica, event, stream);
        if (options_.sampling == Sampling::stratified) {
            const auto kind = static_cast<std::uint32_t>(stream);
            const auto keys = philox(options_.seed, {fleet_ / block_fleets, step_replica(step, replica),
                                                     event, use(Stream::strata, options_.purpose, kind)});
            for (std::size_t i = 0; i < w.size(); ++i) {
                w[i] = stratified(w[i], keys[i], fleet_ % block_fleets);
            }
        }
        return w;
    }
    std::uint32_t own() const { return static_cast<std::uint32_t>(replica_); }

    double node_factor(int node) const
    {
        const auto n = static_cast<std::uint32_t>(node);
        return noise_.node(words(0, shared_by_replicas, n / 4, Stream::node)[n % 4]);
    }

    /// Of the slowest node: a known factor is of the node and its GPUs, else both are drawn.
    double persistent_factor(int stage) const
    {
        const Placement& at = graph_.placement;
        const auto group = static_cast<std::uint32_t>(at.group(replica_, stage));
        const double gpus = graph_.group(words(0, shared_by_replicas, group / 4, Stream::gpu)[group % 4]);
        const int first = at.gpu(replica_, stage) / at.gpus_per_node;
        const int last = (at.gpu(replica_, stage) + at.tp - 1) / at.gpus_per_node;
        double slowest = 0.0;
        for (int node = first; node <= last; ++node) {
            slowest = std::max(slowest, graph_.drawn(node) ? gpus * node_factor(node)
                                                           : static_cast<double>(graph_.node[node]));
        }
        return slowest * common_compute_;
    }

    /// Of the microbatch factor, to the power of the pass and the part of the pipeline.
    const QuantileTable& microbatch_table(int stage, const Task& task) const
    {
        const MicrobatchPowers& powers = noise_.microbatch_powers;
        const ScheduleShape& shape = graph_.program->shape;
        return powers.tables.empty()
                   ? noise_.microbatch
                   : powers.tables[powers.index(is_forward(task.pass),
                                                network_chunk_of(shape, {stage, task.chunk}),
                                                shape.stages * shape.chunks)];
    }

    double compute_factor(int stage, const Task& task) const
    {
        const auto s = static_cast<std::uint32_t>(stage);
        const auto mb = static_cast<std::uint32_t>(task.microbatch);
        return persistent_factor(stage) *
               static_cast<double>(noise_.stage(strata(step_, own(), s / 4, Stream::stage)[s % 4])) *
               static_cast<double>(
                   microbatch_table(stage, task)(strata(step_, own(), mb / 4, Stream::microbatch)[mb % 4]));
    }

    std::array<double, 2> collectives(int stage_chunk) const
    {
        const auto w =
            words(step_, shared_by_replicas, graph_.first_slot[stage_chunk], Stream::dp_collective);
        const auto waited = [&](const Exchange& exchange, double factor) {
            const double time = static_cast<double>(exchange.seconds) * common_communication_ * factor;
            const double hidden = std::min(time, static_cast<double>(exchange.cover_s) * common_compute_);
            return time - static_cast<double>(exchange.beside) * hidden;
        };
        const auto summed = static_cast<double>(graph_.reduction[stage_chunk].all_reduce);
        const double reduced = (1.0 - summed) * static_cast<double>(noise_.dp_reduce_scatter(w[0])) +
                               summed * static_cast<double>(noise_.dp_all_reduce(w[0]));
        return {waited(graph_.reduction[stage_chunk], reduced),
                waited(graph_.gathering[stage_chunk], static_cast<double>(noise_.dp_all_gather(w[1])))};
    }

    double duration(const DurationDistribution& distribution, std::uint32_t bits) const
    {
        return static_cast<double>(distribution.mean_s) *
               (1.0 + static_cast<double>(distribution.cv) *
                          static_cast<double>((*graph_.shapes[distribution.shape])(noise_.scores(bits))));
    }

    double parameters_gathered(int stage, int chunk) const
    {
        double sum = 0.0;
        const bool overlapped = graph_.dp_overlap == DataParallelOverlap::on;
        for (int c = 0; c < (overlapped ? chunk + 1 : graph_.chunks()); ++c) {
            sum += collectives(stage * graph_.chunks() + c)[1];
        }
        return sum;
    }

    /// End of the task at this place in its stage's order.
    double end(int stage, std::size_t place)
    {
        const auto key = std::make_pair(stage, place);
        if (const auto found = end_.find(key); found != end_.end()) {
            return found->second;
        }
        const Task& task = orders_[stage][place];
        const int stage_chunk = stage * graph_.chunks() + task.chunk;
        const OpDistribution& distribution =
            graph_.distribution[graph_.distribution_at(stage_chunk, task.pass)];
        double start = place == 0 ? 0.0 : end(stage, place - 1);
        const bool first_forward =
            std::none_of(orders_[stage].begin(), orders_[stage].begin() + static_cast<std::ptrdiff_t>(place),
                         [&](const Task& t) { return t.pass == Pass::forward && t.chunk == task.chunk; });
        if (task.pass == Pass::forward && first_forward) {
            start = std::max(start, parameters_gathered(stage, task.chunk));
        }
        const auto w =
            words(step_, own(),
                  (static_cast<std::uint32_t>(task.microbatch) << 16) | graph_.first_slot[stage_chunk],
                  Stream::residual,
                  task.pass == Pass::forward           ? 0
                  : task.pass == Pass::weight_gradient ? 2
                                                       : 1);
        const auto giver =
            neighbour(graph_.program->shape, {stage, task.chunk}, task.pass == Pass::forward ? -1 : 1);
        if (giver && task.pass != Pass::weight_gradient) {
            const int from_stage = giver->stage;
            const auto& order = orders_[from_stage];
            const auto feeder = std::find_if(order.begin(), order.end(), [&](const Task& t) {
                return t.pass == task.pass && t.chunk == giver->chunk && t.microbatch == task.microbatch;
            });
            const double transfer = static_cast<double>(distribution.transfer_s) * common_communication_ *
                                    static_cast<double>(noise_.transfer_factor(w[2]));
            start =
                std::max(start, end(from_stage, static_cast<std::size_t>(feeder - order.begin())) + transfer);
        }
        const double compute = duration(distribution.compute, w[0]) * compute_factor(stage, task);
        const double communication = duration(distribution.communication, w[1]) * common_communication_;
        return end_[key] = start + compute + communication;
    }

    /// Reduce-scatters in the order in which the chunks' last backwards end;
    /// beside compute, or after all of it.
    double gradients_end(int stage)
    {
        const auto& order = orders_[stage];
        double done = 0.0;
        for (std::size_t place = 0; place < order.size(); ++place) {
            const Task& task = order[place];
            const bool last_backward =
                gives_weight_gradient(task.pass) &&
                std::none_of(order.begin() + static_cast<std::ptrdiff_t>(place) + 1, order.end(),
                             [&](const Task& t) {
                                 return gives_weight_gradient(t.pass) && t.chunk == task.chunk;
                             });
            if (!last_backward) {
                continue;
            }
            const bool overlapped = graph_.dp_overlap == DataParallelOverlap::on;
            const double ready = end(stage, overlapped ? place : order.size() - 1);
            done = std::max(done, ready) + collectives(stage * graph_.chunks() + task.chunk)[0];
        }
        return done;
    }

    const ExecutionGraph& graph_;
    const NoiseTables& noise_;
    SamplerOptions options_;
    std::uint32_t fleet_;
    std::uint32_t step_;
    TaskOrders orders_;
    int replica_ = 0;
    double common_compute_ = 1.0;
    double common_communication_ = 1.0;
    std::map<std::pair<int, std::size_t>, double> end_;  // of the replica at hand
};

}  // namespace prismopt

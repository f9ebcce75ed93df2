#include "model/step/sampler.hpp"

#include "model/step/critical_paths.hpp"
#include "model/step/lane_kernels.hpp"
#include "model/step/replica_residuals.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace prismopt {

namespace {

/// One block of fleets in one step: what all its replicas share, and the buffers they run in.
class BlockSampler {
public:
    BlockSampler(const ExecutionGraph& graph, const NoiseTables& noise, const std::vector<CriticalPath>& paths,
                 const SamplerOptions& options)
        : graph_(graph), noise_(noise), paths_(paths), options_(options), stages_(graph.stages()),
          replicas_(graph.placement.replicas), factor_(static_cast<std::size_t>(stages_) * replicas_),
          gathered_(graph.all_gather_s.size()), reduce_(graph.reduce_scatter_s.size()), stage_factor_(stages_),
          stage_end_(stages_), gradients_end_(stages_), slot_(graph.program->slots),
          microbatch_(noise.microbatch_varies ? graph.program->shape.microbatches : 0)
    {
    }

    /// Step times of the 64 fleets from `first_fleet`, in their step `step`.
    Floats sample(int first_fleet, int step)
    {
        for (int l = 0; l < lanes; ++l) {
            fleet_.at[l] = static_cast<std::uint32_t>(first_fleet + l);
        }
        step_ = static_cast<std::uint32_t>(step);
        draw_common();
        draw_persistent();
        Floats optimizer = optimizer_time();  // before per-step factors join the persistent ones
        draw_stage_factors();
        draw_collectives();
        Floats slowest = slowest_replica();
        add(optimizer, slowest);
        return slowest;
    }

private:
    void draw(const Words& who, std::uint32_t event, Stream stream, std::uint32_t kind = 0)
    {
        philox_lanes(options_.seed, fleet_, who, event, use(stream, options_.purpose, kind), words_);
    }
    void draw_shared(std::uint32_t step, std::uint32_t event, Stream stream)
    {
        Words who;
        std::fill_n(who.at, lanes, step_replica(step, shared_by_replicas));
        draw(who, event, stream);
    }
    Floats& factor(int replica, int stage) { return factor_[static_cast<std::size_t>(replica) * stages_ + stage]; }

    /// Step-common regimes, and the factor of the whole fleet.
    void draw_common()
    {
        draw_shared(step_, 0, Stream::common);
        look_up(noise_.common_compute, words_[0], common_compute_);
        look_up(noise_.common_communication, words_[1], common_communication_);
        draw_shared(0, 0, Stream::site);
        multiply_by(noise_.site, words_[0], common_compute_);
    }

    /// factor(replica, stage): persistent factor of the tensor parallel group there, times the common compute regime.
    /// Four neighbouring groups (nodes) share one call of the generator.
    void draw_persistent()
    {
        const Placement& at = graph_.placement;
        const int groups = stages_ * replicas_;
        for (int g = 0; g < groups; ++g) {
            if (g % 4 == 0) {
                draw_shared(0, static_cast<std::uint32_t>(g / 4), Stream::gpu);
            }
            Floats& f = factor_of_group(g);
            look_up(graph_.group, words_[g % 4], f);
            multiply(common_compute_, f);
        }
        if (!noise_.node_varies) {
            return;
        }
        const int nodes = (groups * at.tp + at.gpus_per_node - 1) / at.gpus_per_node;
        for (int node = 0; node < nodes; ++node) {
            if (node % 4 == 0) {
                draw_shared(0, static_cast<std::uint32_t>(node / 4), Stream::node);
            }
            look_up(noise_.node, words_[node % 4], node_factor_);
            spread_over_groups(node);
        }
    }

    Floats& factor_of_group(int group)
    {
        const Placement& at = graph_.placement;
        return at.stage_stride == 1 ? factor(group / stages_, group % stages_) : factor(group % replicas_, group / replicas_);
    }

    /// A group on one node takes the node's factor; one that spans several takes the largest.
    void spread_over_groups(int node)
    {
        const Placement& at = graph_.placement;
        if (at.tp <= at.gpus_per_node) {
            const int per_node = at.gpus_per_node / at.tp;
            const int end = std::min((node + 1) * per_node, stages_ * replicas_);
            for (int g = node * per_node; g < end; ++g) {
                multiply(node_factor_, factor_of_group(g));
            }
            return;
        }
        const int span = at.tp / at.gpus_per_node;
        if (node % span == 0) {
            widest_ = node_factor_;
        } else {
            wait_for(node_factor_, widest_);
        }
        if (node % span == span - 1) {
            multiply(widest_, factor_of_group(node / span));
        }
    }

    /// The optimizer starts after the last gradient everywhere (their norm is global) and ends with the slowest GPU.
    Floats optimizer_time()
    {
        Floats longest{};
        for (int stage = 0; stage < stages_; ++stage) {
            Floats slowest{};
            for (int replica = 0; replica < replicas_; ++replica) {
                wait_for(factor(replica, stage), slowest);
            }
            for (float& seconds : slowest.at) {
                seconds *= graph_.optimizer_s[stage];
            }
            wait_for(slowest, longest);
        }
        return longest;
    }

    void draw_stage_factors()
    {
        if (!noise_.stage_varies) {
            return;
        }
        for (int replica = 0; replica < replicas_; ++replica) {
            Words who;
            std::fill_n(who.at, lanes, step_replica(step_, static_cast<std::uint32_t>(replica)));
            for (int stage = 0; stage < stages_; ++stage) {
                if (stage % 4 == 0) {
                    draw(who, static_cast<std::uint32_t>(stage / 4), Stream::stage);
                }
                multiply_by(noise_.stage, words_[stage % 4], factor(replica, stage));
            }
        }
    }

    /// Collectives over the replicas: one draw each, the same for all of them.
    void draw_collectives()
    {
        const int chunks = graph_.chunks();
        for (int stage = 0; stage < stages_; ++stage) {
            Floats sum{};
            for (int c = 0; c < chunks; ++c) {
                const int part = stage * chunks + c;
                const auto event = static_cast<std::uint32_t>(stage << 16) | graph_.first_slot[part];
                draw_shared(step_, event, Stream::dp_collective);
                scaled_draw(graph_.reduce_scatter_s[part], noise_.dp_collective, words_[0], common_communication_, reduce_[part]);
                scaled_draw(graph_.all_gather_s[part], noise_.dp_collective, words_[1], common_communication_, gathered_[part]);
                add(gathered_[part], sum);
                gathered_[part] = sum;
            }
            if (graph_.dp_overlap == DataParallelOverlap::off) {
                std::fill_n(gathered_.begin() + static_cast<std::ptrdiff_t>(stage) * chunks, chunks, sum);
            }
        }
    }

    Floats slowest_replica()
    {
        Floats slowest{};
        const int simulated = std::min(options_.replicas_simulated, replicas_);
        if (simulated == replicas_) {
            Ints replica;
            for (int r = 0; r < replicas_; ++r) {
                std::fill_n(replica.at, lanes, r);
                wait_for(simulate(replica), slowest);
            }
            return slowest;
        }
        rank_replicas(simulated);
        // The last simulated replica is an ordinary one, so that the residual law is not learnt from extremes alone.
        for (int l = 0; l < lanes; ++l) {
            const auto any = static_cast<int>((fleet_.at[l] + step_) % static_cast<std::uint32_t>(replicas_));
            chosen_[simulated - 1].at[l] = any;
            chosen_path_[simulated - 1].at[l] = path_[any].at[l];
        }
        residuals_.clear();
        for (int k = 0; k < simulated; ++k) {
            const Floats time = simulate(chosen_[k]);
            wait_for(time, slowest);
            for (int l = 0; l < lanes; ++l) {
                const double path = chosen_path_[k].at[l];
                residuals_.push_back({path, time.at[l] - path});
            }
        }
        wait_for_others(simulated, slowest);
        return slowest;
    }

    /// path_[replica]: longest critical path; chosen_: the replicas with the longest, by lane.
    void rank_replicas(int simulated)
    {
        path_.assign(replicas_, Floats{});
        chosen_.assign(simulated, Ints{});
        chosen_path_.assign(simulated, Floats{});
        shared_.resize(paths_.size());
        for (std::size_t p = 0; p < paths_.size(); ++p) {
            add_shared(paths_[p], shared_[p]);
        }
        for (int replica = 0; replica < replicas_; ++replica) {
            Floats& length = path_[replica];
            const Floats* factors = microbatch_.empty() ? &factor(replica, 0) : with_mean_microbatch(replica);
            for (std::size_t p = 0; p < paths_.size(); ++p) {
                longest_path(shared_[p], paths_[p].compute_s.data(), factors, stages_, length);
            }
            insert_largest(length, replica, simulated - 1, chosen_path_.data(), chosen_.data());
        }
    }

    /// Factors of a replica's stages times the mean of its microbatches' factors: a path visits nearly all of them.
    const Floats* with_mean_microbatch(int replica)
    {
        Words who;
        std::fill_n(who.at, lanes, step_replica(step_, static_cast<std::uint32_t>(replica)));
        Floats mean{};
        Floats one;
        for (std::size_t mb = 0; mb < microbatch_.size(); ++mb) {
            if (mb % 4 == 0) {
                draw(who, static_cast<std::uint32_t>(mb / 4), Stream::microbatch);
            }
            look_up(noise_.microbatch, words_[mb % 4], one);
            add(one, mean);
        }
        for (float& m : mean.at) {
            m /= static_cast<float>(microbatch_.size());
        }
        for (int stage = 0; stage < stages_; ++stage) {
            stage_factor_[stage] = factor(replica, stage);
            multiply(mean, stage_factor_[stage]);
        }
        return stage_factor_.data();
    }

    /// What a path takes in every replica alike: mean communication in this step's regime, and the drawn collectives.
    void add_shared(const CriticalPath& path, Floats& length)
    {
        for (int l = 0; l < lanes; ++l) {
            length.at[l] = path.communication_s * common_communication_.at[l];
        }
        if (path.gathered_part >= 0) {
            add(gathered_[path.gathered_part], length);
        }
        for (const int part : path.reduced_parts) {
            add(reduce_[part], length);
        }
    }

    /// Replicas that were not simulated: path length plus a residual with the law of the simulated ones.
    void wait_for_others(int simulated, Floats& slowest)
    {
        const ReplicaResidualLaw law = fit_replica_residuals(residuals_);
        const QuantileTable& standard = noise_.standard[NoiseTables::standard_index(0.0, law.skewness)];
        Words who;
        Floats z;
        for (int replica = 0; replica < replicas_; ++replica) {
            if (replica % 4 == 0) {
                std::fill_n(who.at, lanes, step_replica(step_, static_cast<std::uint32_t>(replica)));
                draw(who, 0, Stream::other_replicas);
            }
            look_up(standard, words_[replica % 4], z);
            for (int l = 0; l < lanes; ++l) {
                bool known = false;
                for (int k = 0; k < simulated; ++k) {
                    known = known || chosen_[k].at[l] == replica;
                }
                const float path = path_[replica].at[l];
                const float time = path + (law.at_zero.at[l] + law.slope * path) + law.deviation * z.at[l];
                slowest.at[l] = !known && time > slowest.at[l] ? time : slowest.at[l];
            }
        }
    }

    /// One replica a lane, op by op: time from the start of the step to its last gradient collective.
    Floats simulate(const Ints& replica)
    {
        Words who;
        for (int l = 0; l < lanes; ++l) {
            who.at[l] = step_replica(step_, static_cast<std::uint32_t>(replica.at[l]));
            for (int stage = 0; stage < stages_; ++stage) {
                stage_factor_[stage].at[l] = factor(replica.at[l], stage).at[l];
            }
        }
        for (std::size_t mb = 0; mb < microbatch_.size(); ++mb) {
            if (mb % 4 == 0) {
                draw(who, static_cast<std::uint32_t>(mb / 4), Stream::microbatch);
            }
            look_up(noise_.microbatch, words_[mb % 4], microbatch_[mb]);
        }
        std::fill(stage_end_.begin(), stage_end_.end(), Floats{});
        std::fill(gradients_end_.begin(), gradients_end_.end(), Floats{});
        for (const ProgramOp& op : graph_.program->ops) {
            run(op, who);
        }
        const bool overlapped = graph_.dp_overlap == DataParallelOverlap::on;
        Floats end{};
        for (int stage = 0; stage < stages_; ++stage) {
            if (!overlapped) {
                add(stage_end_[stage], gradients_end_[stage]);
            }
            wait_for(gradients_end_[stage], end);
        }
        return end;
    }

    void run(const ProgramOp& op, const Words& who)
    {
        const OpLaw& law = graph_.law_of(op);
        const int part = graph_.part(op);
        const auto event = (static_cast<std::uint32_t>(op.microbatch) << 16) | graph_.first_slot[part];
        draw(who, event, Stream::residual, static_cast<std::uint32_t>(op.pass));
        Floats& end = stage_end_[op.stage];
        if (op.first_of_chunk) {
            wait_for(gathered_[part], end);
        }
        if (op.in >= 0) {
            if (law.transfer_s > 0.0F) {
                scaled_draw(law.transfer_s, noise_.p2p, words_[2], common_communication_, transfer_);
                wait_for(slot_[op.in], transfer_, end);
            } else {
                wait_for(slot_[op.in], end);
            }
        }
        const Floats* compute = &stage_factor_[op.stage];
        if (!microbatch_.empty()) {
            product_ = *compute;
            multiply(microbatch_[op.microbatch], product_);
            compute = &product_;
        }
        spread(law.compute.mean_s, law.compute.cv, *graph_.shapes[law.compute.shape], words_[0], *compute, duration_);
        if (law.communication_s > 0.0F) {
            add_spread(law.communication.mean_s, law.communication.cv, *graph_.shapes[law.communication.shape], words_[1],
                       common_communication_, duration_);
        }
        add(duration_, end);
        if (op.out >= 0) {
            slot_[op.out] = end;
        }
        if (op.last_of_chunk) {
            if (graph_.dp_overlap == DataParallelOverlap::on) {
                wait_for(end, gradients_end_[op.stage]);
            }
            add(reduce_[part], gradients_end_[op.stage]);
        }
    }

    const ExecutionGraph& graph_;
    const NoiseTables& noise_;
    const std::vector<CriticalPath>& paths_;
    const SamplerOptions& options_;
    int stages_;
    int replicas_;

    Words fleet_;
    std::uint32_t step_ = 0;
    std::array<Words, 4> words_;
    Floats common_compute_;
    Floats common_communication_;
    Floats node_factor_;
    Floats widest_;
    Floats transfer_;
    Floats duration_;
    Floats product_;
    std::vector<Floats> factor_;              // [replica * stages + stage]
    std::vector<Floats> gathered_;            // [part]: time at which its parameters are there
    std::vector<Floats> reduce_;              // [part]: duration of its gradient collective
    std::vector<Floats> stage_factor_;        // [stage], of the replica that is simulated
    std::vector<Floats> stage_end_;           // [stage]
    std::vector<Floats> gradients_end_;       // [stage]
    std::vector<Floats> slot_;                // [slot]
    std::vector<Floats> microbatch_;          // [microbatch]; empty when the law is constant
    std::vector<Floats> path_;                // [replica]
    std::vector<Floats> shared_;              // [path]: the part of its length that is the same in all replicas
    std::vector<Ints> chosen_;                // [simulated]: replica, by lane
    std::vector<Floats> chosen_path_;         // [simulated]
    std::vector<ReplicaResidual> residuals_;  // [simulated * lanes + lane]
};

}  // namespace

std::vector<double> sample_steps(const ExecutionGraph& graph, const NoiseTables& noise, const DrawRange& range,
                                 const SamplerOptions& options)
{
    assert(!graph.shapes.empty());  // compiled for sampling
    const bool all = graph.placement.replicas <= options.replicas_simulated;
    const auto paths = all ? std::vector<CriticalPath>{} : critical_paths(graph);
    std::vector<double> seconds(static_cast<std::size_t>(range.fleets) * range.steps);
    const int units = range.fleets / block_fleets * range.steps;
#pragma omp parallel
    {
        BlockSampler block(graph, noise, paths, options);
#pragma omp for schedule(dynamic, 1)
        for (int unit = 0; unit < units; ++unit) {
            const int first = unit / range.steps * block_fleets;
            const int step = unit % range.steps;
            const Floats times = block.sample(range.first_fleet + first, step);
            for (int l = 0; l < lanes; ++l) {
                seconds[static_cast<std::size_t>(first + l) * range.steps + step] = times.at[l];
            }
        }
    }
    return seconds;
}

int sampler_threads() { return omp_get_max_threads(); }

}  // namespace prismopt

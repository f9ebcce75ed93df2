#include "model/step/plan_step.hpp"

#include <algorithm>
#include <cassert>

namespace prismopt {

namespace {

void fill(Words& row, std::uint32_t value) { std::fill_n(row.at, lanes, value); }

std::uint32_t strata_of(Stream stream, Purpose purpose)
{
    return use(Stream::strata, purpose, static_cast<std::uint32_t>(stream));
}

}  // namespace

BlockStep::BlockStep(const NoiseTables& noise_tables, const SamplerOptions& sampler_options, LotExtent extent)
    : noise(noise_tables), options(sampler_options),
      group_words((static_cast<std::size_t>(extent.stages) * extent.replicas + 3) / 4 * 4),
      node(noise.node_varies ? extent.nodes : 0),
      mean_microbatch(extent.ranks_replicas && noise.microbatch_varies ? extent.replicas : 0),
      reduce_scatter(extent.first_slot.size()), all_gather(extent.first_slot.size()), extent_(std::move(extent)),
      stage_(noise.stage_varies ? static_cast<std::size_t>(extent_.stages) * extent_.replicas : 0)
{
}

void BlockStep::begin(int first_fleet, int step_index)
{
    step = static_cast<std::uint32_t>(step_index);
    for (int l = 0; l < lanes; ++l) {
        fleet.at[l] = static_cast<std::uint32_t>(first_fleet + l);
    }
    philox = FleetPhilox(options.seed, fleet);
    block_ = static_cast<std::uint32_t>(first_fleet / lanes);
    draw_common();
    draw_persistent();
    draw_stages();
    draw_mean_microbatches();
    draw_collectives();
}

void BlockStep::draw(std::uint32_t who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    philox.draw(who, event, use(stream, options.purpose), words);
}

void BlockStep::draw_strata(std::uint32_t who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    draw(who, event, stream, words);
    if (options.sampling == Sampling::stratified) {
        const auto keys = prismopt::philox(options.seed, {block_, who, event, strata_of(stream, options.purpose)});
        for (std::size_t w = 0; w < words.size(); ++w) {
            stratify(keys[w], words[w]);
        }
    }
}

void BlockStep::draw_strata(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    philox_lanes(options.seed, fleet, who, event, use(stream, options.purpose), words);
    if (options.sampling == Sampling::stratified) {
        Words block;
        fill(block, block_);
        std::array<Words, 4> keys;
        philox_lanes(options.seed, block, who, event, strata_of(stream, options.purpose), keys);
        for (std::size_t w = 0; w < words.size(); ++w) {
            stratify(keys[w], words[w]);
        }
    }
}

void BlockStep::draw_common()
{
    std::array<Words, 4> words;
    draw_strata(step_replica(step, shared_by_replicas), 0, Stream::common, words);
    look_up(noise.common_compute, words[0], compute);
    look_up(noise.common_communication, words[1], communication);
    draw_strata(step_replica(0, shared_by_replicas), 0, Stream::site, words);
    multiply_by(noise.site, words[0], compute);
}

/// Four neighbouring groups, or nodes, share one call of the generator.
void BlockStep::draw_persistent()
{
    constexpr std::uint32_t persistent = step_replica(0, shared_by_replicas);
    std::array<Words, 4> words;
    for (std::size_t group = 0; noise.gpu_varies && group < group_words.size(); group += 4) {
        draw(persistent, static_cast<std::uint32_t>(group / 4), Stream::gpu, words);
        std::copy(words.begin(), words.end(), group_words.begin() + static_cast<std::ptrdiff_t>(group));
    }
    for (std::size_t n = 0; n < node.size(); ++n) {
        if (n % 4 == 0) {
            draw(persistent, static_cast<std::uint32_t>(n / 4), Stream::node, words);
        }
        look_up(noise.node, words[n % 4], node[n]);
    }
}

void BlockStep::draw_stages()
{
    std::array<Words, 4> words;
    for (std::size_t at = 0; at < stage_.size(); ++at) {
        const auto stage = static_cast<std::uint32_t>(at % extent_.stages);
        if (stage % 4 == 0) {
            draw_strata(step_replica(step, static_cast<std::uint32_t>(at / extent_.stages)), stage / 4, Stream::stage, words);
        }
        look_up(noise.stage, words[stage % 4], stage_[at]);
    }
}

template <class Draw>
void BlockStep::look_up_microbatches(std::vector<Floats>& out, Draw&& draw) const
{
    std::array<Words, 4> words;
    for (std::size_t mb = 0; mb < out.size(); ++mb) {
        if (mb % 4 == 0) {
            draw(static_cast<std::uint32_t>(mb / 4), words);
        }
        look_up(noise.microbatch, words[mb % 4], out[mb]);
    }
}

void BlockStep::draw_microbatches(std::uint32_t replica, std::vector<Floats>& out) const
{
    look_up_microbatches(out, [&](std::uint32_t event, std::array<Words, 4>& words) {
        draw_strata(step_replica(step, replica), event, Stream::microbatch, words);
    });
}

void BlockStep::draw_microbatches(const Ints& replica, std::vector<Floats>& out) const
{
    Words who;
    for (int l = 0; l < lanes; ++l) {
        who.at[l] = step_replica(step, static_cast<std::uint32_t>(replica.at[l]));
    }
    look_up_microbatches(out, [&](std::uint32_t event, std::array<Words, 4>& words) {
        draw_strata(who, event, Stream::microbatch, words);
    });
}

/// A path visits nearly all microbatches: it is slowed by the mean of their factors.
void BlockStep::draw_mean_microbatches()
{
    std::vector<Floats> factors(mean_microbatch.empty() ? 0 : extent_.microbatches);
    for (std::size_t replica = 0; replica < mean_microbatch.size(); ++replica) {
        draw_microbatches(static_cast<std::uint32_t>(replica), factors);
        Floats& mean = mean_microbatch[replica];
        mean = Floats{};
        for (const Floats& factor : factors) {
            add(factor, mean);
        }
        for (float& m : mean.at) {
            m /= static_cast<float>(factors.size());
        }
    }
}

/// Collectives over the replicas: one draw each, the same for all of them.
void BlockStep::draw_collectives()
{
    std::array<Words, 4> words;
    for (std::size_t part = 0; part < extent_.first_slot.size(); ++part) {
        draw(step_replica(step, shared_by_replicas), extent_.first_slot[part], Stream::dp_collective, words);
        scaled_draw(1.0F, noise.dp_collective, words[0], communication, reduce_scatter[part]);
        scaled_draw(1.0F, noise.dp_collective, words[1], communication, all_gather[part]);
    }
}

BoundPlan::BoundPlan(const ExecutionGraph& bound, int replicas_simulated)
    : graph(bound), simulated(std::min(replicas_simulated, bound.placement.replicas)),
      paths(simulated == bound.placement.replicas ? std::vector<CriticalPath>{} : critical_paths(bound))
{
    assert(!graph.shapes.empty());  // compiled for sampling
    const auto shape = [&](const DurationLaw& law) { return graph.shapes[law.shape].get(); };
    for (const OpLaw& law : graph.law) {
        spread.push_back({law.compute.mean_s, law.compute.mean_s * law.compute.cv, law.communication.mean_s,
                          law.communication.mean_s * law.communication.cv, law.transfer_s, shape(law.compute),
                          shape(law.communication)});
    }
}

int BoundPlan::nodes() const
{
    const Placement& at = graph.placement;
    return (graph.stages() * at.replicas * at.tp + at.gpus_per_node - 1) / at.gpus_per_node;
}

PlanStep::PlanStep(const BoundPlan& plan, const NoiseTables& noise)
    : plan_(plan), graph_(plan.graph), stages_(graph_.stages()), replicas_(graph_.placement.replicas),
      gathered_(graph_.all_gather_s.size()), reduce_(graph_.reduce_scatter_s.size()),
      chosen_factor_(static_cast<std::size_t>(plan.simulated) * stages_), chosen_(plan.simulated), chosen_path_(plan.simulated),
      shared_(plan.paths.size()), stage_end_(stages_), gradients_end_(stages_), slot_(graph_.program->slots),
      microbatch_(noise.microbatch_varies && plan.ranks_replicas() ? graph_.program->shape.microbatches : 0)
{
    run_.chunks = graph_.chunks();
    run_.overlapped = graph_.dp_overlap == DataParallelOverlap::on;
    run_.law = plan_.spread.data();
    if (replicas_ > 1) {
        run_.gathered = gathered_.data();
        run_.reduce = reduce_.data();
    }
    run_.stage_end = stage_end_.data();
    run_.slot = slot_.data();
    run_.gradients_end = gradients_end_.data();
    run_.nothing = &nothing_;
    run_.nobody = &nobody_;
}

void PlanStep::begin(const BlockStep& at, std::vector<Floats>& factors)
{
    factors.resize(std::max(factors.size(), static_cast<std::size_t>(stages_) * replicas_));
    take_persistent(at, factors);
    keep_optimizer_time(factors);  // before per-step factors join the persistent ones
    if (at.noise.stage_varies) {
        for (int replica = 0; replica < replicas_; ++replica) {
            for (int stage = 0; stage < stages_; ++stage) {
                multiply(at.stage_factor(replica, stage), factor(factors, replica, stage));
            }
        }
    }
    if (replicas_ > 1) {
        take_collectives(at);
    }
    slowest_ = Floats{};
    residuals_.clear();
    if (!plan_.ranks_replicas()) {
        for (int replica = 0; replica < replicas_; ++replica) {
            std::fill_n(chosen_[replica].at, lanes, replica);
        }
        std::copy_n(factors.begin(), chosen_factor_.size(), chosen_factor_.begin());
        return;
    }
    rank_replicas(at, factors);
    for (int k = 0; k < plan_.simulated; ++k) {
        for (int stage = 0; stage < stages_; ++stage) {
            for (int l = 0; l < lanes; ++l) {
                chosen_factor_[static_cast<std::size_t>(k) * stages_ + stage].at[l] =
                    factor(factors, chosen_[k].at[l], stage).at[l];
            }
        }
    }
}

/// Persistent factor of the tensor parallel group of each (replica, stage), times the common compute regime.
void PlanStep::take_persistent(const BlockStep& at, std::vector<Floats>& factors)
{
    const int groups = stages_ * replicas_;
    if (at.noise.gpu_varies) {
        for (int g = 0; g < groups; ++g) {
            Floats& f = factor_of_group(factors, g);
            look_up(graph_.group, at.group_words[g], f);
            multiply(at.compute, f);
        }
    } else {
        std::fill_n(factors.begin(), groups, at.compute);
    }
    if (at.noise.node_varies) {
        const int nodes = plan_.nodes();
        for (int node = 0; node < nodes; ++node) {
            spread_over_groups(factors, node, at.node[node]);
        }
    }
}

Floats& PlanStep::factor_of_group(std::vector<Floats>& factors, int group) const
{
    return graph_.placement.stage_stride == 1 ? factor(factors, group / stages_, group % stages_)
                                              : factor(factors, group % replicas_, group / replicas_);
}

/// A group on one node takes the node's factor; one that spans several takes the largest.
void PlanStep::spread_over_groups(std::vector<Floats>& factors, int node, const Floats& node_factor)
{
    const Placement& place = graph_.placement;
    if (place.tp <= place.gpus_per_node) {
        const int per_node = place.gpus_per_node / place.tp;
        const int end = std::min((node + 1) * per_node, stages_ * replicas_);
        for (int g = node * per_node; g < end; ++g) {
            multiply(node_factor, factor_of_group(factors, g));
        }
        return;
    }
    const int span = place.tp / place.gpus_per_node;
    if (node % span == 0) {
        widest_ = node_factor;
    } else {
        wait_for(node_factor, widest_);
    }
    if (node % span == span - 1) {
        multiply(widest_, factor_of_group(factors, node / span));
    }
}

/// The optimizer starts after the last gradient everywhere (their norm is global) and ends with the slowest GPU.
void PlanStep::keep_optimizer_time(std::vector<Floats>& factors)
{
    optimizer_ = Floats{};
    for (int replica = 0; replica < replicas_; ++replica) {
        for (int stage = 0; stage < stages_; ++stage) {
            wait_for_scaled(graph_.optimizer_s[stage], factor(factors, replica, stage), optimizer_);
        }
    }
}

/// Its collectives' seconds times their factors: the end of each gather of parameters, and the time of each gradient sum.
void PlanStep::take_collectives(const BlockStep& at)
{
    const int chunks = graph_.chunks();
    for (int stage = 0; stage < stages_; ++stage) {
        Floats sum{};
        for (int part = stage * chunks; part < (stage + 1) * chunks; ++part) {
            scale(graph_.reduce_scatter_s[part], at.reduce_scatter[part], reduce_[part]);
            scale(graph_.all_gather_s[part], at.all_gather[part], gathered_[part]);
            add(gathered_[part], sum);
            gathered_[part] = sum;
        }
        if (graph_.dp_overlap == DataParallelOverlap::off) {
            std::fill_n(gathered_.begin() + static_cast<std::ptrdiff_t>(stage) * chunks, chunks, sum);
        }
    }
}

/// path_[replica]: longest critical path; chosen_: the replicas with the longest, by lane, and an ordinary one, so that the
/// residual law is not learnt from extremes alone.
void PlanStep::rank_replicas(const BlockStep& at, std::vector<Floats>& factors)
{
    const int slow = plan_.simulated - 1;
    path_.assign(replicas_, Floats{});
    std::fill(chosen_path_.begin(), chosen_path_.end(), Floats{});
    for (std::size_t p = 0; p < plan_.paths.size(); ++p) {
        add_shared(at, plan_.paths[p], shared_[p]);
    }
    std::vector<Floats> slowed(stages_);  // factors of a replica, times the mean of its microbatches'
    for (int replica = 0; replica < replicas_; ++replica) {
        Floats& length = path_[replica];
        const Floats* own = &factor(factors, replica, 0);
        if (!at.mean_microbatch.empty()) {
            for (int stage = 0; stage < stages_; ++stage) {
                slowed[stage] = own[stage];
                multiply(at.mean_microbatch[replica], slowed[stage]);
            }
            own = slowed.data();
        }
        for (std::size_t p = 0; p < plan_.paths.size(); ++p) {
            longest_path(shared_[p], plan_.paths[p].compute_s.data(), own, stages_, length);
        }
        insert_largest(length, replica, slow, chosen_path_.data(), chosen_.data());
    }
    for (int l = 0; l < lanes; ++l) {
        const auto any = static_cast<int>((at.fleet.at[l] + at.step) % static_cast<std::uint32_t>(replicas_));
        chosen_[slow].at[l] = any;
        chosen_path_[slow].at[l] = path_[any].at[l];
    }
}

/// What a path takes in every replica alike: mean communication in this step's regime, and the drawn collectives.
void PlanStep::add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const
{
    for (int l = 0; l < lanes; ++l) {
        length.at[l] = path.communication_s * at.communication.at[l];
    }
    if (path.gathered_part >= 0) {
        add(gathered_[path.gathered_part], length);
    }
    for (const int part : path.reduced_parts) {
        add(reduce_[part], length);
    }
}

void PlanStep::begin_replica(const BlockStep& at, int k, const std::vector<Floats>& microbatch)
{
    run_.compute_factor = chosen_factor_.data() + static_cast<std::ptrdiff_t>(k) * stages_;
    run_.communication_factor = &at.communication;
    run_.microbatch = microbatch.empty() ? nullptr : microbatch.data();
    if (!microbatch_.empty()) {
        at.draw_microbatches(chosen_[k], microbatch_);
        run_.microbatch = microbatch_.data();
    }
    std::fill(stage_end_.begin(), stage_end_.end(), Floats{});
    std::fill(gradients_end_.begin(), gradients_end_.end(), Floats{});
}

void PlanStep::end_replica(int k)
{
    Floats end{};
    for (int stage = 0; stage < stages_; ++stage) {
        if (replicas_ > 1) {
            if (!run_.overlapped) {
                add(stage_end_[stage], gradients_end_[stage]);
            }
            wait_for(gradients_end_[stage], end);
        } else {
            wait_for(stage_end_[stage], end);
        }
    }
    wait_for(end, slowest_);
    if (plan_.ranks_replicas()) {
        for (int l = 0; l < lanes; ++l) {
            const double path = chosen_path_[k].at[l];
            residuals_.push_back({path, end.at[l] - path});
        }
    }
}

/// Replicas that were not simulated: path length plus a residual with the law of the simulated ones.
void PlanStep::wait_for_others(const BlockStep& at)
{
    const ReplicaResidualLaw law = fit_replica_residuals(residuals_);
    const StandardLaw& standard = at.noise.standard[NoiseTables::standard_index(0.0, law.skewness)];
    std::array<Words, 4> words;
    Floats z;
    for (int replica = 0; replica < replicas_; ++replica) {
        if (replica % 4 == 0) {
            at.draw(step_replica(at.step, static_cast<std::uint32_t>(replica)), 0, Stream::other_replicas, words);
        }
        standard_draws(at.noise.scores, standard, words[replica % 4], z);
        for (int l = 0; l < lanes; ++l) {
            bool known = false;
            for (int k = 0; k < plan_.simulated; ++k) {
                known = known || chosen_[k].at[l] == replica;
            }
            const float path = path_[replica].at[l];
            const float time = path + (law.at_zero.at[l] + law.slope * path) + law.deviation * z.at[l];
            slowest_.at[l] = !known && time > slowest_.at[l] ? time : slowest_.at[l];
        }
    }
}

Floats PlanStep::end(const BlockStep& at)
{
    if (plan_.ranks_replicas()) {
        wait_for_others(at);
    }
    add(optimizer_, slowest_);
    return slowest_;
}

}  // namespace prismopt

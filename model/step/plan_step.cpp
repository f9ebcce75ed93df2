#include "model/step/plan_step.hpp"

#include <algorithm>

namespace prismopt {

namespace {

void fill(Words& row, std::uint32_t value) { std::fill_n(row.at, lanes, value); }

}  // namespace

BlockStep::BlockStep(const NoiseTables& noise_tables, const SamplerOptions& sampler_options, int first_fleet, int step_index)
    : noise(noise_tables), options(sampler_options), step(static_cast<std::uint32_t>(step_index))
{
    for (int l = 0; l < lanes; ++l) {
        fleet.at[l] = static_cast<std::uint32_t>(first_fleet + l);
    }
    fill(block, static_cast<std::uint32_t>(first_fleet / lanes));
    std::array<Words, 4> words;
    Words who;
    fill(who, step_replica(step, shared_by_replicas));
    draw_strata(who, 0, Stream::common, words);
    look_up(noise.common_compute, words[0], compute);
    look_up(noise.common_communication, words[1], communication);
    fill(who, step_replica(0, shared_by_replicas));
    draw_strata(who, 0, Stream::site, words);
    multiply_by(noise.site, words[0], compute);
}

void BlockStep::draw(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    philox_lanes(options.seed, fleet, who, event, use(stream, options.purpose), words);
}

void BlockStep::draw_shared(std::uint32_t step_index, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    Words who;
    fill(who, step_replica(step_index, shared_by_replicas));
    draw(who, event, stream, words);
}

void BlockStep::draw_strata(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    draw(who, event, stream, words);
    if (options.sampling == Sampling::plain) {
        return;
    }
    std::array<Words, 4> keys;
    philox_lanes(options.seed, block, who, event, use(Stream::strata, options.purpose, static_cast<std::uint32_t>(stream)), keys);
    for (std::size_t w = 0; w < words.size(); ++w) {
        stratify(keys[w], words[w]);
    }
}

BoundPlan::BoundPlan(const ExecutionGraph& bound, const NoiseTables& noise, int replicas_simulated)
    : graph(bound), simulated(std::min(replicas_simulated, bound.placement.replicas)),
      paths(simulated == bound.placement.replicas ? std::vector<CriticalPath>{} : critical_paths(bound))
{
    for (const OpLaw& law : graph.law) {
        spread.push_back({law.compute_s, law.compute_s * law.compute_cv, law.communication_s,
                          law.communication_s * law.communication_cv, law.transfer_s, &noise.standard[law.compute_law],
                          &noise.standard[law.communication_law]});
    }
}

PlanStep::PlanStep(const BoundPlan& plan, const NoiseTables& noise)
    : plan_(plan), graph_(plan.graph), stages_(graph_.stages()), replicas_(graph_.placement.replicas),
      gathered_(graph_.all_gather_s.size()), reduce_(graph_.reduce_scatter_s.size()),
      chosen_factor_(static_cast<std::size_t>(plan.simulated) * stages_), chosen_(plan.simulated), chosen_path_(plan.simulated),
      shared_(plan.paths.size()), stage_factor_(stages_), stage_end_(stages_), gradients_end_(stages_),
      slot_(graph_.program->slots), microbatch_(noise.microbatch_varies ? graph_.program->shape.microbatches : 0)
{
}

void PlanStep::begin(const BlockStep& at, std::vector<Floats>& factors)
{
    factors.resize(static_cast<std::size_t>(stages_) * replicas_);
    draw_persistent(at, factors);
    keep_optimizer_time(factors);  // before per-step factors join the persistent ones
    draw_stage_factors(at, factors);
    draw_collectives(at);
    slowest_ = Floats{};
    residuals_.clear();
    if (plan_.simulated == replicas_) {
        for (int replica = 0; replica < replicas_; ++replica) {
            std::fill_n(chosen_[replica].at, lanes, replica);
        }
        std::copy(factors.begin(), factors.end(), chosen_factor_.begin());
        return;
    }
    rank_replicas(at, factors);
    for (int k = 0; k < plan_.simulated; ++k) {
        for (int l = 0; l < lanes; ++l) {
            for (int stage = 0; stage < stages_; ++stage) {
                chosen_factor_[static_cast<std::size_t>(k) * stages_ + stage].at[l] =
                    factor(factors, chosen_[k].at[l], stage).at[l];
            }
        }
    }
}

/// Persistent factor of the tensor parallel group of each (replica, stage), times the common compute regime.
/// Four neighbouring groups (nodes) share one call of the generator.
void PlanStep::draw_persistent(const BlockStep& at, std::vector<Floats>& factors)
{
    const Placement& place = graph_.placement;
    const int groups = stages_ * replicas_;
    for (int g = 0; g < groups; ++g) {
        if (g % 4 == 0) {
            at.draw_shared(0, static_cast<std::uint32_t>(g / 4), Stream::gpu, words_);
        }
        Floats& f = factor_of_group(factors, g);
        look_up(graph_.group, words_[g % 4], f);
        multiply(at.compute, f);
    }
    if (!at.noise.node_varies) {
        return;
    }
    const int nodes = (groups * place.tp + place.gpus_per_node - 1) / place.gpus_per_node;
    Floats node_factor;
    for (int node = 0; node < nodes; ++node) {
        if (node % 4 == 0) {
            at.draw_shared(0, static_cast<std::uint32_t>(node / 4), Stream::node, words_);
        }
        look_up(at.noise.node, words_[node % 4], node_factor);
        spread_over_groups(factors, node, node_factor);
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
    for (int stage = 0; stage < stages_; ++stage) {
        Floats slowest{};
        for (int replica = 0; replica < replicas_; ++replica) {
            wait_for(factor(factors, replica, stage), slowest);
        }
        for (float& seconds : slowest.at) {
            seconds *= graph_.optimizer_s[stage];
        }
        wait_for(slowest, optimizer_);
    }
}

void PlanStep::draw_stage_factors(const BlockStep& at, std::vector<Floats>& factors)
{
    if (!at.noise.stage_varies) {
        return;
    }
    Words who;
    for (int replica = 0; replica < replicas_; ++replica) {
        fill(who, step_replica(at.step, static_cast<std::uint32_t>(replica)));
        for (int stage = 0; stage < stages_; ++stage) {
            if (stage % 4 == 0) {
                at.draw_strata(who, static_cast<std::uint32_t>(stage / 4), Stream::stage, words_);
            }
            multiply_by(at.noise.stage, words_[stage % 4], factor(factors, replica, stage));
        }
    }
}

/// Collectives over the replicas: one draw each, the same for all of them.
void PlanStep::draw_collectives(const BlockStep& at)
{
    const int chunks = graph_.chunks();
    for (int stage = 0; stage < stages_; ++stage) {
        Floats sum{};
        for (int c = 0; c < chunks; ++c) {
            const int part = stage * chunks + c;
            const auto event = static_cast<std::uint32_t>(stage << 16) | graph_.first_slot[part];
            at.draw_shared(at.step, event, Stream::dp_collective, words_);
            scaled_draw(graph_.reduce_scatter_s[part], at.noise.dp_collective, words_[0], at.communication, reduce_[part]);
            scaled_draw(graph_.all_gather_s[part], at.noise.dp_collective, words_[1], at.communication, gathered_[part]);
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
    for (int replica = 0; replica < replicas_; ++replica) {
        Floats& length = path_[replica];
        const Floats* own = &factor(factors, replica, 0);
        if (!microbatch_.empty()) {
            own = with_mean_microbatch(at, own, replica);
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

/// Factors of a replica's stages times the mean of its microbatches' factors: a path visits nearly all of them.
const Floats* PlanStep::with_mean_microbatch(const BlockStep& at, const Floats* factors, int replica)
{
    Words who;
    fill(who, step_replica(at.step, static_cast<std::uint32_t>(replica)));
    Floats mean{};
    Floats one;
    for (std::size_t mb = 0; mb < microbatch_.size(); ++mb) {
        if (mb % 4 == 0) {
            at.draw_strata(who, static_cast<std::uint32_t>(mb / 4), Stream::microbatch, words_);
        }
        look_up(at.noise.microbatch, words_[mb % 4], one);
        add(one, mean);
    }
    for (float& m : mean.at) {
        m /= static_cast<float>(microbatch_.size());
    }
    for (int stage = 0; stage < stages_; ++stage) {
        stage_factor_[stage] = factors[stage];
        multiply(mean, stage_factor_[stage]);
    }
    return stage_factor_.data();
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

void PlanStep::begin_replica(const BlockStep& at, int k)
{
    const Ints& replica = chosen_[k];
    std::copy_n(chosen_factor_.begin() + static_cast<std::ptrdiff_t>(k) * stages_, stages_, stage_factor_.begin());
    if (!microbatch_.empty()) {
        Words who;
        for (int l = 0; l < lanes; ++l) {
            who.at[l] = step_replica(at.step, static_cast<std::uint32_t>(replica.at[l]));
        }
        for (std::size_t mb = 0; mb < microbatch_.size(); ++mb) {
            if (mb % 4 == 0) {
                at.draw_strata(who, static_cast<std::uint32_t>(mb / 4), Stream::microbatch, words_);
            }
            look_up(at.noise.microbatch, words_[mb % 4], microbatch_[mb]);
        }
    }
    std::fill(stage_end_.begin(), stage_end_.end(), Floats{});
    std::fill(gradients_end_.begin(), gradients_end_.end(), Floats{});
}

PipelineRun PlanStep::pipeline(const BlockStep& at)
{
    PipelineRun run;
    run.chunks = graph_.chunks();
    run.overlapped = graph_.dp_overlap == DataParallelOverlap::on;
    run.law = plan_.spread.data();
    run.compute_factor = stage_factor_.data();
    run.microbatch = microbatch_.empty() ? nullptr : microbatch_.data();
    run.communication_factor = &at.communication;
    run.gathered = gathered_.data();
    run.reduce = reduce_.data();
    run.stage_end = stage_end_.data();
    run.slot = slot_.data();
    run.gradients_end = gradients_end_.data();
    return run;
}

void PlanStep::end_replica(int k)
{
    const bool overlapped = graph_.dp_overlap == DataParallelOverlap::on;
    Floats end{};
    for (int stage = 0; stage < stages_; ++stage) {
        if (!overlapped) {
            add(stage_end_[stage], gradients_end_[stage]);
        }
        wait_for(gradients_end_[stage], end);
    }
    wait_for(end, slowest_);
    if (!plan_.paths.empty()) {
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
    Words who;
    Floats z;
    for (int replica = 0; replica < replicas_; ++replica) {
        if (replica % 4 == 0) {
            fill(who, step_replica(at.step, static_cast<std::uint32_t>(replica)));
            at.draw(who, 0, Stream::other_replicas, words_);
        }
        standard_draws(at.noise.scores, standard, words_[replica % 4], z);
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
    if (!plan_.paths.empty()) {
        wait_for_others(at);
    }
    add(optimizer_, slowest_);
    return slowest_;
}

}  // namespace prismopt

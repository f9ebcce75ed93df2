#include "model/step/sample/plan_step.hpp"

#include <algorithm>
#include <cassert>

namespace prismopt {

namespace {

bool any(const std::vector<Exchange>& exchanges)
{
    return std::any_of(exchanges.begin(), exchanges.end(), [](const Exchange& e) { return e.seconds > 0.0F; });
}

/// Where the power of each pass begins in the factors of microbatches, [part * passes + pass].
std::vector<std::uint32_t> firsts_of_powers(const MicrobatchPowers& powers, const Program& program)
{
    if (powers.tables.empty()) {
        return {};
    }
    const ScheduleShape& shape = program.shape;
    const int parts = shape.stages * shape.chunks;
    std::vector<std::uint32_t> firsts;
    for (int part = 0; part < parts; ++part) {
        const int place = part_of_network(shape, {part / shape.chunks, part % shape.chunks});
        for (int pass = 0; pass < program.passes; ++pass) {
            const bool forward = is_forward(static_cast<Pass>(pass));
            firsts.push_back(powers.index(forward, place, parts) * static_cast<std::uint32_t>(shape.microbatches));
        }
    }
    return firsts;
}

const StandardDistribution* distribution_of_all(const std::vector<OpSpread>& spread,
                                                const StandardDistribution* OpSpread::*distribution)
{
    const StandardDistribution* one = nullptr;
    for (const OpSpread& op : spread) {
        if (op.compute_s > 0.0F || op.communication_s > 0.0F) {
            if (one != nullptr && op.*distribution != one) {
                return nullptr;
            }
            one = op.*distribution;
        }
    }
    return one;
}

}  // namespace

BoundPlan::BoundPlan(const ExecutionGraph& bound, int replicas_simulated)
    : graph(bound), simulated(std::min(replicas_simulated, replicas())), group_varies(!bound.group.constant()),
      exchanges(graph.placement.replicas > 1 || any(graph.gathering) || any(graph.reduction)),
      paths(simulated == replicas() ? std::vector<CriticalPath>{} : critical_paths(bound))
{
    assert(!graph.shapes.empty());  // compiled for sampling
    assert(graph.placement.replicas % graph.placement.coupled == 0);
    spread.reserve(graph.distribution.size());
    const auto shape = [&](const DurationDistribution& distribution) { return graph.shapes[distribution.shape].get(); };
    for (const OpDistribution& distribution : graph.distribution) {
        spread.push_back({distribution.compute.mean_s, distribution.compute.mean_s * distribution.compute.cv,
                          distribution.communication.mean_s, distribution.communication.mean_s * distribution.communication.cv,
                          distribution.transfer_s, shape(distribution.compute), shape(distribution.communication),
                          distribution.transfer_tier});
    }
    communicates = std::any_of(spread.begin(), spread.end(), [](const OpSpread& op) { return op.communication_s > 0.0F; });
    compute_distribution = distribution_of_all(spread, &OpSpread::compute_distribution);
    communication_distribution = distribution_of_all(spread, &OpSpread::communication_distribution);
}

int BoundPlan::nodes() const
{
    const Placement& at = graph.placement;
    return (graph.stages() * at.replicas * at.tp + at.gpus_per_node - 1) / at.gpus_per_node;
}

std::size_t BoundPlan::coupled_rows() const
{
    const auto members = static_cast<std::size_t>(graph.placement.coupled);
    const auto stages = static_cast<std::size_t>(graph.stages());
    const auto microbatches = static_cast<std::size_t>(graph.program->shape.microbatches);
    if (!coupled()) {
        return lengths_vary() ? (2 + stages) * microbatches : 0;
    }
    const std::size_t of_lengths = lengths_vary() ? 3 * members * microbatches : 0;
    return simulated * members * stages + (members + stages) * microbatches + of_lengths;
}

LotExtent extent_of(const BoundPlan& plan)
{
    const ExecutionGraph& graph = plan.graph;
    return {.stages = graph.stages(),
            .replicas = graph.placement.replicas,
            .nodes = plan.nodes(),
            .microbatches = graph.program->shape.microbatches,
            .groups_vary = plan.group_varies,
            .knows_nodes = !graph.node.empty(),
            .exchanges = plan.exchanges,
            .all_reduces = std::any_of(graph.reduction.begin(), graph.reduction.end(),
                                       [](const Exchange& e) { return e.all_reduce > 0.0F; }),
            .ranks_replicas = plan.ranks_replicas() && !plan.coupled(),
            .first_slot = graph.first_slot};
}

PlanStep::PlanStep(const BoundPlan& plan, const NoiseTables& noise)
    : plan_(plan), graph_(plan.graph), simulated_(plan.simulated), stages_(graph_.stages()), replicas_(plan.replicas()),
      members_(graph_.placement.replicas),
      slowest_optimizer_s_(*std::max_element(graph_.optimizer_s.begin(), graph_.optimizer_s.end())), chosen_(plan.simulated),
      chosen_path_(plan.simulated), shared_(plan.paths.size()),
      microbatch_(noise.microbatch_varies && plan.ranks_replicas() && !plan.coupled()
                      ? graph_.program->shape.microbatches * std::max<std::size_t>(1, noise.microbatch_powers.tables.size())
                      : 0),
      first_of_power_(firsts_of_powers(noise.microbatch_powers, *graph_.program))
{
    run_.first_of_power = first_of_power_.empty() ? nullptr : first_of_power_.data();
    run_.overlapped = graph_.dp_overlap == DataParallelOverlap::on;
    run_.distribution = plan_.spread.data();
    if (exchanges()) {
        gathered_.resize(graph_.gathering.size());
        reduce_.resize(graph_.reduction.size());
        gradients_end_.resize(stages_);
        run_.gathered = gathered_.data();
        run_.reduce = reduce_.data();
        run_.gradients_end = gradients_end_.data();
    }
    if (plan.coupled()) {
        set_.emplace(graph_, noise);
        run_.factor_rows = set_->rows();
    } else if (plan.lengths_vary()) {
        lengths_.emplace(graph_);
        run_.factor_rows = graph_.program->shape.microbatches;
        length_factor_.resize(static_cast<std::size_t>(stages_) * run_.factor_rows);
    }
}

void PlanStep::begin(const BlockStep& at, std::vector<Floats>& factors)
{
    slowest_ = Floats{};
    residuals_.clear();
    if (exchanges()) {
        take_collectives(at);
    }
    if (factors_vary(at) || plan_.ranks_replicas() || set_) {
        take_factors(at, factors);
    } else {
        std::fill_n(optimizer_.at, lanes, slowest_optimizer_s_);
    }
}

/// Factors of the replicas that are simulated, and which these are.
void PlanStep::take_factors(const BlockStep& at, std::vector<Floats>& factors)
{
    factors.resize(std::max(factors.size(), static_cast<std::size_t>(stages_) * members_));
    chosen_factor_.resize(static_cast<std::size_t>(plan_.simulated) * graph_.placement.coupled * stages_);
    take_persistent(at, factors);
    keep_optimizer_time(factors);  // before per-step factors join the persistent ones
    if (at.noise.stage_varies) {
        for (int member = 0; member < members_; ++member) {
            for (int stage = 0; stage < stages_; ++stage) {
                multiply(at.stage_factor(member, stage), factor(factors, member, stage));
            }
        }
    }
    if (!plan_.ranks_replicas()) {
        for (int replica = 0; replica < replicas_; ++replica) {
            std::fill_n(chosen_[replica].at, lanes, replica);
        }
        std::copy_n(factors.begin(), chosen_factor_.size(), chosen_factor_.begin());
        return;
    }
    rank_replicas(at, factors);
    const int coupled = graph_.placement.coupled;
    for (int member = 0; member < plan_.simulated * coupled; ++member) {
        for (int stage = 0; stage < stages_; ++stage) {
            Floats& chosen = factor(chosen_factor_, member, stage);
            for (int l = 0; l < lanes; ++l) {
                const int who = chosen_[member / coupled].at[l] * coupled + member % coupled;
                chosen.at[l] = factor(factors, who, stage).at[l];
            }
        }
    }
}

/// Persistent factor of the tensor parallel group of each (replica, stage), times the common compute regime.
void PlanStep::take_persistent(const BlockStep& at, std::vector<Floats>& factors)
{
    const int groups = stages_ * members_;
    if (plan_.group_varies) {
        for (int g = 0; g < groups; ++g) {
            Floats& f = factor_of_group(factors, g);
            look_up(graph_.group, at.group_words[g], f);
            multiply(at.compute, f);
        }
    } else {
        Floats same;
        scale(graph_.group(0), at.compute, same);
        std::fill_n(factors.begin(), groups, same);
    }
    if (graph_.node.empty() && !at.noise.node_varies) {
        return;
    }
    Floats mean;
    std::fill_n(mean.at, lanes, 1.0F);
    for (int node = 0; node < plan_.nodes(); ++node) {
        const Floats* drawn = !graph_.drawn(node) ? nullptr : at.noise.node_varies ? &at.node[node] : &mean;
        spread_over_groups(factors, node, drawn, at.compute);
    }
}

Floats& PlanStep::factor_of_group(std::vector<Floats>& factors, int group) const
{
    const Placement::Position position = graph_.placement.position(group);
    return factor(factors, position.replica, position.stage);
}

/// A group on one node takes the node's factor; one that spans several takes the largest. A known one stands for its GPUs, too.
/// `drawn`: null where it is known.
void PlanStep::spread_over_groups(std::vector<Floats>& factors, int node, const Floats* drawn, const Floats& compute)
{
    const Placement& place = graph_.placement;
    if (place.tp <= place.gpus_per_node) {
        const int per_node = place.gpus_per_node / place.tp;
        const int end = std::min((node + 1) * per_node, stages_ * members_);
        for (int g = node * per_node; g < end; ++g) {
            Floats& own = factor_of_group(factors, g);
            drawn != nullptr ? multiply(*drawn, own) : scale(graph_.node[node], compute, own);
        }
        return;
    }
    const int span = place.tp / place.gpus_per_node;
    if (node % span == 0) {
        widest_ = Floats{};
        slowest_known_ = 0.0F;
    }
    if (drawn != nullptr) {
        wait_for(*drawn, widest_);
    } else {
        slowest_known_ = std::max(slowest_known_, graph_.node[node]);
    }
    if (node % span == span - 1) {
        Floats& own = factor_of_group(factors, node / span);
        multiply(widest_, own);  // zero where none is drawn
        wait_for_scaled(slowest_known_, compute, own);
    }
}

/// The optimizer starts after the last gradient everywhere (their norm is global) and ends with the slowest GPU.
void PlanStep::keep_optimizer_time(std::vector<Floats>& factors)
{
    optimizer_ = Floats{};
    for (int member = 0; member < members_; ++member) {
        for (int stage = 0; stage < stages_; ++stage) {
            wait_for_scaled(graph_.optimizer_s[stage], factor(factors, member, stage), optimizer_);
        }
    }
}

/// What is waited for of its collectives: the end of each gather of parameters, and the time of each gradient sum.
void PlanStep::take_collectives(const BlockStep& at)
{
    const int chunks = graph_.chunks();
    Floats mixed;
    for (int stage = 0; stage < stages_; ++stage) {
        Floats sum{};
        for (int part = stage * chunks; part < (stage + 1) * chunks; ++part) {
            const Floats* regime = at.regime.empty() ? nullptr : &at.regime[graph_.exchange_tier];
            const float summed = graph_.reduction[part].all_reduce;
            if (summed > 0.0F) {
                mix(at.reduce_scatter[part], at.all_reduce[part], summed, mixed);
            }
            wait_beside(graph_.reduction[part], summed > 0.0F ? mixed : at.reduce_scatter[part], regime, at.compute,
                        reduce_[part]);
            wait_beside(graph_.gathering[part], at.all_gather[part], regime, at.compute, gathered_[part]);
            add(gathered_[part], sum);
            gathered_[part] = sum;
        }
        if (graph_.dp_overlap == DataParallelOverlap::off) {
            std::fill_n(gathered_.begin() + static_cast<std::ptrdiff_t>(stage) * chunks, chunks, sum);
        }
    }
}

/// path_[replica]: longest critical path; chosen_: the replicas with the longest, by lane, and an ordinary one, so that the
/// residual distribution is not learnt from extremes alone.
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
        const Floats* own = mean_factors(at, replica, &factor(factors, replica * graph_.placement.coupled, 0));
        for (std::size_t p = 0; p < plan_.paths.size(); ++p) {
            longest_path(shared_[p], plan_.paths[p].compute_s.data(), own, stages_, length);
        }
        if (!graph_.lead_s.empty()) {
            for (float& seconds : length.at) {
                seconds -= graph_.lead_s[replica];
            }
        }
        insert_largest(length, replica, slow, chosen_path_.data(), chosen_.data());
    }
    for (int l = 0; l < lanes; ++l) {
        const auto any = static_cast<int>((at.fleet.at[l] + at.step) % static_cast<std::uint32_t>(replicas_));
        chosen_[slow].at[l] = any;
        chosen_path_[slow].at[l] = path_[any].at[l];
    }
}

/// By stage, over the microbatches of a replica. `members`: factors of its own, [member * stages + stage].
const Floats* PlanStep::mean_factors(const BlockStep& at, int replica, const Floats* members)
{
    stage_factor_.resize(stages_);
    if (set_) {
        Ints who;
        std::fill_n(who.at, lanes, replica);
        set_->take(at, who, members);
        for (int stage = 0; stage < stages_; ++stage) {
            set_->mean(stage, stage_factor_[stage]);
        }
        return stage_factor_.data();
    }
    if (at.mean_microbatch.empty() && !lengths_) {
        return members;
    }
    if (lengths_) {
        lengths_->draw(at, static_cast<std::uint32_t>(replica));
    }
    for (int stage = 0; stage < stages_; ++stage) {
        stage_factor_[stage] = members[stage];
        if (!at.mean_microbatch.empty()) {
            multiply(at.mean_microbatch[replica], stage_factor_[stage]);
        }
        if (lengths_) {
            lengths_->multiply_by_mean(stage, stage_factor_[stage]);
        }
    }
    return stage_factor_.data();
}

/// What a path takes in every replica alike: mean communication in this step's regime, and the drawn collectives.
void PlanStep::add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const
{
    for (int l = 0; l < lanes; ++l) {
        length.at[l] = path.communication_s * at.communication.at[l] - path.ahead_s;
    }
    if (path.gathered_part >= 0) {
        add(gathered_[path.gathered_part], length);
    }
    for (const int part : path.reduced_parts) {
        add(reduce_[part], length);
    }
}

void PlanStep::begin_replica(const BlockStep& at, int k, const std::vector<Floats>& microbatch, Floats* slots)
{
    run_.slot = slots;
    slots[Program::start] = Floats{};
    run_.communication_factor = factors_vary(at) || set_ ? &at.communication : nullptr;
    run_.transfer_factor = run_.communication_factor != nullptr ? at.transfers() : nullptr;
    if (run_.communication_factor == nullptr) {
        run_.compute_factor = nullptr;
    } else if (set_) {
        set_->take(at, chosen_[k], &factor(chosen_factor_, k * graph_.placement.coupled, 0));
        run_.compute_factor = set_->factors();
    } else {
        run_.compute_factor = &factor(chosen_factor_, k, 0);
        if (lengths_) {
            take_lengths(at, k);
        }
        run_.microbatch = microbatch.empty() ? nullptr : microbatch.data();
    }
    if (!microbatch_.empty()) {
        at.draw_microbatches(chosen_[k], microbatch_);
        run_.microbatch = microbatch_.data();
    }
    if (exchanges()) {
        std::fill(gradients_end_.begin(), gradients_end_.end(), Floats{});
    }
}

/// The factors of the k-th simulated replica, with those of its microbatches' lengths.
void PlanStep::take_lengths(const BlockStep& at, int k)
{
    const int rows = run_.factor_rows;
    lengths_->draw(at, chosen_[k]);
    for (int stage = 0; stage < stages_; ++stage) {
        for (int microbatch = 0; microbatch < rows; ++microbatch) {
            Floats& out = length_factor_[static_cast<std::size_t>(stage) * rows + microbatch];
            out = factor(chosen_factor_, k, stage);
            lengths_->multiply_by(stage, microbatch, out);
        }
    }
    run_.compute_factor = length_factor_.data();
}

/// When the last stage of the replica at hand is done.
Floats PlanStep::last_end()
{
    Floats end{};
    if (!exchanges() && graph_.ahead_s.empty()) {
        wait_for_all(run_.slot, graph_.program->last, end);
        return end;
    }
    for (int stage = 0; stage < stages_; ++stage) {
        Floats own = run_.slot[graph_.program->last[stage]];
        if (exchanges()) {
            if (!run_.overlapped) {
                add(own, gradients_end_[stage]);
            }
            own = gradients_end_[stage];
        }
        if (!graph_.ahead_s.empty()) {
            for (float& time : own.at) {
                time -= graph_.ahead_s[stage];
            }
        }
        wait_for(own, end);
    }
    return end;
}

void PlanStep::end_replica(int k)
{
    Floats end = last_end();
    if (!graph_.lead_s.empty()) {
        for (int l = 0; l < lanes; ++l) {
            end.at[l] -= graph_.lead_s[chosen_[k].at[l]];
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

/// Replicas that were not simulated: path length plus a residual with the distribution of the simulated ones.
void PlanStep::wait_for_others(const BlockStep& at)
{
    const ReplicaResidualDistribution distribution = fit_replica_residuals(residuals_);
    const StandardDistribution& standard = at.noise.standard[NoiseTables::standard_index(distribution.skewness)];
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
            const float time = path + (distribution.at_zero.at[l] + distribution.slope * path) + distribution.deviation * z.at[l];
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
    for (float& seconds : slowest_.at) {
        seconds += graph_.outer_s;
    }
    return slowest_;
}

}  // namespace prismopt

#include "model/step/sample/plan_step.hpp"

#include <algorithm>
#include <cassert>

namespace prismopt {

namespace {

bool any(const std::vector<Exchange>& exchanges)
{
    return std::any_of(exchanges.begin(), exchanges.end(),
                       [](const Exchange& e) { return e.seconds > 0.0F; });
}

/// Where the power of each pass begins in the factors of microbatches, [part * passes + pass].
std::vector<std::uint32_t> firsts_of_powers(const MicrobatchPowers& powers, const Program& program)
{
    if (powers.tables.empty()) {
        return {};
    }
    const ScheduleShape& shape = program.shape;
    const int stage_chunks = shape.stages * shape.chunks;
    std::vector<std::uint32_t> firsts;
    for (int stage_chunk = 0; stage_chunk < stage_chunks; ++stage_chunk) {
        const int place = network_chunk_of(shape, {stage_chunk / shape.chunks, stage_chunk % shape.chunks});
        for (int pass = 0; pass < program.passes; ++pass) {
            const bool forward = is_forward(static_cast<Pass>(pass));
            firsts.push_back(powers.index(forward, place, stage_chunks) *
                             static_cast<std::uint32_t>(shape.microbatches));
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
    : graph(bound), simulated(std::min(replicas_simulated, replicas())),
      group_varies(!bound.group.constant()),
      exchanges(graph.placement.replicas > 1 || any(graph.gathering) || any(graph.reduction)),
      paths(simulated == replicas() ? std::vector<CriticalPath>{} : critical_paths(bound))
{
    assert(!graph.shapes.empty());  // compiled for sampling
    assert(graph.placement.replicas % graph.placement.coupled == 0);
    spread.reserve(graph.distribution.size());
    const auto shape = [&](const DurationDistribution& distribution) {
        return graph.shapes[distribution.shape].get();
    };
    for (const OpDistribution& distribution : graph.distribution) {
        spread.push_back({distribution.compute.mean_s, distribution.compute.mean_s * distribution.compute.cv,
                          distribution.communication.mean_s,
                          distribution.communication.mean_s * distribution.communication.cv,
                          distribution.transfer_s, shape(distribution.compute),
                          shape(distribution.communication), distribution.transfer_tier});
    }
    communicates = std::any_of(spread.begin(), spread.end(),
                               [](const OpSpread& op) { return op.communication_s > 0.0F; });
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
    : plan_(plan), graph_(plan.graph), simulated_(plan.simulated), stages_(graph_.stages()),
      replicas_(plan.replicas()), members_(graph_.placement.replicas),
      slowest_optimizer_s_(*std::max_element(graph_.optimizer_s.begin(), graph_.optimizer_s.end()))
{
    chosen_.replica.resize(plan.simulated);
    chosen_.path.resize(plan.simulated);
    ranked_.shared.resize(plan.paths.size());
    microbatch_.first_of_power = firsts_of_powers(noise.microbatch_powers, *graph_.program);
    if (noise.microbatch_varies && plan.ranks_replicas() && !plan.coupled()) {
        const std::size_t powers = std::max<std::size_t>(1, noise.microbatch_powers.tables.size());
        microbatch_.drawn.resize(graph_.program->shape.microbatches * powers);
    }
    run_.first_of_power = microbatch_.first_of_power.empty() ? nullptr : microbatch_.first_of_power.data();
    run_.overlapped = graph_.dp_overlap == DataParallelOverlap::on;
    run_.distribution = plan_.spread.data();
    if (exchanges()) {
        collectives_.gathered.resize(graph_.gathering.size());
        collectives_.reduce.resize(graph_.reduction.size());
        collectives_.gradients_end.resize(stages_);
        run_.gathered = collectives_.gathered.data();
        run_.reduce = collectives_.reduce.data();
        run_.gradients_end = collectives_.gradients_end.data();
    }
    if (plan.coupled()) {
        set_.emplace(graph_, noise);
        run_.factor_rows = set_->rows();
    } else if (plan.lengths_vary()) {
        microbatch_.lengths.emplace(graph_);
        run_.factor_rows = graph_.program->shape.microbatches;
        microbatch_.with_lengths.resize(static_cast<std::size_t>(stages_) * run_.factor_rows);
    }
}

void PlanStep::begin(const BlockStep& at, std::vector<Floats>& factors)
{
    slowest_ = Floats{};
    ranked_.residuals.clear();
    if (exchanges()) {
        time_collectives(at);
    }
    if (factors_vary(at) || plan_.ranks_replicas() || set_) {
        set_factors(at, factors);
    } else {
        std::fill_n(optimizer_.at, lanes, slowest_optimizer_s_);
    }
}

/// Factors of the replicas that are simulated, and which these are.
void PlanStep::set_factors(const BlockStep& at, std::vector<Floats>& factors)
{
    factors.resize(std::max(factors.size(), static_cast<std::size_t>(stages_) * members_));
    chosen_.factor.resize(static_cast<std::size_t>(plan_.simulated) * graph_.placement.coupled * stages_);
    set_persistent(at, factors);
    set_optimizer_time(factors);  // before per-step factors join the persistent ones
    if (at.noise.stage_varies) {
        for (int member = 0; member < members_; ++member) {
            for (int stage = 0; stage < stages_; ++stage) {
                multiply(at.stage_factor(member, stage), factor(factors, member, stage));
            }
        }
    }
    if (!plan_.ranks_replicas()) {
        for (int replica = 0; replica < replicas_; ++replica) {
            std::fill_n(chosen_.replica[replica].at, lanes, replica);
        }
        std::copy_n(factors.begin(), chosen_.factor.size(), chosen_.factor.begin());
        return;
    }
    rank_replicas(at, factors);
    const int coupled = graph_.placement.coupled;
    for (int member = 0; member < plan_.simulated * coupled; ++member) {
        for (int stage = 0; stage < stages_; ++stage) {
            Floats& chosen = factor(chosen_.factor, member, stage);
            for (int l = 0; l < lanes; ++l) {
                const int who = chosen_.replica[member / coupled].at[l] * coupled + member % coupled;
                chosen.at[l] = factor(factors, who, stage).at[l];
            }
        }
    }
}

/// Persistent factor of the tensor parallel group of each (replica, stage), times the common compute regime.
void PlanStep::set_persistent(const BlockStep& at, std::vector<Floats>& factors)
{
    const int groups = stages_ * members_;
    if (plan_.group_varies) {
        for (int g = 0; g < groups; ++g) {
            Floats& f = factor_of_group(factors, g);
            lookup(graph_.group, at.group_words[g], f);
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
    if (graph_.placement.tp <= graph_.placement.gpus_per_node) {
        multiply_nodes(at, factors);
    } else {
        multiply_spanned_nodes(at, factors);
    }
}

/// Null if the node is known; it stands for the factor of its GPUs, too.
const Floats* PlanStep::drawn_factor(const BlockStep& at, int node) const
{
    static constexpr Floats mean = [] {
        Floats ones{};
        for (float& one : ones.at) {
            one = 1.0F;
        }
        return ones;
    }();
    if (!graph_.drawn(node)) {
        return nullptr;
    }
    return at.noise.node_varies ? &at.node[node] : &mean;
}

Floats& PlanStep::factor_of_group(std::vector<Floats>& factors, int group) const
{
    const Placement::Position position = graph_.placement.position(group);
    return factor(factors, position.replica, position.stage);
}

/// A group on one node takes the node's factor.
void PlanStep::multiply_nodes(const BlockStep& at, std::vector<Floats>& factors)
{
    const int per_node = graph_.placement.gpus_per_node / graph_.placement.tp;
    for (int node = 0; node < plan_.nodes(); ++node) {
        const Floats* drawn = drawn_factor(at, node);
        const int end = std::min((node + 1) * per_node, stages_ * members_);
        for (int g = node * per_node; g < end; ++g) {
            Floats& own = factor_of_group(factors, g);
            if (drawn != nullptr) {
                multiply(*drawn, own);
            } else {
                scale(graph_.node[node], at.compute, own);
            }
        }
    }
}

/// A group that spans several nodes takes the largest factor.
void PlanStep::multiply_spanned_nodes(const BlockStep& at, std::vector<Floats>& factors)
{
    const int span = graph_.placement.tp / graph_.placement.gpus_per_node;
    Floats widest{};             // largest factor of the drawn nodes that a group spans
    float slowest_known = 0.0F;  // the same for the known nodes
    for (int node = 0; node < plan_.nodes(); ++node) {
        if (node % span == 0) {
            widest = Floats{};
            slowest_known = 0.0F;
        }
        if (const Floats* drawn = drawn_factor(at, node)) {
            wait_for(*drawn, widest);
        } else {
            slowest_known = std::max(slowest_known, graph_.node[node]);
        }
        if (node % span == span - 1) {
            Floats& own = factor_of_group(factors, node / span);
            multiply(widest, own);  // zero where none is drawn
            wait_for_scaled(slowest_known, at.compute, own);
        }
    }
}

/// The optimizer starts after the last gradient everywhere (their norm is global)
/// and ends with the slowest GPU.
void PlanStep::set_optimizer_time(std::vector<Floats>& factors)
{
    optimizer_ = Floats{};
    for (int member = 0; member < members_; ++member) {
        for (int stage = 0; stage < stages_; ++stage) {
            wait_for_scaled(graph_.optimizer_s[stage], factor(factors, member, stage), optimizer_);
        }
    }
}

/// What is waited for of its collectives: the end of each gather of parameters, and
/// the time of each gradient sum.
void PlanStep::time_collectives(const BlockStep& at)
{
    const int chunks = graph_.chunks();
    Floats mixed;
    for (int stage = 0; stage < stages_; ++stage) {
        Floats sum{};
        for (int stage_chunk = stage * chunks; stage_chunk < (stage + 1) * chunks; ++stage_chunk) {
            const Floats* regime = at.regime.empty() ? nullptr : &at.regime[graph_.exchange_tier];
            const float summed = graph_.reduction[stage_chunk].all_reduce;
            if (summed > 0.0F) {
                mix(at.reduce_scatter[stage_chunk], at.all_reduce[stage_chunk], summed, mixed);
            }
            wait_beside(graph_.reduction[stage_chunk], summed > 0.0F ? mixed : at.reduce_scatter[stage_chunk],
                        regime, at.compute, collectives_.reduce[stage_chunk]);
            wait_beside(graph_.gathering[stage_chunk], at.all_gather[stage_chunk], regime, at.compute,
                        collectives_.gathered[stage_chunk]);
            add(collectives_.gathered[stage_chunk], sum);
            collectives_.gathered[stage_chunk] = sum;
        }
        if (graph_.dp_overlap == DataParallelOverlap::off) {
            std::fill_n(collectives_.gathered.begin() + static_cast<std::ptrdiff_t>(stage) * chunks, chunks,
                        sum);
        }
    }
}

/// Lengths of the replicas' longest critical paths. Chosen are the replicas with the longest, by lane, and an
/// ordinary one, so that the residual distribution is not learnt from extremes alone.
void PlanStep::rank_replicas(const BlockStep& at, std::vector<Floats>& factors)
{
    const int slow = plan_.simulated - 1;
    ranked_.path.assign(replicas_, Floats{});
    std::fill(chosen_.path.begin(), chosen_.path.end(), Floats{});
    for (std::size_t p = 0; p < plan_.paths.size(); ++p) {
        add_shared(at, plan_.paths[p], ranked_.shared[p]);
    }
    for (int replica = 0; replica < replicas_; ++replica) {
        Floats& length = ranked_.path[replica];
        const Floats* own =
            mean_factors(at, replica, &factor(factors, replica * graph_.placement.coupled, 0));
        for (std::size_t p = 0; p < plan_.paths.size(); ++p) {
            longest_path(ranked_.shared[p], plan_.paths[p].compute_s.data(), own, stages_, length);
        }
        if (!graph_.lead_s.empty()) {
            for (float& seconds : length.at) {
                seconds -= graph_.lead_s[replica];
            }
        }
        insert_largest(length, replica, slow, chosen_.path.data(), chosen_.replica.data());
    }
    for (int l = 0; l < lanes; ++l) {
        const auto any = static_cast<int>((at.fleet.at[l] + at.step) % static_cast<std::uint32_t>(replicas_));
        chosen_.replica[slow].at[l] = any;
        chosen_.path[slow].at[l] = ranked_.path[any].at[l];
    }
}

/// By stage, over the microbatches of a replica. `members`: factors of its own, [member * stages + stage].
const Floats* PlanStep::mean_factors(const BlockStep& at, int replica, const Floats* members)
{
    ranked_.stage_factor.resize(stages_);
    if (set_) {
        Ints who;
        std::fill_n(who.at, lanes, replica);
        set_->draw_set(at, who, members);
        for (int stage = 0; stage < stages_; ++stage) {
            set_->mean(stage, ranked_.stage_factor[stage]);
        }
        return ranked_.stage_factor.data();
    }
    if (at.mean_microbatch.empty() && !microbatch_.lengths) {
        return members;
    }
    if (microbatch_.lengths) {
        microbatch_.lengths->draw(at, static_cast<std::uint32_t>(replica));
    }
    for (int stage = 0; stage < stages_; ++stage) {
        ranked_.stage_factor[stage] = members[stage];
        if (!at.mean_microbatch.empty()) {
            multiply(at.mean_microbatch[replica], ranked_.stage_factor[stage]);
        }
        if (microbatch_.lengths) {
            microbatch_.lengths->multiply_by_mean(stage, ranked_.stage_factor[stage]);
        }
    }
    return ranked_.stage_factor.data();
}

/// What a path takes in every replica equally: mean communication in this step's
/// regime, and the drawn collectives.
void PlanStep::add_shared(const BlockStep& at, const CriticalPath& path, Floats& length) const
{
    for (int l = 0; l < lanes; ++l) {
        length.at[l] = path.communication_s * at.communication.at[l] - path.ahead_s;
    }
    if (path.gathered_chunk >= 0) {
        add(collectives_.gathered[path.gathered_chunk], length);
    }
    for (const int stage_chunk : path.reduced_chunks) {
        add(collectives_.reduce[stage_chunk], length);
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
        set_->draw_set(at, chosen_.replica[k], &factor(chosen_.factor, k * graph_.placement.coupled, 0));
        run_.compute_factor = set_->factors();
    } else {
        run_.compute_factor = &factor(chosen_.factor, k, 0);
        if (microbatch_.lengths) {
            multiply_lengths(at, k);
        }
        run_.microbatch = microbatch.empty() ? nullptr : microbatch.data();
    }
    if (!microbatch_.drawn.empty()) {
        at.draw_microbatches(chosen_.replica[k], microbatch_.drawn);
        run_.microbatch = microbatch_.drawn.data();
    }
    if (exchanges()) {
        std::fill(collectives_.gradients_end.begin(), collectives_.gradients_end.end(), Floats{});
    }
}

/// The factors of the k-th simulated replica, with those of its microbatches' lengths.
void PlanStep::multiply_lengths(const BlockStep& at, int k)
{
    const int rows = run_.factor_rows;
    microbatch_.lengths->draw(at, chosen_.replica[k]);
    for (int stage = 0; stage < stages_; ++stage) {
        for (int microbatch = 0; microbatch < rows; ++microbatch) {
            Floats& out = microbatch_.with_lengths[static_cast<std::size_t>(stage) * rows + microbatch];
            out = factor(chosen_.factor, k, stage);
            microbatch_.lengths->multiply_by(stage, microbatch, out);
        }
    }
    run_.compute_factor = microbatch_.with_lengths.data();
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
                add(own, collectives_.gradients_end[stage]);
            }
            own = collectives_.gradients_end[stage];
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
            end.at[l] -= graph_.lead_s[chosen_.replica[k].at[l]];
        }
    }
    wait_for(end, slowest_);
    if (plan_.ranks_replicas()) {
        for (int l = 0; l < lanes; ++l) {
            const double path = chosen_.path[k].at[l];
            ranked_.residuals.push_back({path, end.at[l] - path});
        }
    }
}

/// Replicas that were not simulated: path length plus a residual with the distribution of the simulated ones.
void PlanStep::wait_for_others(const BlockStep& at)
{
    const ReplicaResidualDistribution distribution = fit_replica_residuals(ranked_.residuals);
    const StandardDistribution& standard =
        at.noise.standard[NoiseTables::standard_index(distribution.skewness)];
    std::array<Words, 4> words;
    Floats z;
    for (int replica = 0; replica < replicas_; ++replica) {
        if (replica % 4 == 0) {
            at.draw(step_replica(at.step, static_cast<std::uint32_t>(replica)), 0, Stream::other_replicas,
                    words);
        }
        standard_draws(at.noise.scores, standard, words[replica % 4], z);
        for (int l = 0; l < lanes; ++l) {
            bool known = false;
            for (int k = 0; k < plan_.simulated; ++k) {
                known = known || chosen_.replica[k].at[l] == replica;
            }
            const float path = ranked_.path[replica].at[l];
            const float time = path + (distribution.at_zero.at[l] + distribution.slope * path) +
                               distribution.deviation * z.at[l];
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

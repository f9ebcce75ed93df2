#include "model/step/graph/execution_graph.hpp"

#include "model/base/random.hpp"
#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/plan/node_order.hpp"
#include "model/step/graph/balanced_layout.hpp"
#include "model/step/graph/data_parallel.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/graph/memory.hpp"

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace prismopt {

namespace {

PassCost PartCost::*cost_of(Pass pass)
{
    constexpr std::array costs{&PartCost::forward,         &PartCost::backward,       &PartCost::input_gradient,
                               &PartCost::weight_gradient, &PartCost::paired_forward, &PartCost::paired_backward};
    return costs[static_cast<std::size_t>(pass)];
}

/// A plan's parts of the network by chunk of a stage.
class Parts {
public:
    Parts(const ScheduleShape& shape, const std::vector<Chunk>& chunks, const LayerCosts& costs) : shape_(shape), chunks_(chunks)
    {
        made_of_.reserve(chunks.size());
        for (const Chunk& chunk : chunks) {
            made_of_.emplace_back(chunk, costs);
        }
    }

    int count() const { return shape_.stages * shape_.chunks; }
    Seat seat(int part) const { return {part / shape_.chunks, part % shape_.chunks}; }
    const Chunk& chunk(int part) const { return chunks_[part_of_network(shape_, seat(part))]; }
    const ChunkParts& made_of(int part) const { return made_of_[part_of_network(shape_, seat(part))]; }
    ChunkPass pass(int part, Pass kind) const { return made_of(part).pass(cost_of(kind)); }
    /// Without embedding and head.
    ChunkPass layers_of(int part, Pass kind) const { return made_of(part).layers(cost_of(kind)); }
    /// In the order of the network.
    std::span<const ChunkParts> made_of() const { return made_of_; }

    /// Calls visit(passes, costs) with the passes of a part that take time, forward and backward first. A pair's time is all in its
    /// backward.
    template <class Visit>
    void with_passes(int part, int passes, Visit&& visit) const
    {
        constexpr std::size_t most = 5;
        boost::container::static_vector<Pass, most> kinds;
        boost::container::static_vector<ChunkPass, most> costs;
        for (const Pass kind : {Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient}) {
            if (static_cast<int>(kind) < passes) {
                kinds.push_back(kind);
                costs.push_back(pass(part, kind));
            }
        }
        const bool pairs = static_cast<int>(Pass::paired_backward) < passes;
        const int other = pairs ? part + (seat(part).chunk == 0 ? 1 : -1) : part;
        const ChunkPass beside = pairs ? pass(other, Pass::paired_forward) : ChunkPass{};
        if (pairs) {
            kinds.push_back(Pass::paired_backward);
            costs.push_back(pass(part, Pass::paired_backward));
            costs.back().beside = &beside;
        }
        visit(std::span<const Pass>(kinds.data(), kinds.size()), std::span<const ChunkPass>(costs.data(), costs.size()));
    }

    /// Stage of the part before (-1) or after (1); the part's own at the ends.
    int stage_next_to(int part, int step) const
    {
        const auto next = neighbour(shape_, seat(part), step);
        return next ? next->stage : seat(part).stage;
    }

    /// What a tensor parallel member is sent by the part before, or of gradients by the one after: the input of a part, and the gradient
    /// of the next part's. Nothing where no gradient is needed, or between parts of one stage.
    double received_bytes(int part, int step) const
    {
        const auto next = neighbour(shape_, seat(part), step);
        if (!next || next->stage == seat(part).stage) {
            return 0.0;
        }
        const PartCost& reader = first_of(step < 0 ? seat(part) : *next);
        return step < 0 || reader.needs_gradient ? reader.input_bytes : 0.0;
    }
    /// ... and what it sends there.
    double sent_bytes(int part, int step) const
    {
        const auto next = neighbour(shape_, seat(part), step);
        return next ? received_bytes(next->stage * shape_.chunks + next->chunk, -step) : 0.0;
    }

private:
    const PartCost& first_of(Seat at) const { return *made_of_[part_of_network(shape_, at)].parts.front().cost; }

    const ScheduleShape& shape_;
    const std::vector<Chunk>& chunks_;
    std::vector<ChunkParts> made_of_;
};

void set_means(const ChunkPass& pass, OpLaw& law)
{
    law.compute_s = static_cast<float>(pass.compute_s());
    law.communication_s = static_cast<float>(pass.communication_s());
    law.compute.mean_s = law.compute_s;
    law.communication.mean_s = law.communication_s;
}

/// The duration with its shape among the graph's.
DurationLaw with_shape(const ComposedDuration& duration, ExecutionGraph& graph)
{
    auto& shapes = graph.shapes;
    auto at = std::find(shapes.begin(), shapes.end(), duration.shape);
    if (at == shapes.end()) {
        at = shapes.insert(shapes.end(), duration.shape);
    }
    return {static_cast<float>(duration.mean_s), static_cast<float>(duration.cv), static_cast<int>(at - shapes.begin())};
}

/// Megatron-LM without overlapped messages (forward_backward_pipelining_with_interleaving): a stage sends what a forward and a
/// backward gave, and receives what the next two need, in one exchange, and does nothing else meanwhile. So an op holds its stage for
/// half of its transfer; the other half it only comes later by, and a message alone still takes its whole time.
bool waits_for_chunks(const ParallelPlan& plan, const Cluster& cluster)
{
    return plan.schedule == Schedule::interleaved && cluster.stack.waits_for_chunks;
}

DurationLaw longer(const DurationLaw& law, float seconds)
{
    const float mean = law.mean_s + seconds;
    return mean > 0.0F ? DurationLaw{mean, law.cv * law.mean_s / mean, law.shape} : law;
}

/// Composed laws of all ops. `waits`: each op's communication has a transfer's time in it.
void add_noise(const Parts& parts, const BarrierWidths& widths, bool waits, ChainLaws& chains, ExecutionGraph& graph)
{
    if (widths.replicas() > 1) {
        int longest = 0;
        for (int part = 1; part < parts.count(); ++part) {
            longest = parts.chunk(part).layers > parts.chunk(longest).layers ? part : longest;
        }
        const std::array typical{parts.layers_of(longest, Pass::forward), parts.layers_of(longest, Pass::backward)};
        graph.coupled = coupled_law(chains, typical, widths);
    }
    for (int part = 0; part < parts.count(); ++part) {
        parts.with_passes(part, graph.passes(), [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
            const std::vector<ComposedDuration> compute = set_durations(chains, costs_of, widths);
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                OpLaw& law = graph.law[graph.law_at(part, kinds[i])];
                law.compute = with_shape(compute[i], graph);
                law.communication = with_shape(chains.compose(costs_of[i], widths).communication, graph);
                law.communication = longer(law.communication, (waits ? law.transfer_s : 0.0F) + law.held_s);
            }
        });
    }
}

CompiledProgram program_of(const ScheduleShape& shape, const PartOrders& orders)
{
    auto on_stages = orders_on_stages(shape, orders);
    if (auto* refusal = std::get_if<Infeasible>(&on_stages)) {
        return *refusal;
    }
    return compile_program(shape, std::get<TaskOrders>(on_stages));
}

double transfer_time(double bytes, int from_stage, int to_stage, const Placement& placement, const Cluster& cluster)
{
    if (bytes == 0.0) {
        return 0.0;
    }
    return point_to_point_time(Bytes{bytes}, placement.gpu(0, from_stage), placement.gpu(0, to_stage),
                               placement.senders(from_stage, to_stage), cluster)
               .si /
           cluster.speed.of(KernelClass::p2p);
}

Bytes capacity_of(const Setting& setting) { return setting.cluster.accelerator.memory * (1.0 - setting.memory_headroom); }

std::optional<Infeasible> over_capacity(const MemoryUse& memory, LayerSplit split, const Setting& setting)
{
    const double capacity = capacity_of(setting).si;
    const double need = memory.total().si;
    if (need <= capacity) {
        return std::nullopt;
    }
    const int places = need - capacity < 0.1e9 ? 4 : 1;  // the two differ
    char text[160];
    std::snprintf(text, sizeof text, "stage %d needs %.*f GB%s, but %.*f GB are usable; use more pp or tp, or recompute",
                  memory.stage, places, need / 1e9,
                  split == LayerSplit::balanced ? " in the fastest split, and no split fits" : "", places, capacity / 1e9);
    return Infeasible{Reason::out_of_memory, text, need - capacity};
}

/// A circuit carries a microbatch's messages one after the other, of all replicas. Where they take longer than the busiest stage works
/// on a microbatch, that stage can have one only so often: its forward passes are longer by the rest.
void hold_for_circuits(const Parts& parts, const Cluster& cluster, ExecutionGraph& graph)
{
    const Placement& at = graph.placement;
    if (!at.stages_cross()) {
        return;
    }
    double busy = 0.0;  // seconds of the busiest circuit, by microbatch
    for (std::size_t t = 1; t < cluster.tiers.size(); ++t) {
        const NetworkTier& tier = cluster.tiers[t];
        std::map<int, double> leaving;  // bytes of one member of one replica, by unit
        for (int part = 0; tier.circuit() && part < parts.count(); ++part) {
            const int stage = parts.seat(part).stage;
            for (const int step : {-1, 1}) {
                const int here = at.gpu(0, stage) / cluster.tiers[t - 1].group_gpus;
                const int there = at.gpu(0, parts.stage_next_to(part, step)) / cluster.tiers[t - 1].group_gpus;
                leaving[here] += here != there ? parts.sent_bytes(part, step) : 0.0;
            }
        }
        const double second = tier.aggregate.si * tier.reached() / (at.tp * at.replicas);
        for (const auto& [unit, bytes] : leaving) {
            busy = std::max(busy, bytes / second);
        }
    }
    std::vector<double> work(graph.stages(), 0.0);
    for (int part = 0; part < parts.count(); ++part) {
        for (int pass = 0; pass < graph.passes(); ++pass) {
            const OpLaw& law = graph.law[graph.law_at(part, static_cast<Pass>(pass))];
            work[parts.seat(part).stage] += static_cast<double>(law.compute_s) + static_cast<double>(law.communication_s);
        }
    }
    const auto busiest = std::max_element(work.begin(), work.end());
    const int stage = static_cast<int>(busiest - work.begin());
    const double rest = std::max(0.0, busy - *busiest) / graph.chunks();
    for (int chunk = 0; rest > 0.0 && chunk < graph.chunks(); ++chunk) {
        OpLaw& law = graph.law[graph.law_at(stage * graph.chunks() + chunk, Pass::forward)];
        law.held_s = static_cast<float>(rest);
        law.communication_s += law.held_s;
        law.communication = longer(law.communication, law.held_s);
    }
}

/// What one GPU of a stage updates.
struct Updated {
    double matrices = 0.0;
    double others = 0.0;
    double orthogonal_s = 0.0;

    Updated& operator+=(const Updated& other)
    {
        matrices += other.matrices;
        others += other.others;
        orthogonal_s += other.orthogonal_s;
        return *this;
    }
    /// Nothing where nothing is trained.
    double seconds(const OptimizerSettings& optimizer, Offload offload, const Cluster& cluster) const
    {
        return matrices + others > 0.0
                   ? (update_time(matrices, others, optimizer, offload, cluster.accelerator) + cluster.stack.step).si +
                         orthogonal_s / cluster.speed.of(KernelClass::gemm)
                   : 0.0;
    }
};

/// Whole matrices go to the GPUs that share states out (Megatron-Core, layer_wise_optimizer.py).
Updated updated_by(const Parameters& own, const ChunkParts& made_of, const DataParallel& exchange)
{
    if (own.all == 0.0) {
        return {};
    }
    const double all = exchange.updated(own);
    const double others = all * own.ends / own.all;
    return {all - others, others, made_of.sum(&PartCost::orthogonal_s) * all / own.all};
}

ExecutionGraph build_graph(const ParallelPlan& plan, std::shared_ptr<const Program> program, const Parts& parts,
                           const LayerCosts& costs, const OptimizerSettings& optimizer, const Setting& setting)
{
    const Cluster& cluster = setting.cluster;
    ExecutionGraph graph;
    graph.program = std::move(program);
    graph.placement = place(plan, cluster);
    graph.dp_overlap = plan.dp_overlap;
    graph.group =
        setting.noise.group_factor(graph.placement.tp, segment_cv(costs.typical(), setting.noise.residual, barrier_widths(plan)));
    if (cluster.nodes_listed()) {
        // A known factor is of a node's slowest GPU, which all in it wait for: neither its GPUs nor itself are drawn.
        for (const int node : nodes_in_order(plan, cluster)) {
            graph.node.push_back(static_cast<float>(cluster.node_factors[node]));
        }
        if (!std::any_of(graph.node.begin(), graph.node.end(),
                         [](float f) { return f == static_cast<float>(Cluster::drawn_node); })) {
            graph.group = QuantileTable([](double, bool) { return 1.0; });
        }
    }
    graph.group_mean = graph.group.mean();

    graph.law.resize(static_cast<std::size_t>(parts.count()) * graph.passes());
    graph.first_slot.resize(parts.count());
    graph.reduction.resize(parts.count());
    graph.gathering.resize(parts.count());
    const DataParallel exchange(plan, cluster, optimizer);
    graph.exchange_tier = setting.noise.tier.empty() ? 0 : static_cast<int>(exchange.tier());
    std::vector<Updated> updated(plan.pp);
    const bool splits = graph.passes() > static_cast<int>(Pass::weight_gradient);
    const bool waits = waits_for_chunks(plan, cluster);
    for (int part = 0; part < parts.count(); ++part) {
        const Chunk& chunk = parts.chunk(part);
        const auto [stage, place] = parts.seat(part);
        const auto transfer_from = [&](int step) {
            return transfer_time(parts.received_bytes(part, step), parts.stage_next_to(part, step), stage, graph.placement,
                                 cluster);
        };
        const double forward_transfer = transfer_from(-1);
        const double backward_transfer = transfer_from(1);
        parts.with_passes(part, graph.passes(), [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                set_means(costs_of[i], graph.law[graph.law_at(part, kinds[i])]);
            }
        });
        for (int pass = 0; pass < graph.passes(); ++pass) {
            const auto kind = static_cast<Pass>(pass);
            const double transfer = is_forward(kind) ? forward_transfer : gives_input_gradient(kind) ? backward_transfer : 0.0;
            OpLaw& law = graph.law[graph.law_at(part, kind)];
            if (!setting.noise.tier.empty() && transfer > 0.0) {
                const int giver = parts.stage_next_to(part, is_forward(kind) ? -1 : 1);
                law.transfer_tier =
                    static_cast<int>(tier_between(graph.placement.gpu(0, giver), graph.placement.gpu(0, stage), cluster));
            }
            law.transfer_s = static_cast<float>(waits ? 0.5 * transfer : transfer);
            if (waits) {
                law.communication_s += law.transfer_s;
                law.communication = longer(law.communication, law.transfer_s);
            }
        }
        graph.first_slot[part] = static_cast<std::uint16_t>(chunk.embedding ? 0 : chunk.first_layer + 1);

        const Parameters own = parts.made_of(part).parameters().trained();
        updated[stage] += updated_by(own, parts.made_of(part), exchange);
        const bool last = place == 0;  // of the stage's chunks, to have its gradients
        const ChunkPass forward = parts.pass(part, Pass::forward);
        const ChunkPass ending = parts.pass(part, splits ? Pass::weight_gradient : Pass::backward);
        graph.reduction[part] = exchange.reduction(own, ending, chunk.layers, last);
        graph.gathering[part] = exchange.gathering(own, forward, chunk.layers);
    }
    hold_for_circuits(parts, cluster, graph);
    for (const Updated& own : updated) {
        graph.optimizer_s.push_back(static_cast<float>(own.seconds(optimizer, plan.offload, cluster)));
    }
    if (plan.post_validation == PostValidation::on) {
        graph.ahead_s = idle_before(graph);
    }
    return graph;
}

}  // namespace

double ExecutionGraph::mean_factor(int replica, int stage) const
{
    if (node.empty()) {
        return group_mean;
    }
    const int first = placement.group(replica, stage) * placement.tp;
    double slowest = 0.0;
    for (int place = first / placement.gpus_per_node; place <= (first + placement.tp - 1) / placement.gpus_per_node; ++place) {
        slowest = std::max(slowest, drawn(place) ? group_mean : static_cast<double>(node[place]));
    }
    return slowest;
}

const LayerCosts& PlanCompiler::costs(const ParallelPlan& plan)
{
    const LayerShape shape = layer_shape(plan, setting_.phase.sequence, setting_.phase.global_batch);
    auto found = costs_.find(shape);
    if (found == costs_.end()) {
        found = costs_.emplace(shape, layer_costs(network_, setting_.workload.precision, shape, setting_.cluster)).first;
    }
    return found->second;
}

std::variant<CompiledPlan, Infeasible> PlanCompiler::compile(const ParallelPlan& plan, CompileFor purpose)
{
    if (plan.dp >= static_cast<int>(shared_by_replicas)) {  // random keys number replicas in 16 bits
        return Infeasible{Reason::replicas_to_simulate, std::to_string(plan.dp) + " replicas are too many; raise tp or pp", 0.0};
    }
    if (!expert_groups_divide(plan)) {
        return Infeasible{Reason::experts_and_gpus,
                          "ep*etp = " + std::to_string(plan.ep * plan.etp) +
                              " on tp*cp*dp = " + std::to_string(plan.tp * plan.cp * plan.dp) + " GPUs per stage; lower ep",
                          0.0};
    }
    if (auto refusal = placement_problem(plan, setting_.cluster)) {
        return *refusal;
    }
    if (auto refusal = node_problem(plan, setting_.cluster)) {
        return *refusal;
    }
    const ScheduleShape shape = schedule_shape(plan, setting_.phase.global_batch);
    auto program = setting_.orders ? program_of(shape, *setting_.orders) : compiled_program(shape);
    if (auto* refusal = std::get_if<Infeasible>(&program)) {
        return *refusal;
    }
    const auto& compiled = std::get<std::shared_ptr<const Program>>(program);
    const LayerCosts& layer = costs(plan);
    const Accelerator& accelerator = setting_.cluster.accelerator;
    const OptimizerSettings& optimizer = network_.optimizer;
    auto chunks = plan.split == LayerSplit::balanced
                      ? balanced_layout(layer, *compiled, plan, accelerator, optimizer, capacity_of(setting_))
                      : layout(static_cast<int>(network_.layers.size()), plan, setting_.workload.layouts);
    if (const auto* refusal = std::get_if<Infeasible>(&chunks)) {
        return *refusal;
    }
    CompiledPlan result;
    result.chunks = std::move(std::get<std::vector<Chunk>>(chunks));
    const Parts parts(shape, result.chunks, layer);
    result.stages = memory_by_stage(*compiled, parts.made_of(), plan, accelerator, optimizer);
    result.memory = fullest(result.stages);
    const PartCost& typical = layer.typical();
    result.held_for_weights = typical.saved_bytes > 0.0 ? std::min(1.0, typical.held_bytes / typical.saved_bytes) : 1.0;
    if (auto refusal = over_capacity(result.memory, plan.split, setting_)) {
        return *refusal;
    }
    result.graph = build_graph(plan, compiled, parts, layer, optimizer, setting_);
    if (purpose == CompileFor::sampling) {
        add_noise(parts, barrier_widths(plan), waits_for_chunks(plan, setting_.cluster), chains_, result.graph);
    }
    return result;
}

}  // namespace prismopt

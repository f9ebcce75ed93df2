#include "model/step/execution_graph.hpp"

#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/random.hpp"
#include "model/step/data_parallel.hpp"
#include "model/workload/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace prismopt {

namespace {

/// Place among a graph's parts, stage * v + chunk, of the network's chunk k.
std::size_t part_of(std::size_t k, const ExecutionGraph& graph)
{
    const std::size_t stages = graph.stages();
    return k % stages * graph.chunks() + k / stages;
}

ChunkPass chunk_pass(const Chunk& chunk, const LayerCosts& costs, Pass pass)
{
    const auto of = [pass](const PartCost& part) { return pass == Pass::forward ? &part.forward : &part.backward; };
    return {*of(costs.layer), chunk.layers, chunk.embedding ? of(costs.embedding) : nullptr,
            chunk.head ? of(costs.head) : nullptr};
}

OpLaw mean_law(const ChunkPass& pass, double transfer_s)
{
    OpLaw law;
    law.compute_s = static_cast<float>(pass.compute_s());
    law.communication_s = static_cast<float>(pass.communication_s());
    law.transfer_s = static_cast<float>(transfer_s);
    law.compute.mean_s = law.compute_s;
    law.communication.mean_s = law.communication_s;
    return law;
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

/// Composed laws of all ops.
void add_noise(const std::vector<Chunk>& chunks, const LayerCosts& costs, ChainLaws& chains, ExecutionGraph& graph)
{
    const Placement& at = graph.placement;
    if (at.coupled > 1) {
        const std::array typical{ChunkPass{costs.layer.forward, 1}, ChunkPass{costs.layer.backward, 1}};
        graph.coupled = coupled_law(chains, typical, at.tp, at.coupled);
    }
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        const std::size_t part = part_of(k, graph);
        for (const Pass pass : {Pass::forward, Pass::backward}) {
            const ComposedPass& composed = chains.compose(chunk_pass(chunks[k], costs, pass), at.tp * at.coupled);
            OpLaw& law = graph.law[2 * part + static_cast<std::size_t>(pass)];
            law.compute = with_shape(composed.compute, graph);
            law.communication = with_shape(composed.communication, graph);
        }
    }
}

/// Time of the transfer into chunk k from its neighbour in the network; nothing between chunks of one stage.
double transfer_time(int from_stage, int to_stage, const LayerCosts& costs, const Placement& placement, const Cluster& cluster)
{
    if (from_stage == to_stage) {
        return 0.0;
    }
    return point_to_point_time(Bytes{costs.boundary_bytes}, placement.gpu(0, from_stage), placement.gpu(0, to_stage),
                               placement.tp * placement.stage_stride, cluster)
        .si;
}

std::optional<Infeasible> over_capacity(const MemoryUse& memory, const Setting& setting)
{
    const double capacity = setting.cluster.accelerator.memory.si * (1.0 - setting.memory_headroom);
    const double need = memory.total().si;
    if (need <= capacity) {
        return std::nullopt;
    }
    char text[160];
    std::snprintf(text, sizeof text, "stage %d needs %.1f GB, %.1f GB may be used; more pp or tp, or recompute", memory.stage,
                  need / 1e9, capacity / 1e9);
    return Infeasible{"out of memory", text, need - capacity};
}

ExecutionGraph build_graph(const ParallelPlan& plan, std::shared_ptr<const Program> program, const std::vector<Chunk>& chunks,
                           const LayerCosts& costs, const Setting& setting)
{
    const Cluster& cluster = setting.cluster;
    ExecutionGraph graph;
    graph.program = std::move(program);
    graph.placement = place(plan, cluster);
    graph.dp_overlap = plan.dp_overlap;
    graph.group = setting.noise.group_factor(graph.placement.tp, segment_cv(costs.layer, setting.noise.residual));
    graph.group_mean = graph.group.mean();

    const std::size_t parts = chunks.size();
    graph.law.resize(2 * parts);
    graph.first_slot.resize(parts);
    graph.reduce_scatter_s.resize(parts);
    graph.all_gather_s.resize(parts);
    const DataParallel exchange(plan, cluster);
    std::vector<double> updated(plan.pp, 0.0);
    for (std::size_t k = 0; k < parts; ++k) {
        const Chunk& chunk = chunks[k];
        const int stage = static_cast<int>(k) % plan.pp;
        const std::size_t part = part_of(k, graph);
        const int before = k == 0 ? stage : (stage + plan.pp - 1) % plan.pp;
        const int after = k + 1 == parts ? stage : (stage + 1) % plan.pp;
        const ChunkPass forward = chunk_pass(chunk, costs, Pass::forward);
        const ChunkPass backward = chunk_pass(chunk, costs, Pass::backward);
        graph.law[2 * part] = mean_law(forward, transfer_time(before, stage, costs, graph.placement, cluster));
        graph.law[2 * part + 1] = mean_law(backward, transfer_time(after, stage, costs, graph.placement, cluster));
        graph.first_slot[part] = static_cast<std::uint16_t>(chunk.embedding ? 0 : chunk.first_layer + 1);

        const ChunkParameters own = chunk_parameters(chunk, costs);
        updated[stage] += exchange.updated(own);
        const bool last = k < static_cast<std::size_t>(plan.pp);  // of the stage's chunks, to have its gradients
        graph.reduce_scatter_s[part] = static_cast<float>(exchange.reduction(own, backward, chunk.layers, last));
        graph.all_gather_s[part] = static_cast<float>(exchange.gathering(own, forward, chunk.layers));
    }
    for (const double own : updated) {
        graph.optimizer_s.push_back(
            static_cast<float>((update_time(own, plan.offload, cluster.accelerator) + cluster.stack.step).si));
    }
    return graph;
}

}  // namespace

Placement place(const ParallelPlan& plan, const Cluster& cluster)
{
    Placement placement;
    placement.tp = plan.tp * plan.cp;  // the members of a context parallel group meet in each layer as well
    placement.stages = plan.pp;
    placement.replicas = plan.dp;
    placement.stage_stride = plan.order == PlacementOrder::tp_pp_dp ? 1 : plan.dp;
    placement.replica_stride = plan.order == PlacementOrder::tp_pp_dp ? plan.pp : 1;
    placement.gpus_per_node = cluster.gpus_per_node();
    return placement;
}

const LayerCosts& PlanCompiler::costs(const ParallelPlan& plan)
{
    const LayerShape shape = layer_shape(plan, setting_.phase.sequence, setting_.workload.layers);
    auto found = costs_.find(shape);
    if (found == costs_.end()) {
        found = costs_.emplace(shape, layer_costs(setting_.workload, shape, setting_.cluster)).first;
    }
    return found->second;
}

std::variant<CompiledPlan, Infeasible> PlanCompiler::compile(const ParallelPlan& plan, CompileFor purpose)
{
    if (plan.dp >= static_cast<int>(shared_by_replicas)) {  // random keys number replicas in 16 bits
        return Infeasible{"too many replicas to simulate", std::to_string(plan.dp) + " replicas; raise tp or pp", 0.0};
    }
    auto chunks = layout(setting_.workload.layers, plan);
    if (auto* refusal = std::get_if<Infeasible>(&chunks)) {
        return *refusal;
    }
    auto program = compiled_program({plan.schedule, plan.pp, plan.microbatches(setting_.phase.global_batch), plan.chunks});
    if (auto* refusal = std::get_if<Infeasible>(&program)) {
        return *refusal;
    }
    const auto& list = std::get<std::vector<Chunk>>(chunks);
    const auto& compiled = std::get<std::shared_ptr<const Program>>(program);
    const LayerCosts& layer = costs(plan);
    CompiledPlan result;
    result.memory = memory_use(*compiled, list, layer, plan, setting_.cluster.accelerator);
    if (auto refusal = over_capacity(result.memory, setting_)) {
        return *refusal;
    }
    result.graph = build_graph(plan, compiled, list, layer, setting_);
    if (purpose == CompileFor::sampling) {
        add_noise(list, layer, chains_, result.graph);
    }
    return result;
}

}  // namespace prismopt

#include "model/execution_graph.hpp"

#include "model/collective.hpp"
#include "model/kernel_time.hpp"
#include "model/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace prismopt {

namespace {

constexpr double gradient_message = 4.0;    // bytes a parameter: gradients are summed in 32 bits (Llama 3, section 3.3.2)
constexpr double parameter_message = 2.0;   // 16-bit parameters are gathered

/// Sum of what a chunk's parts cost in one pass.
PassCost chunk_pass(const Chunk& chunk, const LayerCosts& costs, Pass pass)
{
    const auto of = [pass](const PartCost& part) { return pass == Pass::forward ? part.forward : part.backward; };
    PassCost sum = chunk.layers * of(costs.layer);
    if (chunk.embedding) {
        sum += of(costs.embedding);
    }
    if (chunk.head) {
        sum += of(costs.head);
    }
    return sum;
}

double relative(double deviation, double mean) { return mean > 0.0 ? deviation / mean : 0.0; }
double skewness(double third, double variance) { return variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0; }

/// The residual of a chain is the sum of its kernels' residuals; at a barrier of tp members each segment takes the largest,
/// whose mean is in the group factor and whose spread is smaller.
OpLaw op_law(const PassCost& cost, double transfer_s, const WidthTables& width)
{
    OpLaw law;
    const double cv = relative(std::sqrt(cost.compute_variance), cost.compute_s);
    const int one = NoiseTables::standard_index(cv, skewness(cost.compute_third, cost.compute_variance));
    const BarrierMoments& largest = width.barrier[one];
    law.compute_s = static_cast<float>(cost.compute_s);
    law.compute_cv = static_cast<float>(cv * largest.deviation);
    law.compute_law = NoiseTables::standard_index(law.compute_cv, largest.skewness);
    law.communication_s = static_cast<float>(cost.communication_s);
    law.communication_cv = static_cast<float>(relative(std::sqrt(cost.communication_variance), cost.communication_s));
    law.communication_law = NoiseTables::standard_index(law.communication_cv,
                                                        skewness(cost.communication_third, cost.communication_variance));
    law.transfer_s = static_cast<float>(transfer_s);
    return law;
}

double mean_duration(const OpLaw& law, double group_mean)
{
    return static_cast<double>(law.compute_s) * group_mean + static_cast<double>(law.communication_s);
}

/// Time of the transfer into chunk k from its neighbour in the network; nothing between chunks of one stage.
double transfer_time(int from_stage, int to_stage, const LayerCosts& costs, const Placement& placement, const Cluster& cluster)
{
    if (from_stage == to_stage) {
        return 0.0;
    }
    return point_to_point_time(Bytes{costs.boundary_bytes}, placement.gpu(0, from_stage), placement.gpu(0, to_stage), cluster)
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
    std::snprintf(text, sizeof text, "stage %d needs %.1f GB, %.1f GB may be used; more pp or tp, or recompute",
                  memory.stage, need / 1e9, capacity / 1e9);
    return Infeasible{"out of memory", text, need - capacity};
}

ExecutionGraph build_graph(const ParallelPlan& plan, std::shared_ptr<const Program> program, const std::vector<Chunk>& chunks,
                           const LayerCosts& costs, const Setting& setting)
{
    const Cluster& cluster = setting.cluster;
    const WidthTables& width = setting.noise.width.at(plan.tp);
    ExecutionGraph graph;
    graph.program = std::move(program);
    graph.placement = place(plan, cluster);
    graph.dp_overlap = plan.dp_overlap;
    PassCost both = costs.layer.forward;
    both += costs.layer.backward;
    graph.group = setting.noise.group_factor(plan.tp, both.segment_cv());
    graph.group_mean = graph.group.mean();

    const std::size_t parts = chunks.size();
    graph.law.resize(2 * parts);
    graph.first_slot.resize(parts);
    graph.reduce_scatter_s.resize(parts);
    graph.all_gather_s.resize(parts);
    std::vector<double> parameters(plan.pp, 0.0);
    const Group replicas{plan.dp, plan.tp * graph.placement.replica_stride};
    const bool sharded = plan.sharding == Sharding::zero1;
    for (std::size_t k = 0; k < parts; ++k) {
        const Chunk& chunk = chunks[k];
        const int stage = static_cast<int>(k) % plan.pp;
        const std::size_t part = static_cast<std::size_t>(stage) * plan.chunks + k / plan.pp;
        const int before = k == 0 ? stage : (stage + plan.pp - 1) % plan.pp;
        const int after = k + 1 == parts ? stage : (stage + 1) % plan.pp;
        graph.law[2 * part] = op_law(chunk_pass(chunk, costs, Pass::forward),
                                     transfer_time(before, stage, costs, graph.placement, cluster), width);
        graph.law[2 * part + 1] = op_law(chunk_pass(chunk, costs, Pass::backward),
                                         transfer_time(after, stage, costs, graph.placement, cluster), width);
        graph.first_slot[part] = static_cast<std::uint16_t>(chunk.embedding ? 0 : chunk.first_layer + 1);

        const double own = chunk.layers * costs.layer.parameters + (chunk.embedding ? costs.embedding.parameters : 0.0) +
                           (chunk.head ? costs.head.parameters : 0.0);
        parameters[stage] += own;
        const auto kind = sharded ? Collective::reduce_scatter : Collective::all_reduce;
        graph.reduce_scatter_s[part] =
            static_cast<float>(collective_time(kind, Bytes{gradient_message * own}, replicas, cluster).time.si);
        graph.all_gather_s[part] = sharded ? static_cast<float>(collective_time(Collective::all_gather,
                                                                                Bytes{parameter_message * own}, replicas, cluster)
                                                                    .time.si)
                                           : 0.0F;
    }
    for (const double own : parameters) {
        const double updated = sharded ? own / plan.dp : own;
        graph.optimizer_s.push_back(static_cast<float>(
            elementwise_time(Bytes{optimizer_traffic_per_parameter * updated}, cluster.accelerator).si));
    }
    return graph;
}

/// Ends of a pass over the program with given means.
class MeanRun {
public:
    /// `slow_stage` works `slowness` times as long; -1: none.
    MeanRun(const ExecutionGraph& graph, int slow_stage, double slowness) : graph_(graph)
    {
        const auto parts = static_cast<std::size_t>(graph.stages()) * graph.chunks();
        duration_.resize(2 * parts);
        for (std::size_t i = 0; i < duration_.size(); ++i) {
            const int stage = static_cast<int>(i / 2) / graph.chunks();
            duration_[i] = mean_duration(graph.law[i], graph.group_mean * (stage == slow_stage ? slowness : 1.0));
        }
        gate_.resize(parts);
        for (int stage = 0; stage < graph.stages(); ++stage) {
            double gathered = 0.0;
            for (int c = 0; c < graph.chunks(); ++c) {
                gathered += static_cast<double>(graph.all_gather_s[stage * graph.chunks() + c]);
                gate_[stage * graph.chunks() + c] = gathered;
            }
            if (graph.dp_overlap == DataParallelOverlap::off) {
                std::fill_n(gate_.begin() + static_cast<std::ptrdiff_t>(stage) * graph.chunks(), graph.chunks(), gathered);
            }
        }
    }

    /// Calls step(op index, op, start, end, fed) for each op; `fed`: the input, not the stage, decided the start.
    template <class Step>
    void run(Step&& step)
    {
        stage_end_.assign(graph_.stages(), 0.0);
        gradients_end_.assign(graph_.stages(), 0.0);
        slot_end_.resize(graph_.program->slots);
        const bool overlapped = graph_.dp_overlap == DataParallelOverlap::on;
        for (std::size_t i = 0; i < graph_.program->ops.size(); ++i) {
            const ProgramOp& op = graph_.program->ops[i];
            const int part = graph_.part(op);
            const std::size_t law = 2 * static_cast<std::size_t>(part) + static_cast<std::size_t>(op.pass);
            double start = stage_end_[op.stage];
            bool fed = false;
            if (op.first_of_chunk) {
                start = std::max(start, gate_[part]);
            }
            if (op.in >= 0) {
                const double arrival = slot_end_[op.in] + static_cast<double>(graph_.law[law].transfer_s);
                fed = arrival > start;
                start = std::max(start, arrival);
            }
            const double end = start + duration_[law];
            stage_end_[op.stage] = end;
            if (op.out >= 0) {
                slot_end_[op.out] = end;
            }
            if (op.last_of_chunk) {
                const auto reduce = static_cast<double>(graph_.reduce_scatter_s[part]);
                gradients_end_[op.stage] = overlapped ? std::max(gradients_end_[op.stage], end) + reduce
                                                      : gradients_end_[op.stage] + reduce;
            }
            step(i, op, start, end, fed);
        }
        if (!overlapped) {
            for (int stage = 0; stage < graph_.stages(); ++stage) {
                gradients_end_[stage] += stage_end_[stage];
            }
        }
    }

    double gradients_end(int stage) const { return gradients_end_[stage]; }
    double stage_end(int stage) const { return stage_end_[stage]; }

private:
    const ExecutionGraph& graph_;
    std::vector<double> duration_;        // [part * 2 + pass]
    std::vector<double> gate_;            // [part]: parameters gathered
    std::vector<double> stage_end_;
    std::vector<double> gradients_end_;   // [stage]: reduce-scatters done
    std::vector<double> slot_end_;
};

double optimizer_time(const ExecutionGraph& graph)
{
    return graph.group_mean * static_cast<double>(*std::max_element(graph.optimizer_s.begin(), graph.optimizer_s.end()));
}

}  // namespace

Placement place(const ParallelPlan& plan, const Cluster& cluster)
{
    Placement placement;
    placement.tp = plan.tp;
    placement.stages = plan.pp;
    placement.replicas = plan.dp;
    placement.stage_stride = plan.order == PlacementOrder::tp_pp_dp ? 1 : plan.dp;
    placement.replica_stride = plan.order == PlacementOrder::tp_pp_dp ? plan.pp : 1;
    placement.gpus_per_node = cluster.gpus_per_node();
    return placement;
}

const LayerCosts& PlanCompiler::costs(const ParallelPlan& plan)
{
    const auto key = std::make_tuple(plan.tp, plan.microbatch, plan.recompute, plan.sequence_parallel);
    auto found = costs_.find(key);
    if (found == costs_.end()) {
        const LayerShape shape{setting_.phase.sequence, plan.microbatch, plan.tp, plan.sequence_parallel, plan.recompute};
        found = costs_.emplace(key, layer_costs(setting_.workload, shape, setting_.cluster, setting_.noise.residual)).first;
    }
    return found->second;
}

std::variant<CompiledPlan, Infeasible> PlanCompiler::compile(const ParallelPlan& plan)
{
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
    return result;
}

NoiseFreeStep noise_free_step(const ExecutionGraph& graph)
{
    MeanRun run(graph, -1, 1.0);
    std::vector<double> busy(graph.stages(), 0.0);
    std::vector<double> communication(graph.stages(), 0.0);
    run.run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
        busy[op.stage] += end - start;
        communication[op.stage] += static_cast<double>(graph.law_of(op).communication_s);
    });
    const double optimizer = optimizer_time(graph);
    double last = 0.0;
    int busiest = 0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        last = std::max(last, run.gradients_end(stage));
        busiest = busy[stage] > busy[busiest] ? stage : busiest;
    }
    NoiseFreeStep result;
    result.step_s = last + optimizer;
    // Of the busiest stage: exposed are its collectives in ops, the gather before its first op, and the reduction after its
    // last; what is left of the step is waiting.
    const double reduction = std::max(0.0, run.gradients_end(busiest) - run.stage_end(busiest));
    const double gathering = static_cast<double>(graph.all_gather_s[static_cast<std::size_t>(busiest) * graph.chunks()]);
    result.shares.exposed_communication = (communication[busiest] + reduction + gathering) / result.step_s;
    result.shares.bubble = std::max(0.0, 1.0 - (busy[busiest] + reduction + gathering + optimizer) / result.step_s);
    return result;
}

std::vector<CriticalPath> critical_paths(const ExecutionGraph& graph)
{
    // Each stage in turn is slowed by about a rare slow GPU's factor; -1: none.
    constexpr double slowness = 1.15;
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    const std::vector<ProgramOp>& ops = graph.program->ops;
    const bool overlapped = graph.dp_overlap == DataParallelOverlap::on;
    std::vector<CriticalPath> paths;
    std::vector<std::size_t> before(ops.size());   // the op that decided an op's start
    std::vector<bool> fed(ops.size());
    for (int slow = -1; slow < graph.stages(); ++slow) {
        MeanRun run(graph, slow, slowness);
        std::vector<std::size_t> last(graph.stages(), none);             // latest op of a stage
        std::vector<std::size_t> into_gradients(graph.stages(), none);   // op that the stage's last collectives waited for
        std::vector<std::vector<int>> reduced(graph.stages());           // parts reduced since
        std::vector<double> gradients(graph.stages(), 0.0);
        std::vector<std::size_t> in_slot(graph.program->slots, none);
        run.run([&](std::size_t i, const ProgramOp& op, double, double end, bool by_input) {
            before[i] = by_input ? in_slot[op.in] : last[op.stage];
            fed[i] = by_input;
            last[op.stage] = i;
            if (op.out >= 0) {
                in_slot[op.out] = i;
            }
            if (op.last_of_chunk) {
                if (!overlapped || end > gradients[op.stage]) {
                    into_gradients[op.stage] = i;
                    if (overlapped) {
                        reduced[op.stage].clear();
                    }
                }
                reduced[op.stage].push_back(graph.part(op));
                gradients[op.stage] = run.gradients_end(op.stage);
            }
        });
        int end_stage = 0;
        for (int stage = 1; stage < graph.stages(); ++stage) {
            end_stage = run.gradients_end(stage) > run.gradients_end(end_stage) ? stage : end_stage;
        }
        CriticalPath path;
        path.compute_s.assign(graph.stages(), 0.0F);
        path.reduced_parts = reduced[end_stage];
        std::vector<double> compute(graph.stages(), 0.0);
        double communication = 0.0;
        std::size_t i = overlapped ? into_gradients[end_stage] : last[end_stage];
        for (; i != none; i = before[i]) {
            const OpLaw& law = graph.law_of(ops[i]);
            compute[ops[i].stage] += static_cast<double>(law.compute_s);
            communication += static_cast<double>(law.communication_s) + (fed[i] ? static_cast<double>(law.transfer_s) : 0.0);
            // Only a path's first op can have waited for parameters alone: nothing else decided its start.
            path.gathered_part = ops[i].first_of_chunk && before[i] == none ? graph.part(ops[i]) : -1;
        }
        std::transform(compute.begin(), compute.end(), path.compute_s.begin(), [](double s) { return static_cast<float>(s); });
        path.communication_s = static_cast<float>(communication);
        paths.push_back(std::move(path));
    }
    return paths;
}

}  // namespace prismopt

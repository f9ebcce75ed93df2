#include "model/step/compile/breakdown.hpp"

#include "model/step/compile/activation_bytes.hpp"
#include "model/step/compile/costs_by_block.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

using KernelSeconds = std::map<std::pair<std::string, KernelClass>, double>;

void add_kernels(const PassCost& pass, double times, const std::string& block, KernelSeconds& sum)
{
    for (const Segment& segment : pass.segments) {
        for (const Kernel& kernel : segment) {
            const bool of_host = kernel.kind == KernelClass::host_wait;
            sum[{of_host ? "" : block, kernel.kind}] += times * kernel.seconds;
        }
    }
}

std::map<KernelClass, double> by_class(const KernelSeconds& kernels)
{
    std::map<KernelClass, double> sums;
    for (const auto& [key, seconds] : kernels) {
        sums[key.second] += seconds;
    }
    return sums;
}

/// Kernels may be fused between blocks, so that those of blocks alone take a little longer: each
/// class is shared out as they are.
KernelSeconds shared_out(const KernelSeconds& whole, const KernelSeconds& by_block)
{
    const std::map<KernelClass, double> of_blocks = by_class(by_block);
    const std::map<KernelClass, double> of_all = by_class(whole);
    KernelSeconds result;
    for (const auto& [kind, seconds] : of_all) {
        if (!of_blocks.contains(kind)) {
            result[{"", kind}] = seconds;
        }
    }
    for (const auto& [key, seconds] : by_block) {
        const auto all = of_all.find(key.second);
        if (all != of_all.end() && seconds > 0.0) {
            result[key] = seconds * all->second / of_blocks.at(key.second);
        }
    }
    return result;
}

KernelSeconds kernels_of(const StageOf& at, const CostsByBlock& costs)
{
    const LayerCosts& own = costs.of(at.stage);
    KernelSeconds whole;
    KernelSeconds by_block;
    for_passes(at, [&](double times, const Chunk& chunk, PassCost LayerCost::*pass) {
        for (const LayersOfChunk& layers : layers_of(chunk, own)) {
            add_kernels(layers.in(own).*pass, times * layers.count, "", whole);
            if (layers.kind < 0) {
                add_kernels(layers.in(own).*pass, times, end_name(layers.kind), by_block);
                continue;
            }
            for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
                const std::string& name = costs.names[b][layers.kind];
                if (!name.empty()) {
                    add_kernels(layers.in(costs.blocks[b]).*pass, times * layers.count, name, by_block);
                }
            }
        }
    });
    std::erase_if(by_block, [](const auto& entry) { return entry.first.second == KernelClass::host_wait; });
    return shared_out(whole, by_block);
}

/// `plain`: the same without recompute.
std::vector<KernelTime> kernel_times(const KernelSeconds& all, const KernelSeconds& plain, double factor)
{
    std::vector<KernelTime> kernels;
    for (const auto& [key, seconds] : all) {
        const auto found = plain.find(key);
        const double without = found == plain.end() ? 0.0 : found->second;
        const bool runs_again = key.second != KernelClass::host_wait;
        const double again = runs_again ? std::max(0.0, seconds - without) : 0.0;
        kernels.push_back(
            {.block = key.first, .kind = key.second, .seconds = factor * seconds, .again_s = factor * again});
    }
    return kernels;
}

using Messages = std::map<KernelClass, MessageTime>;

void add_message(KernelClass kind, double exposed_s, double hidden_s, Messages& messages)
{
    if (exposed_s > 0.0 || hidden_s > 0.0) {
        MessageTime& total = messages[kind];
        total.kind = kind;
        total.exposed_s += exposed_s;
        total.hidden_s += hidden_s;
    }
}

/// Returns the exposed seconds.
double add_messages_in_layers(const StageOf& at, const LayerCosts& costs, Messages& messages)
{
    double exposed_s = 0.0;
    for_passes(at, [&](double times, const Chunk& chunk, PassCost LayerCost::*pass) {
        for (const LayersOfChunk& layers : layers_of(chunk, costs)) {
            const PassCost& cost = layers.in(costs).*pass;
            const double all = times * layers.count;
            exposed_s += all * cost.communication_s;
            for (const Exposed& message : cost.exposed) {
                for (const Exposed::Share& share : message.shares) {
                    add_message(share.kind, all * share.share * message.seconds, 0.0, messages);
                }
            }
            for (const Kernel& message : cost.hidden) {
                add_message(message.kind, 0.0, all * message.seconds, messages);
            }
        }
    });
    return exposed_s;
}

/// Transfers between stages. `in_layers_s`: what messages in layers hold the stage for; the rest is theirs.
void add_transfers(const StageOf& at, double in_layers_s, Messages& messages)
{
    double held_s = -in_layers_s;
    double beside_s = 0.0;
    for (int stage_chunk = at.first(); stage_chunk < at.first() + at.graph.chunks(); ++stage_chunk) {
        for (int pass = 0; pass < at.graph.passes(); ++pass) {
            const std::size_t i = at.graph.distribution_at(stage_chunk, static_cast<Pass>(pass));
            const double times = at.graph.program->op_count[i];
            held_s += times * static_cast<double>(at.graph.distribution[i].communication_s);
            beside_s += times * static_cast<double>(at.graph.distribution[i].transfer_s);
        }
    }
    constexpr double single_precision = 1e-5;
    add_message(KernelClass::p2p, held_s > single_precision * in_layers_s ? held_s : 0.0, beside_s, messages);
}

void add_exchanges(const StageOf& at, const StageEnds& ends, Messages& messages)
{
    double gathering_s = 0.0;
    double reduction_s = 0.0;
    double all_reduce_s = 0.0;
    for (int stage_chunk = at.first(); stage_chunk < at.first() + at.graph.chunks(); ++stage_chunk) {
        const auto reduced = static_cast<double>(at.graph.reduction[stage_chunk].seconds);
        gathering_s += static_cast<double>(at.graph.gathering[stage_chunk].seconds);
        reduction_s += reduced;
        all_reduce_s += reduced * static_cast<double>(at.graph.reduction[stage_chunk].all_reduce);
    }
    add_message(KernelClass::dp_all_gather, ends.gathering_s, std::max(0.0, gathering_s - ends.gathering_s),
                messages);
    const double summed = reduction_s > 0.0 ? all_reduce_s / reduction_s : 0.0;
    const double hidden_s = std::max(0.0, reduction_s - ends.reduction_s);
    add_message(KernelClass::dp_all_reduce, summed * ends.reduction_s, summed * hidden_s, messages);
    add_message(KernelClass::dp_reduce_scatter, (1.0 - summed) * ends.reduction_s, (1.0 - summed) * hidden_s,
                messages);
}

/// The kind of replica that the graph is of: the slowest.
const ReplicaKind& slowest_kind(const GroupPlaces& places, const ExecutionGraph& graph)
{
    for (std::size_t set = 0; set < graph.lead_s.size(); ++set) {
        if (graph.lead_s[set] == 0.0F) {
            return places.replicas[places.kind_of_set[set]];
        }
    }
    return places.replicas.front();
}

}  // namespace

double StageBreakdown::exposed_s() const
{
    return std::accumulate(messages.begin(), messages.end(), 0.0,
                           [](double sum, const MessageTime& one) { return sum + one.exposed_s; });
}

double StageBreakdown::step_s() const
{
    const double kernels_s =
        std::accumulate(kernels.begin(), kernels.end(), 0.0,
                        [](double sum, const KernelTime& one) { return sum + one.seconds; });
    return kernels_s + exposed_s() + optimizer_s + outer_s + waiting_s;
}

std::vector<StageBreakdown> breakdown(const CompiledPlan& compiled, const ParallelPlan& plan,
                                      const Setting& setting)
{
    const ExecutionGraph& graph = compiled.graph;
    const GroupPlaces places = place_groups(plan, graph.placement, setting.cluster);
    const ReplicaKind& replica = slowest_kind(places, graph);
    const CostsByBlock costs = costs_by_block(plan, places, replica, setting);
    ParallelPlan without_recompute = plan;
    without_recompute.recompute = Recompute::none;
    without_recompute.recomputed_layers = 0;
    const CostsByBlock plain = costs_by_block(without_recompute, places, replica, setting);

    const double step_s = noise_free_step(graph).step_s;
    const std::vector<double> factors = mean_factors(graph);
    const std::vector<StageEnds> ends = stage_ends(graph);
    const KeptByChunks kept = kept_by_chunks(graph, compiled.chunks, costs);

    std::vector<StageBreakdown> stages;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        const StageOf at{graph, compiled.chunks, stage};
        StageBreakdown stage_breakdown;
        stage_breakdown.kernels = kernel_times(kernels_of(at, costs), kernels_of(at, plain), factors[stage]);
        Messages messages;
        const double in_layers_s = add_messages_in_layers(at, costs.of(stage), messages);
        add_transfers(at, in_layers_s, messages);
        add_exchanges(at, ends[stage], messages);
        for (const auto& [kind, message] : messages) {
            stage_breakdown.messages.push_back(message);
        }
        stage_breakdown.optimizer_s = ends[stage].optimizer_s;
        stage_breakdown.outer_s = static_cast<double>(graph.outer_s);
        stage_breakdown.waiting_s = step_s - stage_breakdown.step_s();
        stage_breakdown.memory = compiled.stages[stage];
        if (stage_breakdown.memory.activations.si > 0.0) {
            stage_breakdown.activations = activations_of(at, costs, kept, plan.pairs_microbatches());
        }
        stage_breakdown.workspace_of = largest_temporaries(at, costs);
        stages.push_back(std::move(stage_breakdown));
    }
    return stages;
}

}  // namespace prismopt

#include "model/step/compile/breakdown.hpp"

#include "model/network/blocks_of_layers.hpp"
#include "model/network/passes.hpp"
#include "model/plan/group_places.hpp"
#include "model/step/compile/placed_chunks.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// A part of a chunk: a kind of layer, by its place in LayerCosts::kinds, or an end of the network.
struct PartOfChunk {
    static constexpr int embedding = -1;
    static constexpr int head = -2;
    int kind = 0;
    int count = 0;

    const PartCost& in(const LayerCosts& costs) const
    {
        return kind == embedding ? costs.embedding : kind == head ? costs.head : costs.kinds[kind];
    }
};

std::vector<PartOfChunk> parts_of(const Chunk& chunk, const LayerCosts& costs)
{
    std::map<int, int> counts;
    for (int layer = chunk.first_layer; layer < chunk.first_layer + chunk.layers; ++layer) {
        ++counts[costs.layers[layer]];
    }
    std::vector<PartOfChunk> parts;
    for (const auto& [kind, count] : counts) {
        parts.push_back({kind, count});
    }
    if (chunk.embedding) {
        parts.push_back({PartOfChunk::embedding, 1});
    }
    if (chunk.head) {
        parts.push_back({PartOfChunk::head, 1});
    }
    return parts;
}

/// Costs of layers, whole and block by block: all with the same kinds.
struct Costs {
    std::vector<LayerCosts> whole;                // [stage], or one for all
    std::vector<LayerCosts> blocks;               // [place of a block in its layer]
    std::vector<std::vector<std::string>> names;  // [place][kind in LayerCosts]
    std::vector<std::string> kinds;               // [kind in LayerCosts]: names of kinds of layers
    std::vector<bool> recomputed;                 // [kind in LayerCosts]: as a whole

    const LayerCosts& of(int stage) const { return whole[whole.size() > 1 ? stage : 0]; }
};

/// Names by kind of the network as names by kind of costs, which may have each kind without and with recompute.
std::vector<std::string> spread(const std::vector<std::string>& names, std::size_t kinds)
{
    std::vector<std::string> result;
    const std::size_t each = kinds / names.size();
    for (const std::string& name : names) {
        result.insert(result.end(), each, name);
    }
    return result;
}

/// Which modules selective recompute covers, if none are named, is decided by the whole layer.
void set_selective(const Network& block, const Network& whole, const LayerShape& shape, const LayerGroups& groups,
                   const Setting& setting, LayerCosts& costs)
{
    if (shape.recompute != Recompute::selective || !shape.recompute_modules.empty()) {
        return;
    }
    for (std::size_t kind = 0; kind < whole.kinds.size(); ++kind) {
        LayerShape named = shape;
        named.recompute_modules = modules_run_again(whole.kinds[kind], shape.recompute_modules);
        Network one = block;
        one.kinds = {block.kinds[kind]};
        one.layers = {0};
        costs.kinds[kind] = layer_costs(one, setting.workload.precision, named, groups, setting.cluster).kinds.front();
    }
}

Costs costs_of(const ParallelPlan& plan, const GroupPlaces& places, const ReplicaKind& replica, const Setting& setting)
{
    PlanCompiler lengths(setting);
    const LayerShape shape = lengths.shape_of(plan);
    const Network network = network_of(setting.workload);
    const auto costs = [&](const Network& of, int groups) {
        return layer_costs(of, setting.workload.precision, shape, places.layers[groups], setting.cluster);
    };
    Costs result;
    for (const int groups : replica.layers) {
        result.whole.push_back(costs(network, groups));
    }
    const std::size_t kinds = result.whole.front().kinds.size();
    for (const BlockOfLayers& block : blocks_of_layers(setting.workload)) {
        LayerCosts alone = costs(block.network, replica.layers.front());
        set_selective(block.network, network, shape, places.layers[replica.layers.front()], setting, alone);
        result.blocks.push_back(std::move(alone));
        result.names.push_back(spread(block.names, kinds));
    }
    std::vector<std::string> names;
    for (const LayerKind& kind : network.kinds) {
        names.push_back(kind.name);
    }
    result.kinds = spread(names, kinds);
    const bool some = kinds > names.size();
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        result.recomputed.push_back(shape.recompute == Recompute::full && (!some || kind % 2 == 1));
    }
    return result;
}

/// The chunks of one stage.
struct StageOf {
    const ExecutionGraph& graph;
    std::span<const Chunk> chunks;
    int stage = 0;

    int first() const { return stage * graph.chunks(); }
    const Chunk& chunk(int part) const { return chunks[part_of_network(graph.program->shape, {stage, part - first()})]; }
};

/// Calls visit(times, chunk, pass) for the passes of a stage that take time. In a pair the backward pass takes the time of both.
template <class Visit>
void for_passes(const StageOf& at, Visit&& visit)
{
    const int last = at.first() + at.graph.chunks();
    for (int part = at.first(); part < last; ++part) {
        for (int p = 0; p < at.graph.passes(); ++p) {
            const auto pass = static_cast<Pass>(p);
            const double times = at.graph.program->op_count[at.graph.distribution_at(part, pass)];
            if (times == 0.0 || pass == Pass::paired_forward) {
                continue;
            }
            visit(times, at.chunk(part), cost_of(pass));
            if (pass == Pass::paired_backward) {
                const int other = part == at.first() ? part + 1 : part - 1;
                visit(times, at.chunk(other), cost_of(Pass::paired_forward));
            }
        }
    }
}

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

std::string end_name(int kind) { return kind == PartOfChunk::head ? "head" : "embedding"; }

std::map<KernelClass, double> by_class(const KernelSeconds& kernels)
{
    std::map<KernelClass, double> sums;
    for (const auto& [key, seconds] : kernels) {
        sums[key.second] += seconds;
    }
    return sums;
}

/// Kernels may be fused between blocks, so that those of blocks alone take a little longer: each class is shared out as they are.
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

KernelSeconds kernels_of(const StageOf& at, const Costs& costs)
{
    const LayerCosts& own = costs.of(at.stage);
    KernelSeconds whole;
    KernelSeconds by_block;
    for_passes(at, [&](double times, const Chunk& chunk, PassCost PartCost::*pass) {
        for (const PartOfChunk& part : parts_of(chunk, own)) {
            add_kernels(part.in(own).*pass, times * part.count, "", whole);
            if (part.kind < 0) {
                add_kernels(part.in(own).*pass, times, end_name(part.kind), by_block);
                continue;
            }
            for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
                const std::string& name = costs.names[b][part.kind];
                if (!name.empty()) {
                    add_kernels(part.in(costs.blocks[b]).*pass, times * part.count, name, by_block);
                }
            }
        }
    });
    std::erase_if(by_block, [](const auto& entry) { return entry.first.second == KernelClass::host_wait; });
    return shared_out(whole, by_block);
}

/// `plain`: the same without recompute.
std::vector<KernelPart> kernel_parts(const KernelSeconds& all, const KernelSeconds& plain, double factor)
{
    std::vector<KernelPart> parts;
    for (const auto& [key, seconds] : all) {
        const auto found = plain.find(key);
        const double without = found == plain.end() ? 0.0 : found->second;
        const bool runs_again = key.second != KernelClass::host_wait;
        const double again = runs_again ? std::max(0.0, seconds - without) : 0.0;
        parts.push_back({.block = key.first, .kind = key.second, .seconds = factor * seconds, .again_s = factor * again});
    }
    return parts;
}

using Messages = std::map<KernelClass, MessagePart>;

void add_message(KernelClass kind, double exposed_s, double hidden_s, Messages& messages)
{
    if (exposed_s > 0.0 || hidden_s > 0.0) {
        MessagePart& part = messages[kind];
        part.kind = kind;
        part.exposed_s += exposed_s;
        part.hidden_s += hidden_s;
    }
}

/// Returns the exposed seconds.
double add_messages_in_layers(const StageOf& at, const LayerCosts& costs, Messages& messages)
{
    double exposed_s = 0.0;
    for_passes(at, [&](double times, const Chunk& chunk, PassCost PartCost::*pass) {
        for (const PartOfChunk& part : parts_of(chunk, costs)) {
            const PassCost& cost = part.in(costs).*pass;
            const double all = times * part.count;
            exposed_s += all * cost.communication_s;
            for (const Exposed& message : cost.exposed) {
                for (const Exposed::Share& share : message.parts) {
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
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        for (int pass = 0; pass < at.graph.passes(); ++pass) {
            const std::size_t i = at.graph.distribution_at(part, static_cast<Pass>(pass));
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
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        const auto reduced = static_cast<double>(at.graph.reduction[part].seconds);
        gathering_s += static_cast<double>(at.graph.gathering[part].seconds);
        reduction_s += reduced;
        all_reduce_s += reduced * static_cast<double>(at.graph.reduction[part].all_reduce);
    }
    add_message(KernelClass::dp_all_gather, ends.gathering_s, std::max(0.0, gathering_s - ends.gathering_s), messages);
    const double summed = reduction_s > 0.0 ? all_reduce_s / reduction_s : 0.0;
    const double hidden_s = std::max(0.0, reduction_s - ends.reduction_s);
    add_message(KernelClass::dp_all_reduce, summed * ends.reduction_s, summed * hidden_s, messages);
    add_message(KernelClass::dp_reduce_scatter, (1.0 - summed) * ends.reduction_s, (1.0 - summed) * hidden_s, messages);
}

/// Bytes that a chunk keeps, by what keeps them.
using KeptBytes = std::map<std::string, double>;

void add_kept(const StageOf& at, const Chunk& chunk, const Costs& costs, double PartCost::*bytes, double times, KeptBytes& sum)
{
    const LayerCosts& own = costs.of(at.stage);
    for (const PartOfChunk& part : parts_of(chunk, own)) {
        const double all = times * part.count * part.in(own).*bytes;
        if (part.kind < 0) {
            sum[end_name(part.kind)] += all;
            continue;
        }
        if (costs.recomputed[part.kind]) {
            sum["inputs of layers"] += all;
            continue;
        }
        double of_blocks = 0.0;
        for (std::size_t b = 0; b < costs.blocks.size(); ++b) {
            const std::string& name = costs.names[b][part.kind];
            const double of_block = name.empty() ? 0.0 : times * part.count * part.in(costs.blocks[b]).*bytes;
            of_blocks += of_block;
            sum[name] += of_block;
        }
        sum["between blocks"] += all - of_blocks;
    }
}

/// What the chunks of all stages keep, [stage * v + chunk].
std::vector<Activations> kept_by_chunks(const ExecutionGraph& graph, std::span<const Chunk> chunks, const Costs& costs)
{
    std::vector<Activations> kept;
    for (int part = 0; part < graph.stages() * graph.chunks(); ++part) {
        const StageOf at{graph, chunks, part / graph.chunks()};
        const ChunkParts made_of(at.chunk(part), costs.of(at.stage));
        kept.push_back({made_of.sum(&PartCost::saved_bytes), made_of.sum(&PartCost::held_bytes)});
    }
    return kept;
}

std::vector<BlockBytes> activations_of(const StageOf& at, const Costs& costs, std::span<const HeldPasses> held,
                                       std::span<const Activations> kept, bool pairs)
{
    int largest = at.first();
    KeptBytes sum;
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        add_kept(at, at.chunk(part), costs, &PartCost::saved_bytes, held[part].saved, sum);
        add_kept(at, at.chunk(part), costs, &PartCost::held_bytes, held[part].held, sum);
        largest = kept[part].saved > kept[largest].saved ? part : largest;
    }
    if (pairs) {
        add_kept(at, at.chunk(largest), costs, &PartCost::saved_bytes, 1.0, sum);
    }
    double all = 0.0;
    for (const auto& [block, bytes] : sum) {
        all += bytes;
    }
    constexpr double rounding = 1e-9;
    std::vector<BlockBytes> parts;
    for (const auto& [block, bytes] : sum) {
        if (std::abs(bytes) > rounding * all) {
            parts.push_back({block, bytes});
        }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const BlockBytes& a, const BlockBytes& b) { return a.bytes > b.bytes; });
    return parts;
}

std::string largest_temporaries(const StageOf& at, const Costs& costs)
{
    double most = 0.0;
    std::string of;
    for (int part = at.first(); part < at.first() + at.graph.chunks(); ++part) {
        for (const PartOfChunk& made_of : parts_of(at.chunk(part), costs.of(at.stage))) {
            const double bytes = made_of.in(costs.of(at.stage)).workspace_bytes;
            if (bytes > most) {
                most = bytes;
                of = made_of.kind < 0 ? end_name(made_of.kind) : costs.kinds[made_of.kind];
            }
        }
    }
    return of;
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
                           [](double sum, const MessagePart& part) { return sum + part.exposed_s; });
}

double StageBreakdown::step_s() const
{
    const double kernels_s = std::accumulate(kernels.begin(), kernels.end(), 0.0,
                                             [](double sum, const KernelPart& part) { return sum + part.seconds; });
    return kernels_s + exposed_s() + optimizer_s + outer_s + waiting_s;
}

std::vector<StageBreakdown> breakdown(const CompiledPlan& compiled, const ParallelPlan& plan, const Setting& setting)
{
    const ExecutionGraph& graph = compiled.graph;
    const GroupPlaces places = place_groups(plan, graph.placement, setting.cluster);
    const ReplicaKind& replica = slowest_kind(places, graph);
    const Costs costs = costs_of(plan, places, replica, setting);
    ParallelPlan without_recompute = plan;
    without_recompute.recompute = Recompute::none;
    without_recompute.recomputed_layers = 0;
    const Costs plain = costs_of(without_recompute, places, replica, setting);

    const double step_s = noise_free_step(graph).step_s;
    const std::vector<double> factors = mean_factors(graph);
    const std::vector<StageEnds> ends = stage_ends(graph);
    const std::vector<Activations> kept = kept_by_chunks(graph, compiled.chunks, costs);
    const std::vector<HeldPasses> held = held_at_peaks(*graph.program, kept);

    std::vector<StageBreakdown> stages;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        const StageOf at{graph, compiled.chunks, stage};
        StageBreakdown parts;
        parts.kernels = kernel_parts(kernels_of(at, costs), kernels_of(at, plain), factors[stage]);
        Messages messages;
        const double in_layers_s = add_messages_in_layers(at, costs.of(stage), messages);
        add_transfers(at, in_layers_s, messages);
        add_exchanges(at, ends[stage], messages);
        for (const auto& [kind, message] : messages) {
            parts.messages.push_back(message);
        }
        parts.optimizer_s = ends[stage].optimizer_s;
        parts.outer_s = static_cast<double>(graph.outer_s);
        parts.waiting_s = step_s - parts.step_s();
        parts.memory = compiled.stages[stage];
        if (parts.memory.activations.si > 0.0) {
            parts.activations = activations_of(at, costs, held, kept, plan.pairs_microbatches());
        }
        parts.workspace_of = largest_temporaries(at, costs);
        stages.push_back(std::move(parts));
    }
    return stages;
}

}  // namespace prismopt

#include "model/step/compile/costs_by_block.hpp"

#include "model/network/blocks_of_layers.hpp"
#include "model/network/passes.hpp"

#include <map>
#include <utility>

namespace prismopt {

namespace {

/// Names by kind of the network as names by kind of costs, which may have each
/// kind without and with recompute.
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
void set_selective(const Network& block, const Network& whole, const LayerShape& shape,
                   const LayerGroups& groups, const Setting& setting, LayerCosts& costs)
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
        costs.kinds[kind] =
            layer_costs(one, setting.workload.precision, named, groups, setting.cluster).kinds.front();
    }
}

}  // namespace

std::vector<LayersOfChunk> layers_of(const Chunk& chunk, const LayerCosts& costs)
{
    std::map<int, int> counts;
    for (int layer = chunk.first_layer; layer < chunk.first_layer + chunk.layers; ++layer) {
        ++counts[costs.layers[layer]];
    }
    std::vector<LayersOfChunk> runs;
    for (const auto& [kind, count] : counts) {
        runs.push_back({kind, count});
    }
    if (chunk.embedding) {
        runs.push_back({LayersOfChunk::embedding, 1});
    }
    if (chunk.head) {
        runs.push_back({LayersOfChunk::head, 1});
    }
    return runs;
}

std::string end_name(int kind) { return kind == LayersOfChunk::head ? "head" : "embedding"; }

CostsByBlock costs_by_block(const ParallelPlan& plan, const GroupPlaces& places, const ReplicaKind& replica,
                            const Setting& setting)
{
    PlanCompiler lengths(setting);
    const LayerShape shape = lengths.shape_of(plan);
    const Network network = network_of(setting.workload);
    const auto costs = [&](const Network& of, int groups) {
        return layer_costs(of, setting.workload.precision, shape, places.layers[groups], setting.cluster);
    };
    CostsByBlock result;
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

}  // namespace prismopt

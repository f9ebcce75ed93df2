#include "model/network/workload.hpp"

#include "model/network/network.hpp"

namespace prismopt {

namespace {

/// "8 groups of block "mamba2" in layer "M"", or "block "convolution" in layer "up", whose convolutions are not divided".
std::string obstacle_text(const Obstacle& obstacle, const std::string& block)
{
    return obstacle.count > 0
               ? std::to_string(obstacle.count) + " " + std::string(obstacle.what) + " of " + block
               : block + ", " + std::string(obstacle.what);
}

/// Text of the first obstacle that ask(block) returns; empty if there is none.
template <class Ask>
std::string first_obstacle(const std::vector<LayerDescription>& kinds, const Ask& ask)
{
    for (const LayerDescription& layer : kinds) {
        for (const BlockDescription& block : layer.blocks) {
            if (const auto obstacle = ask(block)) {
                return obstacle_text(*obstacle, block_text(layer, block));
            }
        }
    }
    return "";
}

}  // namespace

std::string block_text(const LayerDescription& layer, const BlockDescription& block)
{
    return "block \"" + std::string(kind_name(block)) + "\" in layer \"" + layer.name + "\"";
}

int Workload::layers() const
{
    if (captured) {
        return static_cast<int>(captured->layers.size());
    }
    int sum = 0;
    for (const LayerRun& run : sequence) {
        sum += run.count;
    }
    return sum;
}

bool Workload::splits_by(int tp) const
{
    const auto splits = [tp](const BlockDescription& block) { return !undivided(block, tp); };
    return captured ? tp == 1
                    : std::all_of(kinds.begin(), kinds.end(), [&splits](const LayerDescription& kind) {
                          return std::all_of(kind.blocks.begin(), kind.blocks.end(), splits);
                      });
}

std::string Workload::undivided_text(int tp) const
{
    return captured
               ? "a captured network"
               : first_obstacle(kinds, [tp](const BlockDescription& block) { return undivided(block, tp); });
}

std::string Workload::unshared_text(const ParallelPlan& plan) const
{
    return first_obstacle(kinds, [&plan](const BlockDescription& block) { return unshared(block, plan); });
}

std::string Workload::undivided_experts_text(int ep) const
{
    return first_obstacle(kinds, [ep](const BlockDescription& block) -> std::optional<Obstacle> {
        const auto* experts = std::get_if<ExpertsBlock>(&block);
        return experts != nullptr ? undivided_of(ep, {{"experts", experts->count}}) : std::nullopt;
    });
}

}  // namespace prismopt

#include "model/network/workload.hpp"

#include "model/network/network.hpp"

namespace prismopt {

namespace {

/// The first obstacle that ask(block) returns, with its block.
template <class Ask>
std::optional<BlockObstacle> first_obstacle(const std::vector<LayerDescription>& kinds, const Ask& ask)
{
    for (const LayerDescription& layer : kinds) {
        for (const BlockDescription& block : layer.blocks) {
            if (const auto obstacle = ask(block)) {
                return BlockObstacle{*obstacle, std::string(kind_name(block)), layer.name};
            }
        }
    }
    return std::nullopt;
}

/// The first quantity of experts that a degree does not divide.
std::optional<BlockObstacle> undivided_of_experts(const std::vector<LayerDescription>& kinds, int degree,
                                                  Undivided what, int ExpertsBlock::*count)
{
    return first_obstacle(kinds, [&](const BlockDescription& block) -> std::optional<Obstacle> {
        const auto* experts = std::get_if<ExpertsBlock>(&block);
        return experts != nullptr ? undivided_of(degree, {{what, experts->*count}}) : std::nullopt;
    });
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
    const auto splits = [tp](const BlockDescription& block) { return !prismopt::undivided(block, tp); };
    return captured ? tp == 1
                    : std::all_of(kinds.begin(), kinds.end(), [&splits](const LayerDescription& kind) {
                          return std::all_of(kind.blocks.begin(), kind.blocks.end(), splits);
                      });
}

std::optional<BlockObstacle> Workload::undivided(int tp) const
{
    return first_obstacle(kinds,
                          [tp](const BlockDescription& block) { return prismopt::undivided(block, tp); });
}

std::optional<BlockObstacle> Workload::unshared(const ParallelPlan& plan) const
{
    return first_obstacle(kinds,
                          [&plan](const BlockDescription& block) { return prismopt::unshared(block, plan); });
}

std::optional<BlockObstacle> Workload::undivided_experts(int ep) const
{
    return undivided_of_experts(kinds, ep, Undivided::experts, &ExpertsBlock::count);
}

std::optional<BlockObstacle> Workload::undivided_columns(int etp) const
{
    return undivided_of_experts(kinds, etp, Undivided::columns_of_experts, &ExpertsBlock::inner);
}

}  // namespace prismopt

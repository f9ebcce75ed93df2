#include "model/network/workload.hpp"

#include "model/network/network.hpp"

namespace prismopt {

namespace {

bool divides(const LayerDescription& layer, int tp)
{
    return std::all_of(layer.blocks.begin(), layer.blocks.end(),
                       [tp](const BlockDescription& block) { return splits(block, tp); });
}

/// Heads of a block that has some.
std::string heads_text(const BlockDescription& block)
{
    return std::visit(
        []<class Kind>(const Kind& own) -> std::string {
            if constexpr (requires { own.key_heads(); }) {
                return ": " + std::to_string(own.heads) + " heads, " + std::to_string(own.key_heads()) + " key/value heads";
            } else if constexpr (requires { own.heads; }) {
                return ": " + std::to_string(own.heads) + " heads";
            }
            return {};
        },
        block);
}

/// "block "attention" of layer "dense": 32 heads, 8 key and value heads"
std::string place_text(const LayerDescription& layer, const BlockDescription& block)
{
    const auto kind = std::visit([](const auto& own) { return own.name; }, block);
    return "block \"" + std::string(kind) + "\" of layer \"" + layer.name + "\"" + heads_text(block);
}

}  // namespace

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
    return captured ? tp == 1
                    : std::all_of(kinds.begin(), kinds.end(), [tp](const LayerDescription& kind) { return divides(kind, tp); });
}

std::string Workload::undivided_text(int tp) const
{
    for (const LayerDescription& layer : kinds) {
        for (const BlockDescription& block : layer.blocks) {
            if (!splits(block, tp)) {
                return place_text(layer, block);
            }
        }
    }
    return "a captured network";
}

std::string Workload::unshared_text(int tp, int cp) const
{
    for (const LayerDescription& layer : kinds) {
        for (const BlockDescription& block : layer.blocks) {
            if (!shares_sequence(block, tp, cp)) {
                return place_text(layer, block);
            }
        }
    }
    return "";
}

}  // namespace prismopt

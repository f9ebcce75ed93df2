#include "model/network/blocks_of_layers.hpp"

#include <algorithm>

namespace prismopt {

namespace {

const LayerDescription* description_of(const LayerKind& kind, const Workload& workload)
{
    const auto found =
        std::find_if(workload.kinds.begin(), workload.kinds.end(),
                     [&kind](const LayerDescription& description) { return description.name == kind.name; });
    return found == workload.kinds.end() ? nullptr : &*found;
}

/// A kind with fewer blocks keeps its first one, and has no name.
Workload with_block(Workload workload, std::size_t block)
{
    for (LayerDescription& kind : workload.kinds) {
        const std::size_t kept = block < kind.blocks.size() ? block : 0;
        kind.blocks = {kind.blocks[kept]};
        kind.parallel = false;
    }
    return workload;
}

BlockOfLayers block_of_layers(const Workload& workload, const Network& whole, std::size_t block)
{
    BlockOfLayers result{network_of(with_block(workload, block)), {}};
    for (std::size_t k = 0; k < whole.kinds.size(); ++k) {
        result.network.kinds[k].backward = whole.kinds[k].backward;
        const LayerDescription* description = description_of(whole.kinds[k], workload);
        const bool has = description != nullptr && block < description->blocks.size();
        result.names.emplace_back(has ? kind_name(description->blocks[block]) : "");
    }
    return result;
}

}  // namespace

std::vector<BlockOfLayers> blocks_of_layers(const Workload& workload)
{
    const Network whole = network_of(workload);
    if (workload.captured) {
        BlockOfLayers all{whole, {}};
        for (const LayerKind& kind : whole.kinds) {
            all.names.push_back(kind.name);
        }
        return {all};
    }
    std::size_t most = 0;
    for (const LayerDescription& kind : workload.kinds) {
        most = std::max(most, kind.blocks.size());
    }
    std::vector<BlockOfLayers> blocks;
    for (std::size_t block = 0; block < most; ++block) {
        blocks.push_back(block_of_layers(workload, whole, block));
    }
    return blocks;
}

}  // namespace prismopt

#include "model/network/layout.hpp"

#include "model/step/schedule.hpp"

namespace prismopt {

std::variant<std::vector<Chunk>, Infeasible> layout(int layers, const ParallelPlan& plan)
{
    const int count = network_parts(plan.schedule, plan.pp, plan.chunks);
    const bool slots = plan.split == LayerSplit::slots;
    const int units = layers + (slots ? 2 : 0);  // embedding and loss head count as a layer each
    if (units < count) {
        return Infeasible{Reason::layers_and_chunks,
                          std::to_string(units) + " layer slots for " + std::to_string(count) + " chunks; lower pp or v", 0.0};
    }
    const int base = units / count;
    const int longer = units % count;
    const int first_longer = (count - longer) / 2;
    std::vector<Chunk> chunks(count);
    int next = 0;
    for (int k = 0; k < count; ++k) {
        Chunk& chunk = chunks[k];
        chunk.embedding = k == 0;
        chunk.head = k == count - 1;
        chunk.layers = base + (k >= first_longer && k < first_longer + longer ? 1 : 0);
        if (slots) {
            chunk.layers -= (chunk.embedding ? 1 : 0) + (chunk.head ? 1 : 0);
        }
        chunk.first_layer = next;
        next += chunk.layers;
    }
    return chunks;
}

}  // namespace prismopt

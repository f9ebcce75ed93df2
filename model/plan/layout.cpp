#include "model/plan/layout.hpp"

#include <algorithm>
#include <stdexcept>

namespace prismopt {

namespace {

std::variant<std::vector<Chunk>, Infeasible> even_layout(int layers, int count, bool slots)
{
    const int units = layers + (slots ? 2 : 0);  // embedding and loss head count as a layer each
    if (units < count) {
        return Infeasible{Conflict::slots_and_chunks, {{FactKey::slots, units}, {FactKey::chunks, count}}};
    }
    const int base = units / count;
    const int longer = units % count;
    const int first_longer = (count - longer) / 2;
    std::vector<int> units_of(count, base);
    std::fill_n(units_of.begin() + first_longer, longer, base + 1);
    if (!slots) {
        ++units_of.front();
        ++units_of.back();
    }
    return chunks_of_units(units_of);
}

}  // namespace

std::vector<Chunk> chunks_of_units(std::span<const int> units)
{
    std::vector<Chunk> chunks(units.size());
    int next = 0;
    for (std::size_t k = 0; k < units.size(); ++k) {
        Chunk& chunk = chunks[k];
        chunk.embedding = k == 0;
        chunk.head = k + 1 == units.size();
        chunk.first_layer = next;
        chunk.layers = units[k] - (chunk.embedding ? 1 : 0) - (chunk.head ? 1 : 0);
        next += chunk.layers;
    }
    return chunks;
}

const std::vector<Chunk>* given_layout(std::size_t chunks, std::span<const std::vector<Chunk>> given)
{
    const auto found = std::find_if(given.begin(), given.end(),
                                    [chunks](const std::vector<Chunk>& one) { return one.size() == chunks; });
    return found == given.end() ? nullptr : &*found;
}

std::variant<std::vector<Chunk>, Infeasible> layout(int layers, const ParallelPlan& plan,
                                                    std::span<const std::vector<Chunk>> given)
{
    const int count = network_chunks(plan.schedule, plan.pp, plan.chunks);
    if (count == 1) {
        return even_layout(layers, 1, false);
    }
    switch (plan.split) {
        case LayerSplit::layers: return even_layout(layers, count, false);
        case LayerSplit::slots: return even_layout(layers, count, true);
        case LayerSplit::balanced: break;
        case LayerSplit::given: {
            const std::vector<Chunk>* chunks = given_layout(static_cast<std::size_t>(count), given);
            if (chunks == nullptr) {
                return Infeasible{Conflict::no_layout_given, {{FactKey::chunks, count}}};
            }
            const int laid_out = chunks->back().first_layer + chunks->back().layers;
            if (laid_out != layers) {
                return Infeasible{Conflict::layout_and_layers,
                                  {{FactKey::laid_out, laid_out}, {FactKey::layers, layers}}};
            }
            return *chunks;
        }
    }
    throw std::logic_error("a balanced split needs layer costs");
}

}  // namespace prismopt

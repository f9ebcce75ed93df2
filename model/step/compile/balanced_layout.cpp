#include "model/step/compile/balanced_layout.hpp"

#include "model/step/compile/chunk_splits.hpp"
#include "model/step/compile/memory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

/// The stages that hold each chunk: two where two copies of the network are trained.
using Holders = std::vector<std::vector<int>>;  // [chunk]

Holders holders_of(const Program& program, const ParallelPlan& plan)
{
    Holders holders(network_chunks(plan.schedule, plan.pp, plan.chunks));
    for (int stage = 0; stage < plan.pp; ++stage) {
        for (int chunk = 0; chunk < plan.chunks; ++chunk) {
            holders[network_chunk_of(program.shape, {stage, chunk})].push_back(stage);
        }
    }
    return holders;
}

/// Times of the stages of a split.
class StageTimes {
public:
    StageTimes(const Units& units, const Holders& holders, int stages)
        : units_(units), holders_(holders), stages_(stages)
    {
    }

    /// What is made as small as possible: the busiest stage, then unequal stages, the
    /// busiest chunk, unequal chunks.
    using Key = std::array<Ticks, 4>;
    Key key(const Lengths& lengths) const
    {
        Key key{};
        int begin = 0;
        for (const int length : lengths) {
            const Ticks time = units_.time(begin, begin + length);
            key[2] = std::max(key[2], time);
            key[3] += time * time;
            begin += length;
        }
        for (const Ticks time : busy(lengths)) {
            key[0] = std::max(key[0], time);
            key[1] += time * time;
        }
        return key;
    }

    int busiest(const Lengths& lengths) const
    {
        const std::vector<Ticks>& times = busy(lengths);
        return static_cast<int>(std::max_element(times.begin(), times.end()) - times.begin());
    }

private:
    /// [stage], until the next call.
    const std::vector<Ticks>& busy(const Lengths& lengths) const
    {
        busy_.assign(stages_, 0);
        int begin = 0;
        for (std::size_t k = 0; k < lengths.size(); ++k) {
            const int end = begin + lengths[k];
            for (const int stage : holders_[k]) {
                busy_[stage] += units_.time(begin, end);
            }
            begin = end;
        }
        return busy_;
    }

    const Units& units_;
    const Holders& holders_;
    int stages_;
    mutable std::vector<Ticks> busy_;
};

/// Memory that the stages of a plan need for a split.
class SplitMemory {
public:
    SplitMemory(const LayerCosts& costs, const Program& program, const ParallelPlan& plan,
                const MemoryModel& memory, Bytes capacity)
        : costs_(costs), program_(program), plan_(plan), memory_(memory), capacity_(capacity)
    {
    }

    Bytes capacity() const { return capacity_; }
    std::vector<MemoryUse> needed(const Lengths& lengths) const
    {
        std::vector<ChunkContents> contents;
        for (const Chunk& chunk : chunks_of_units(lengths)) {
            contents.emplace_back(chunk, costs_);
        }
        return memory_by_stage(program_, contents, plan_, memory_);
    }
    bool fits(const Lengths& lengths) const { return fullest(needed(lengths)).total() <= capacity_; }

    /// Whether a chunk fits into so much memory of the stages that hold it, as if
    /// all their chunks were like it.
    bool fits_uniform_layers(const Chunk& chunk, const std::vector<int>& holders, Bytes capacity) const
    {
        const ChunkContents contents(chunk, costs_);
        return std::all_of(holders.begin(), holders.end(), [&](int stage) {
            return memory_of_equal_chunks(stage, contents, program_, plan_, memory_).total() <= capacity;
        });
    }

private:
    const LayerCosts& costs_;
    const Program& program_;
    const ParallelPlan& plan_;
    const MemoryModel& memory_;
    Bytes capacity_;
};

/// Units [begin, end) as a chunk: the embedding, layers, the head.
Chunk chunk_of_units(int begin, int end, int units)
{
    Chunk chunk;
    chunk.embedding = begin == 0;
    chunk.head = end == units;
    chunk.first_layer = std::max(0, begin - 1);
    chunk.layers = std::min(end - 1, units - 2) - chunk.first_layer;
    return chunk;
}

/// The split of shortest chunks within memory, as if all chunks of a stage were like each.
std::optional<Lengths> within_memory(const Units& units, const Holders& holders, const SplitMemory& memory,
                                     Bytes capacity, Ticks least)
{
    const auto fit = [&](int k, int begin, int end) {
        return memory.fits_uniform_layers(chunk_of_units(begin, end, units.count()), holders[k], capacity);
    };
    const Chains chains(units, static_cast<int>(holders.size()), fit);
    // The probe lets chunks be empty, so that its limit may be too low where a layer
    // alone does not fit everywhere.
    std::optional<Ticks> limit = chains.least_limit(least);
    while (limit && *limit <= units.all()) {
        if (auto lengths = chains.most_equal(*limit)) {
            return lengths;
        }
        limit = units.shortest_above(*limit);
    }
    return std::nullopt;
}

/// Calls visit(lengths) with one unit moved from a chunk of the stage to any other chunk, the chunks
/// between keeping their lengths.
template <class Visit>
void each_move_from(int stage, const Holders& holders, const Lengths& lengths, Visit&& visit)
{
    Lengths moved = lengths;
    for (std::size_t from = 0; from < lengths.size(); ++from) {
        const std::vector<int>& own = holders[from];
        if (lengths[from] == 1 || std::find(own.begin(), own.end(), stage) == own.end()) {
            continue;
        }
        --moved[from];
        for (std::size_t to = 0; to < lengths.size(); ++to) {
            if (to != from) {
                ++moved[to];
                visit(std::as_const(moved));
                --moved[to];
            }
        }
        ++moved[from];
    }
}

/// Moves a unit at a time away from the busiest stage, to where that helps most. `within`: among
/// splits that fit; null: among all.
Lengths improved(Lengths lengths, const Holders& holders, const StageTimes& times, const SplitMemory* within)
{
    StageTimes::Key least = times.key(lengths);
    while (true) {
        std::optional<Lengths> best;
        each_move_from(times.busiest(lengths), holders, lengths, [&](const Lengths& moved) {
            const StageTimes::Key own = times.key(moved);
            if (own < least && (within == nullptr || within->fits(moved))) {
                least = own;
                best = moved;
            }
        });
        if (!best) {
            return lengths;
        }
        lengths = *best;
    }
}

/// The first of the best, each improved as far as single moves do.
Lengths best_of(const std::vector<Lengths>& starts, const Holders& holders, const StageTimes& times,
                const SplitMemory* within)
{
    Lengths best;
    StageTimes::Key least{};
    for (const Lengths& start : starts) {
        const Lengths lengths = improved(start, holders, times, within);
        const StageTimes::Key own = times.key(lengths);
        if (best.empty() || own < least) {
            best = lengths;
            least = own;
        }
    }
    return best;
}

double overflow(const std::vector<MemoryUse>& uses, Bytes capacity)
{
    double sum = 0.0;
    for (const MemoryUse& use : uses) {
        sum += std::max(0.0, (use.total() - capacity).si);
    }
    return sum;
}

bool fits_on_average(const std::vector<MemoryUse>& uses, Bytes capacity)
{
    Bytes all{0.0};
    for (const MemoryUse& use : uses) {
        all += use.total();
    }
    return all <= static_cast<double>(uses.size()) * capacity;
}

/// Moves a unit at a time away from the fullest stage until all fit or that helps no more. Not where
/// stages are too full on average.
Lengths relieved(Lengths lengths, const Holders& holders, const SplitMemory& memory)
{
    double least = overflow(memory.needed(lengths), memory.capacity());
    while (least > 0.0) {
        const std::vector<MemoryUse> uses = memory.needed(lengths);
        if (!fits_on_average(uses, memory.capacity())) {
            break;
        }
        std::optional<Lengths> best;
        each_move_from(fullest(uses).stage, holders, lengths, [&](const Lengths& moved) {
            const double own = overflow(memory.needed(moved), memory.capacity());
            if (own < least) {
                least = own;
                best = moved;
            }
        });
        if (!best) {
            break;
        }
        lengths = *best;
    }
    return lengths;
}

/// The splits `layers` and `slots` of a plan.
std::vector<Lengths> even_splits(const Units& units, const ParallelPlan& plan)
{
    std::vector<Lengths> splits;
    for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
        ParallelPlan even = plan;
        even.split = split;
        const auto result = layout(units.count() - 2, even);
        if (const auto* chunks = std::get_if<std::vector<Chunk>>(&result)) {
            Lengths& lengths = splits.emplace_back();
            for (const Chunk& chunk : *chunks) {
                lengths.push_back(chunk.layers + (chunk.embedding ? 1 : 0) + (chunk.head ? 1 : 0));
            }
        }
    }
    return splits;
}

/// Splits within memory, as if all chunks of a stage were like each; with less memory each, by as much as
/// the one before needs too much.
std::vector<Lengths> splits_within_memory(const Units& units, const Holders& holders,
                                          const SplitMemory& memory, Ticks least)
{
    constexpr int attempts = 4;
    std::vector<Lengths> found;
    Bytes capacity = memory.capacity();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const auto lengths = within_memory(units, holders, memory, capacity, least);
        if (!lengths) {
            break;
        }
        found.push_back(*lengths);
        const double need = fullest(memory.needed(*lengths)).total().si;
        if (need <= memory.capacity().si) {
            break;
        }
        capacity = Bytes{capacity.si * memory.capacity().si / need};
    }
    return found;
}

/// The best of the splits that fit, from these starts; nothing where none fits.
std::optional<Lengths> best_that_fits(std::vector<Lengths> starts, const Holders& holders,
                                      const StageTimes& times, const SplitMemory& memory)
{
    for (Lengths& lengths : starts) {
        lengths = relieved(std::move(lengths), holders, memory);
    }
    std::erase_if(starts, [&](const Lengths& lengths) { return !memory.fits(lengths); });
    if (starts.empty()) {
        return std::nullopt;
    }
    return best_of(starts, holders, times, &memory);
}

/// Units of each chunk of the best split of at least one unit per chunk.
Lengths balanced_lengths(const Units& units, const Holders& holders, const ParallelPlan& plan,
                         const SplitMemory& memory)
{
    const auto chunks = static_cast<int>(holders.size());
    const NoLimit no_limit;
    const Chains<NoLimit> chains(units, chunks, no_limit);
    const Ticks limit = *chains.least_limit(std::max(units.longest(), units.all() / chunks));
    const Lengths shortest_chunks = *chains.most_equal(limit);
    if (plan.chunks == 1) {  // each chunk on its stage
        if (memory.fits(shortest_chunks)) {
            return shortest_chunks;
        }
        return within_memory(units, holders, memory, memory.capacity(), limit).value_or(shortest_chunks);
    }
    const StageTimes times(units, holders, plan.pp);
    const std::vector<Lengths> even = even_splits(units, plan);
    std::vector<Lengths> starts{shortest_chunks};
    starts.insert(starts.end(), even.begin(), even.end());
    const Lengths shortest = best_of(starts, holders, times, nullptr);
    if (memory.fits(shortest)) {
        return shortest;
    }
    starts.front() = shortest;
    const std::vector<Lengths> smaller = splits_within_memory(units, holders, memory, limit);
    starts.insert(starts.end(), smaller.begin(), smaller.end());
    return best_that_fits(std::move(starts), holders, times, memory).value_or(shortest);
}

}  // namespace

std::variant<std::vector<Chunk>, Infeasible> balanced_layout(const LayerCosts& costs, const Program& program,
                                                             const ParallelPlan& plan,
                                                             const MemoryModel& memory, Bytes capacity)
{
    ParallelPlan slots = plan;  // as many parts
    slots.split = LayerSplit::slots;
    auto even = layout(static_cast<int>(costs.layers.size()), slots);
    const bool one_chunk = network_chunks(plan.schedule, plan.pp, plan.chunks) == 1;
    if (one_chunk || std::holds_alternative<Infeasible>(even)) {
        return even;
    }
    const Units units(costs, splits_backward(plan.schedule));
    const SplitMemory split_memory(costs, program, plan, memory, capacity);
    return chunks_of_units(balanced_lengths(units, holders_of(program, plan), plan, split_memory));
}

}  // namespace prismopt

#include "model/step/compile/balanced_layout.hpp"

#include "model/step/compile/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

/// Shares of the whole network's time, in whole numbers: their sums, and those of their squares, are exact.
using Ticks = std::int64_t;
constexpr double all_ticks = 1 << 30;

/// The embedding, the layers and the head in a row, and the time of each stretch of them.
class Units {
public:
    Units(const LayerCosts& costs, bool splits_backward)
    {
        const auto seconds = [splits_backward](const PartCost& cost) {
            const auto of = [](const PassCost& pass) { return pass.compute_s + pass.communication_s; };
            return of(cost.forward) + (splits_backward ? of(cost.input_gradient) + of(cost.weight_gradient) : of(cost.backward));
        };
        std::vector<double> of_kind;
        std::transform(costs.kinds.begin(), costs.kinds.end(), std::back_inserter(of_kind), seconds);
        double all = seconds(costs.embedding) + seconds(costs.head);
        for (const int kind : costs.layers) {
            all += of_kind[kind];
        }
        const double scale = all > 0.0 ? all_ticks / all : 0.0;
        before_.reserve(costs.layers.size() + 3);
        before_.push_back(0);
        add(seconds(costs.embedding) * scale);
        for (const int kind : costs.layers) {
            add(of_kind[kind] * scale);
        }
        add(seconds(costs.head) * scale);
    }

    int count() const { return static_cast<int>(before_.size()) - 1; }
    Ticks time(int begin, int end) const { return before_[end] - before_[begin]; }
    Ticks all() const { return before_.back(); }
    Ticks longest() const
    {
        Ticks most = 0;
        for (int unit = 0; unit < count(); ++unit) {
            most = std::max(most, time(unit, unit + 1));
        }
        return most;
    }
    /// The last end, `most` at most, of a stretch from `begin` that takes no longer than `limit`.
    int last_end(int begin, int most, Ticks limit) const
    {
        const auto first = before_.begin() + begin;
        return static_cast<int>(std::upper_bound(first, before_.begin() + most + 1, *first + limit) - before_.begin()) - 1;
    }
    /// The first begin, `least` at least, of a stretch to `end` that takes no longer than `limit`.
    int first_begin(int end, int least, Ticks limit) const
    {
        return static_cast<int>(std::lower_bound(before_.begin() + least, before_.begin() + end, before_[end] - limit) -
                                before_.begin());
    }
    Ticks shortest_above(Ticks limit) const
    {
        Ticks least = std::numeric_limits<Ticks>::max();
        for (int begin = 0; begin < count(); ++begin) {
            const int end = last_end(begin, count(), limit);
            if (end < count()) {
                least = std::min(least, time(begin, end + 1));
            }
        }
        return least;
    }

private:
    void add(double ticks) { before_.push_back(before_.back() + std::llround(ticks)); }

    std::vector<Ticks> before_;  // [unit]: time of all before it; and of all
};

using Lengths = std::vector<int>;  // units of each chunk

struct NoLimit {
    bool operator()(int, int, int) const { return true; }
};

/// Splits whose chunks take no longer than a limit and `fit(chunk, begin, end)`. What is part of a stretch that fits, fits.
/// The probe of a limit, and its bisection over the sums that occur: Pinar and Aykanat, J. Parallel Distrib. Comput. 64(8), 2004,
/// sections 3 and 4.
template <class Fit>
class Chains {
public:
    Chains(const Units& units, int chunks, const Fit& fit) : units_(units), chunks_(chunks), fit_(fit) {}

    /// Whether the units fit into the chunks, if chunks may be empty; and if not, the least limit with which chunks hold more.
    struct Probe {
        bool fits;
        Ticks next;
    };
    Probe probe(Ticks limit) const
    {
        Ticks next = std::numeric_limits<Ticks>::max();
        int at = 0;
        for (int k = 0; k < chunks_ && at < units_.count(); ++k) {
            const int begin = at;
            int end = units_.last_end(begin, units_.count(), limit);
            if (fit_(k, begin, end)) {
                if (end < units_.count()) {
                    next = std::min(next, units_.time(begin, end + 1));
                }
                at = end;
                continue;
            }
            for (int too_much = end; too_much - at > 1;) {
                end = at + (too_much - at) / 2;
                (fit_(k, begin, end) ? at : too_much) = end;
            }
        }
        return {at == units_.count(), next};
    }

    /// The least limit, from `least`, with which the probe succeeds; nothing where none does.
    std::optional<Ticks> least_limit(Ticks least) const
    {
        Ticks most = units_.all();
        if (!probe(most).fits) {
            return std::nullopt;
        }
        while (least < most) {
            const Ticks middle = least + (most - least) / 2;
            const Probe result = probe(middle);
            (result.fits ? most : least) = result.fits ? middle : result.next;
        }
        return least;
    }

    /// Of the splits without empty chunks the one whose chunks are most alike, then that with the shorter chunks at the ends.
    std::optional<Lengths> most_alike(Ticks limit) const
    {
        if (!windows(limit)) {
            return std::nullopt;
        }
        std::vector<std::vector<Best>> best(chunks_);
        for (int k = 0; k < chunks_; ++k) {
            best[k].resize(last_[k] - first_[k] + 1);
            for (int end = first_[k]; end <= last_[k]; ++end) {
                best[k][end - first_[k]] = best_ending(k, end, limit, k > 0 ? &best[k - 1] : nullptr);
            }
        }
        if (best.back().back().begin < 0) {
            return std::nullopt;
        }
        Lengths lengths(chunks_);
        for (int k = chunks_ - 1, end = units_.count(); k >= 0; --k) {
            const int begin = best[k][end - first_[k]].begin;
            lengths[k] = end - begin;
            end = begin;
        }
        return lengths;
    }

private:
    struct Best {
        Ticks squares = 0;
        std::int64_t off_middle = 0;  // units times the distance of their chunk from the middle
        int begin = -1;               // of the last chunk; -1: there is no such split
    };

    /// Ends of each chunk that leave no chunk before or behind it empty or too long.
    bool windows(Ticks limit) const
    {
        first_.assign(chunks_, 0);
        last_.assign(chunks_, 0);
        for (int k = 0, at = 0; k < chunks_; ++k) {
            at = last_[k] = units_.last_end(at, units_.count() - (chunks_ - 1 - k), limit);
        }
        first_.back() = units_.count();
        for (int k = chunks_ - 1; k > 0; --k) {
            first_[k - 1] = units_.first_begin(first_[k], std::min(k, first_[k]), limit);
        }
        for (int k = 0; k < chunks_; ++k) {
            if (first_[k] > last_[k]) {
                return false;
            }
        }
        return true;
    }

    Best best_ending(int k, int end, Ticks limit, const std::vector<Best>* before) const
    {
        Best best;
        const int latest = k > 0 ? std::min(last_[k - 1], end - 1) : 0;
        const int earliest = k > 0 ? first_[k - 1] : 0;
        for (int begin = latest; begin >= earliest; --begin) {
            const Ticks time = units_.time(begin, end);
            if (time > limit || !fit_(k, begin, end)) {
                break;
            }
            Best with = before != nullptr ? (*before)[begin - first_[k - 1]] : Best{0, 0, 0};
            if (with.begin < 0) {
                continue;
            }
            with.squares += time * time;
            with.off_middle += static_cast<std::int64_t>(end - begin) * std::abs(2 * k - (chunks_ - 1));
            if (best.begin < 0 || std::pair(with.squares, with.off_middle) < std::pair(best.squares, best.off_middle)) {
                best = {with.squares, with.off_middle, begin};
            }
        }
        return best;
    }

    const Units& units_;
    const int chunks_;
    const Fit& fit_;
    mutable std::vector<int> first_;  // [chunk]: its ends, of which the first and the last can be part of a split
    mutable std::vector<int> last_;
};

class Balance {
public:
    Balance(const LayerCosts& costs, const Program& program, const ParallelPlan& plan, const MemoryModel& memory, Bytes capacity)
        : costs_(costs), program_(program), plan_(plan), memory_(memory), capacity_(capacity),
          units_(costs, splits_backward(plan.schedule)), chunks_(network_parts(plan.schedule, plan.pp, plan.chunks)),
          stage_of_(chunks_)
    {
        for (int stage = 0; stage < plan.pp; ++stage) {
            for (int chunk = 0; chunk < plan.chunks; ++chunk) {
                stage_of_[part_of_network(program.shape, {stage, chunk})].push_back(stage);
            }
        }
    }

    std::vector<Chunk> run()
    {
        const bool alone = plan_.chunks == 1;  // each chunk on its stage
        const Chains<NoLimit> chains(units_, chunks_, no_limit_);
        const Ticks at_least = std::max(units_.longest(), units_.all() / chunks_);
        const Ticks limit = *chains.least_limit(at_least);
        Lengths shortest = *chains.most_alike(limit);
        if (!alone) {
            shortest = best_of(starts(shortest), false);
        }
        if (fits(shortest)) {
            return chunks_of_units(shortest);
        }
        const std::optional<Lengths> within = alone ? within_memory(capacity_, limit) : best_within_memory(shortest, limit);
        return chunks_of_units(within ? *within : shortest);
    }

private:
    /// What is made as small as possible: the busiest stage, then unequal stages, the busiest chunk, unequal chunks.
    using Key = std::array<Ticks, 4>;

    std::vector<MemoryUse> needed(const Lengths& lengths) const
    {
        std::vector<ChunkParts> parts;
        for (const Chunk& chunk : chunks_of_units(lengths)) {
            parts.emplace_back(chunk, costs_);
        }
        return memory_by_stage(program_, parts, plan_, memory_);
    }
    bool fits(const Lengths& lengths) const { return fullest(needed(lengths)).total() <= capacity_; }

    Key key(const Lengths& lengths) const
    {
        Key key{};
        for (int k = 0, begin = 0; k < chunks_; begin += lengths[k++]) {
            const Ticks time = units_.time(begin, begin + lengths[k]);
            key[2] = std::max(key[2], time);
            key[3] += time * time;
        }
        for (const Ticks time : busy(lengths)) {
            key[0] = std::max(key[0], time);
            key[1] += time * time;
        }
        return key;
    }

    /// The split of shortest chunks within memory, as if all chunks of a stage were like each.
    std::optional<Lengths> within_memory(Bytes capacity, Ticks least) const
    {
        const auto fit = [&](int k, int begin, int end) {
            const int layers = units_.count() - 2;
            Chunk chunk;
            chunk.embedding = begin == 0;
            chunk.head = end == units_.count();
            chunk.first_layer = std::max(0, begin - 1);
            chunk.layers = std::min(end - 1, layers) - chunk.first_layer;
            const ChunkParts parts(chunk, costs_);
            return std::all_of(stage_of_[k].begin(), stage_of_[k].end(), [&](int stage) {
                return memory_of_alike(stage, parts, program_, plan_, memory_).total() <= capacity;
            });
        };
        const Chains chains(units_, chunks_, fit);
        // The probe lets chunks be empty, so that its limit may be too low where a layer alone does not fit everywhere.
        for (std::optional<Ticks> limit = chains.least_limit(least); limit && *limit <= units_.all();
             limit = units_.shortest_above(*limit)) {
            if (auto lengths = chains.most_alike(*limit)) {
                return lengths;
            }
        }
        return std::nullopt;
    }

    /// ... of those that fit as they are.
    std::optional<Lengths> best_within_memory(const Lengths& shortest, Ticks least) const
    {
        std::vector<Lengths> found = starts(shortest);
        Bytes capacity = capacity_;
        constexpr int attempts = 4;  // each with less memory, by as much as the one before needs too much
        for (int attempt = 0; attempt < attempts; ++attempt) {
            const auto lengths = within_memory(capacity, least);
            if (!lengths) {
                break;
            }
            found.push_back(*lengths);
            const double need = fullest(needed(*lengths)).total().si;
            if (need <= capacity_.si) {
                break;
            }
            capacity = Bytes{capacity.si * capacity_.si / need};
        }
        for (Lengths& lengths : found) {
            lengths = relieved(std::move(lengths));
        }
        std::erase_if(found, [this](const Lengths& lengths) { return !fits(lengths); });
        return found.empty() ? std::nullopt : std::optional(best_of(found, true));
    }

    std::vector<Lengths> even_splits() const
    {
        std::vector<Lengths> splits;
        for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
            ParallelPlan even = plan_;
            even.split = split;
            const auto result = layout(units_.count() - 2, even);
            if (const auto* chunks = std::get_if<std::vector<Chunk>>(&result)) {
                Lengths& lengths = splits.emplace_back();
                for (const Chunk& chunk : *chunks) {
                    lengths.push_back(chunk.layers + (chunk.embedding ? 1 : 0) + (chunk.head ? 1 : 0));
                }
            }
        }
        return splits;
    }

    std::vector<Lengths> starts(const Lengths& shortest) const
    {
        std::vector<Lengths> all = even_splits();
        all.insert(all.begin(), shortest);
        return all;
    }

    /// The first of the best, each improved as far as single moves do.
    Lengths best_of(const std::vector<Lengths>& starts, bool within) const
    {
        Lengths best;
        Key least{};
        for (const Lengths& start : starts) {
            const Lengths lengths = improved(start, within);
            if (const Key own = key(lengths); best.empty() || own < least) {
                best = lengths;
                least = own;
            }
        }
        return best;
    }

    /// Calls visit(lengths) with one unit moved from a chunk of the stage to any other chunk, the chunks between keeping their
    /// lengths.
    template <class Visit>
    void each_move_from(int stage, const Lengths& lengths, Visit&& visit) const
    {
        Lengths moved = lengths;
        for (int from = 0; from < chunks_; ++from) {
            const std::vector<int>& holders = stage_of_[from];
            if (lengths[from] == 1 || std::find(holders.begin(), holders.end(), stage) == holders.end()) {
                continue;
            }
            --moved[from];
            for (int to = 0; to < chunks_; ++to) {
                if (to != from) {
                    ++moved[to];
                    visit(std::as_const(moved));
                    --moved[to];
                }
            }
            ++moved[from];
        }
    }

    /// Moves a unit at a time away from the busiest stage, to where that helps most.
    Lengths improved(Lengths lengths, bool within) const
    {
        for (Key least = key(lengths);;) {
            std::optional<Lengths> best;
            each_move_from(busiest(lengths), lengths, [&](const Lengths& moved) {
                if (const Key own = key(moved); own < least && (!within || fits(moved))) {
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

    /// Moves a unit at a time away from the fullest stage until all fit or that helps no more. Not where stages are too full on
    /// average.
    Lengths relieved(Lengths lengths) const
    {
        double least = overflow(needed(lengths));
        while (least > 0.0) {
            const std::vector<MemoryUse> uses = needed(lengths);
            Bytes all{0.0};
            for (const MemoryUse& use : uses) {
                all += use.total();
            }
            std::optional<Lengths> best;
            if (all <= static_cast<double>(plan_.pp) * capacity_) {
                each_move_from(fullest(uses).stage, lengths, [&](const Lengths& moved) {
                    if (const double own = overflow(needed(moved)); own < least) {
                        least = own;
                        best = moved;
                    }
                });
            }
            if (!best) {
                break;
            }
            lengths = *best;
        }
        return lengths;
    }

    double overflow(const std::vector<MemoryUse>& uses) const
    {
        double sum = 0.0;
        for (const MemoryUse& use : uses) {
            sum += std::max(0.0, (use.total() - capacity_).si);
        }
        return sum;
    }

    /// [stage], until the next call.
    const std::vector<Ticks>& busy(const Lengths& lengths) const
    {
        busy_.assign(plan_.pp, 0);
        for (int k = 0, begin = 0; k < chunks_; begin += lengths[k++]) {
            for (const int stage : stage_of_[k]) {
                busy_[stage] += units_.time(begin, begin + lengths[k]);
            }
        }
        return busy_;
    }
    int busiest(const Lengths& lengths) const
    {
        const std::vector<Ticks>& times = busy(lengths);
        return static_cast<int>(std::max_element(times.begin(), times.end()) - times.begin());
    }

    const LayerCosts& costs_;
    const Program& program_;
    const ParallelPlan& plan_;
    const MemoryModel& memory_;
    Bytes capacity_;
    Units units_;
    int chunks_;
    std::vector<std::vector<int>> stage_of_;  // [chunk]: the stages that hold it: two where two copies of the network are trained
    NoLimit no_limit_;
    mutable std::vector<Ticks> busy_;
};

}  // namespace

std::variant<std::vector<Chunk>, Infeasible> balanced_layout(const LayerCosts& costs, const Program& program,
                                                             const ParallelPlan& plan, const MemoryModel& memory, Bytes capacity)
{
    ParallelPlan slots = plan;  // as many parts
    slots.split = LayerSplit::slots;
    auto even = layout(static_cast<int>(costs.layers.size()), slots);
    const bool alone = network_parts(plan.schedule, plan.pp, plan.chunks) == 1;
    return alone || std::holds_alternative<Infeasible>(even) ? even : Balance(costs, program, plan, memory, capacity).run();
}

}  // namespace prismopt

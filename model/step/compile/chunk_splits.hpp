#pragma once

/// Contiguous splits of a network into chunks that take no longer than a limit.

#include "model/network/layer_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace prismopt {

/// Shares of the whole network's time, in whole numbers: their sums, and those of their squares, are exact.
using Ticks = std::int64_t;

/// The embedding, the layers and the head in a row, and the time of each stretch of them.
class Units {
public:
    Units(const LayerCosts& costs, bool splits_backward);

    int count() const { return static_cast<int>(before_.size()) - 1; }
    Ticks time(int begin, int end) const { return before_[end] - before_[begin]; }
    Ticks all() const { return before_.back(); }
    Ticks longest() const;
    /// The last end, `most` at most, of a stretch from `begin` that takes no longer than `limit`.
    int last_end(int begin, int most, Ticks limit) const;
    /// The first begin, `least` at least, of a stretch to `end` that takes no longer than `limit`.
    int first_begin(int end, int least, Ticks limit) const;
    Ticks shortest_above(Ticks limit) const;

private:
    void add(double ticks) { before_.push_back(before_.back() + std::llround(ticks)); }

    std::vector<Ticks> before_;  // [unit]: time of all before it; and of all
};

using Lengths = std::vector<int>;  // units of each chunk

struct NoLimit {
    bool operator()(int, int, int) const { return true; }
};

/// Splits whose chunks take no longer than a limit and `fit(chunk, begin, end)`. What is part of a stretch
/// that fits, fits. The probe of a limit, and its bisection over the sums that occur: Pinar and Aykanat, J.
/// Parallel Distrib. Comput. 64(8), 2004, sections 3 and 4.
template <class Fit>
class Chains {
public:
    /// Units and `fit` must outlive this object.
    Chains(const Units& units, int chunks, const Fit& fit) : units_(units), chunks_(chunks), fit_(fit) {}

    /// Whether the units fit into the chunks, if chunks may be empty; and if not, the least
    /// limit with which chunks hold more.
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
                if (fit_(k, begin, end)) {
                    at = end;
                } else {
                    too_much = end;
                }
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
            if (result.fits) {
                most = middle;
            } else {
                least = result.next;
            }
        }
        return least;
    }

    /// Of the splits without empty chunks the one whose chunks are most equal, then that with
    /// the shorter chunks at the ends.
    std::optional<Lengths> most_equal(Ticks limit) const
    {
        const std::optional<Ends> ends = possible_ends(limit);
        if (!ends) {
            return std::nullopt;
        }
        std::vector<std::vector<Best>> best(chunks_);  // [chunk][end - its first]
        for (int k = 0; k < chunks_; ++k) {
            for (int end = ends->first[k]; end <= ends->last[k]; ++end) {
                best[k].push_back(k == 0 ? best_alone(end, limit)
                                         : best_ending(k, end, limit, *ends, best[k - 1]));
            }
        }
        if (best.back().back().begin < 0) {
            return std::nullopt;
        }
        Lengths lengths(chunks_);
        int end = units_.count();
        for (int k = chunks_ - 1; k >= 0; --k) {
            const int begin = best[k][end - ends->first[k]].begin;
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

    /// [chunk]: its ends, of which the first and the last can be part of a split.
    struct Ends {
        std::vector<int> first;
        std::vector<int> last;
    };

    /// Ends of each chunk that leave no chunk before or behind it empty or too long;
    /// nothing where a chunk has none.
    std::optional<Ends> possible_ends(Ticks limit) const
    {
        Ends ends{std::vector<int>(chunks_, 0), std::vector<int>(chunks_, 0)};
        int at = 0;
        for (int k = 0; k < chunks_; ++k) {
            at = units_.last_end(at, units_.count() - (chunks_ - 1 - k), limit);
            ends.last[k] = at;
        }
        ends.first.back() = units_.count();
        for (int k = chunks_ - 1; k > 0; --k) {
            ends.first[k - 1] = units_.first_begin(ends.first[k], std::min(k, ends.first[k]), limit);
        }
        for (int k = 0; k < chunks_; ++k) {
            if (ends.first[k] > ends.last[k]) {
                return std::nullopt;
            }
        }
        return ends;
    }

    bool within(int k, int begin, int end, Ticks limit) const
    {
        return units_.time(begin, end) <= limit && fit_(k, begin, end);
    }

    /// A split with one more chunk.
    Best extended(Best split, int k, int begin, int end) const
    {
        const Ticks time = units_.time(begin, end);
        split.squares += time * time;
        split.off_middle += static_cast<std::int64_t>(end - begin) * std::abs(2 * k - (chunks_ - 1));
        split.begin = begin;
        return split;
    }

    /// The first chunk.
    Best best_alone(int end, Ticks limit) const
    {
        return within(0, 0, end, limit) ? extended({}, 0, 0, end) : Best{};
    }

    /// The best split whose chunk k has an end. `before`: those of the chunk before.
    Best best_ending(int k, int end, Ticks limit, const Ends& ends, const std::vector<Best>& before) const
    {
        Best best;
        const int earliest = ends.first[k - 1];
        for (int begin = std::min(ends.last[k - 1], end - 1); begin >= earliest; --begin) {
            if (!within(k, begin, end, limit)) {
                break;
            }
            if (before[begin - earliest].begin < 0) {
                continue;
            }
            const Best split = extended(before[begin - earliest], k, begin, end);
            if (best.begin < 0 ||
                std::pair(split.squares, split.off_middle) < std::pair(best.squares, best.off_middle)) {
                best = split;
            }
        }
        return best;
    }

    const Units& units_;
    const int chunks_;
    const Fit& fit_;
};

}  // namespace prismopt

#pragma once

/// Who sits where, so that a noisy or costly figure is least: exactly where there are few ways, by moves where there are many.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace prismopt {

/// [seat]: kind of what sits there. Things of one kind are alike.
using Seating = std::vector<int>;

struct SeatingProblem {
    int seats = 0;
    int block = 1;           // seats [k * block, (k + 1) * block) are a block; blocks are alike and may change places
    std::vector<int> stock;  // [kind]: how many there are; together at least as many as seats
    /// Figures of several seatings at once, which may share their random numbers.
    std::function<std::vector<double>(std::span<const Seating>)> judge;
    /// Cheap figure of one block's kinds: its sum over blocks falls about where the figure does. Empty: none is known.
    std::function<double(std::span<const int>)> guide = {};
    double floor = -std::numeric_limits<double>::infinity();  // no seating has less: nothing is left to search for
};

struct SeatingOptions {
    std::size_t most_exact = 2000;   // ways up to which all are judged
    std::size_t most_judged = 4000;  // by moves
    std::size_t batch = 64;          // judged at once
    std::size_t patience = 4;        // batches without gain after which a way down ends
    std::size_t kicks = 20;          // times that the best is disturbed and goes downhill again
    std::size_t guided = 20'000;     // moves that are weighed by the guide on one way down
    std::uint64_t seed = 1;
};

struct SeatingResult {
    Seating best;
    double least = 0.0;
    Seating worst;  // of all that were judged
    double most = 0.0;
    bool exact = false;  // all ways were judged
    bool cut = false;    // most_judged ended the search
    std::size_t judged = 0;
};

/// Two seats change places; or one is given a thing of another kind from the stock left over.
struct SeatMove {
    int seat = 0;
    int other = -1;  // seat; -1: from the stock
    int kind = 0;    // that the seat gets
};

/// The moves from a seating that change it, each once, in a fixed order: none is made before it is asked for.
class SeatMoves {
public:
    SeatMoves(const std::vector<int>& stock, const Seating& seating);

    std::uint64_t count() const { return before_.back(); }
    SeatMove at(std::uint64_t index) const;

private:
    /// Seats of the kind.
    std::uint64_t seats(int kind) const { return static_cast<std::uint64_t>(first_[kind + 1] - first_[kind]); }
    /// Of one seat of the kind: to seats of the kinds above, and to the stock.
    std::uint64_t moves_of_seat(int kind) const;

    std::vector<int> by_kind_;           // seats, kind by kind
    std::vector<int> first_;             // [kind]: where its seats begin in by_kind_; and the end
    std::vector<int> left_;              // kinds that the stock still has
    std::vector<int> rank_;              // [kind]: kinds in left_ below it
    std::vector<std::uint64_t> before_;  // [kind]: moves of the seats of kinds below; and all
};

void make_move(Seating& seating, const SeatMove& move);

/// All ways but for the order of blocks; empty when there are more than `most`.
std::vector<Seating> all_seatings(const SeatingProblem& problem, std::size_t most);

/// `starts`: seatings to judge first; moves set out from the best of them (iterated local search:
/// Lourenco, Martin and Stutzle, Handbook of Metaheuristics, 2003). A way down follows the guide first, then the figure; moves that
/// change nothing are taken, and half of them change the block that the guide finds slowest.
SeatingResult best_seating(const SeatingProblem& problem, std::span<const Seating> starts, const SeatingOptions& options);

}  // namespace prismopt

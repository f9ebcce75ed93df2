#pragma once

/// Who sits where, so that a noisy or costly figure is least: exactly where there are few ways, by moves where there are many.

#include <cstddef>
#include <cstdint>
#include <functional>
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
};

struct SeatingOptions {
    std::size_t most_exact = 2000;   // ways up to which all are judged
    std::size_t most_judged = 4000;  // by moves
    std::size_t batch = 64;          // judged at once
    std::size_t kicks = 20;          // times that the best is disturbed and goes downhill again
    std::uint64_t seed = 1;
};

struct SeatingResult {
    Seating best;
    double least = 0.0;
    Seating worst;  // of all that were judged
    double most = 0.0;
    bool exact = false;  // all ways were judged
    std::size_t judged = 0;
};

/// All ways but for the order of blocks; empty when there are more than `most`.
std::vector<Seating> all_seatings(const SeatingProblem& problem, std::size_t most);

/// `starts`: seatings to judge first; moves set out from the best of them (iterated local search:
/// Lourenco, Martin and Stutzle, Handbook of Metaheuristics, 2003). A move swaps two seats, or a seat with the stock left over.
SeatingResult best_seating(const SeatingProblem& problem, std::span<const Seating> starts, const SeatingOptions& options);

}  // namespace prismopt

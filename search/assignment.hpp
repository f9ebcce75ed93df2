#pragma once

/// Assignment that minimises a noisy or expensive figure: by enumeration if there are few
/// assignments, otherwise by local search.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace prismopt {

/// An assignment, [position]: kind of the item on the position. Items of one kind are interchangeable.
using Assignment = std::vector<int>;

struct AssignmentProblem {
    int positions = 0;
    int block = 1;  // positions [k * block, (k + 1) * block) form a block; blocks are interchangeable
    std::vector<int> stock;  // [kind]: number of items; in total at least as many as positions
    /// Evaluates the figures of several assignments at once, which may share random numbers.
    std::function<std::vector<double>(std::span<const Assignment>)> judge;
    /// Cheap surrogate for the kinds of one block: its sum over blocks decreases roughly
    /// with the figure. May be empty.
    std::function<double(std::span<const int>)> guide = {};
    // Lower bound of the figure: the search ends when it is reached.
    double floor = -std::numeric_limits<double>::infinity();
};

struct AssignmentOptions {
    std::size_t most_exact = 2000;   // number of assignments up to which all are evaluated
    std::size_t most_judged = 4000;  // evaluations of the local search
    std::size_t batch = 64;          // evaluated at once
    std::size_t patience = 4;        // batches without gain after which a descent ends
    std::size_t kicks = 20;          // perturbations of the best assignment, each with a new descent
    std::size_t guided = 20'000;     // moves that the surrogate ranks in one descent
    std::uint64_t seed = 1;
};

struct AssignmentResult {
    Assignment best;
    double least = 0.0;
    Assignment worst;  // of all evaluated assignments
    double most = 0.0;
    bool exact = false;  // all assignments were evaluated
    bool cut = false;    // most_judged ended the search
    std::size_t judged = 0;
};

/// A move: swaps the items of two positions, or replaces the item of one position by
/// an unused item of another kind.
struct AssignmentMove {
    int position = 0;
    int other = -1;  // other position; -1: an unused item
    int kind = 0;    // new kind of the position
};

/// All moves that change an assignment, each once, in a fixed order; computed on demand.
class AssignmentMoves {
public:
    AssignmentMoves(const std::vector<int>& stock, const Assignment& assignment);

    std::uint64_t count() const { return before_.back(); }
    AssignmentMove at(std::uint64_t index) const;

private:
    /// Number of positions with this kind.
    std::uint64_t positions(int kind) const
    {
        return static_cast<std::uint64_t>(first_[kind + 1] - first_[kind]);
    }
    /// Moves of one position with this kind: swaps with positions of higher kinds,
    /// and replacements by unused items.
    std::uint64_t moves_of_position(int kind) const;

    std::vector<int> by_kind_;           // positions, kind by kind
    std::vector<int> first_;             // [kind]: first position in by_kind_; then the end
    std::vector<int> left_;              // kinds with unused items
    std::vector<int> rank_;              // [kind]: number of lower kinds in left_
    std::vector<std::uint64_t> before_;  // [kind]: moves of positions with lower kinds; then all moves
};

void make_move(Assignment& assignment, const AssignmentMove& move);

/// All assignments up to the order of blocks; empty if there are more than `most`.
std::vector<Assignment> all_assignments(const AssignmentProblem& problem, std::size_t most);

/// Minimises the figure by iterated local search (Lourenco, Martin and Stutzle, Handbook of Metaheuristics,
/// 2003) from the best of `starts`. A descent follows the surrogate first, then the figure; it accepts moves
/// to equal figures, and half of the moves change the block with the largest surrogate.
AssignmentResult best_assignment(const AssignmentProblem& problem, std::span<const Assignment> starts,
                                 const AssignmentOptions& options);

}  // namespace prismopt

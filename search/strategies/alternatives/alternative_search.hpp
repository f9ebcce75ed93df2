#pragma once

/// Search of alternatives that each serve several tasks: which are on the front of their
/// weighted value and their worst regret.

#include "search/space.hpp"
#include "search/strategies/alternatives/cells.hpp"
#include "search/strategies/alternatives/judgement.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace prismopt {

/// Sweeps the points of one alternative, tries its best ones on all others, sweeps those below what that
/// gives, and draws points of alternatives that may be on the front, and of those that may have the least of
/// a task, until no other point matters.
///
/// A point whose bound lies above the limit of another point of its cell cannot be the best of it.
/// Alternatives that another surely dominates keep bounds in place of a value.
class AlternativeSearch final : public Strategy {
public:
    /// `goal` has alternatives, regions that are their cells, and one objective with a bound. Throws
    /// std::invalid_argument otherwise.
    AlternativeSearch(const Space& space, StudyGoal goal);

    std::optional<std::vector<Request>> ask() override;
    void tell(std::span<const Answer> answers) override;
    Outcome outcome() const override;
    /// The best points of all settled alternatives.
    std::vector<std::uint64_t> front() const override;

private:
    enum class Stage { first, transfer, others, draws, finished };

    /// Tuples with the same label of the first axis: points of one cell.
    struct Block {
        std::size_t cell = 0;
        std::size_t task = 0;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };
    std::vector<Request> requests_of_stage();
    std::vector<Request> sweeps_of_first();
    std::vector<Request> transfers() const;
    std::vector<Request> sweeps_of_others() const;
    static void add_sweep(const Block& block, std::uint64_t range_count, NearRequest near, bool again,
                          std::vector<Request>& sweeps);

    std::vector<Request> draws();
    std::vector<Request> sweeps_again(const std::set<std::size_t>& cells);
    std::vector<Request> points_of(const std::set<std::size_t>& cells);
    std::set<std::size_t> cells_to_draw() const;
    static std::vector<std::size_t> most_promising(const std::vector<std::size_t>& candidates,
                                                   const std::vector<double>& merit);
    std::vector<double> regret_of_lows() const;
    void choose_within(std::size_t alternative, std::set<std::size_t>& cells) const;

    void receive(const Sweep& sweep, const SweepRange& range);
    void receive(const Evaluation& evaluation, const PointRequest& request);
    void note_violation(const Evaluation& evaluation, double bound);

    std::vector<Judged> judge() const;
    bool settled(std::size_t alternative) const;
    std::size_t cell_of(std::uint64_t point) const;
    bool is_first(std::size_t cell) const
    {
        return cell >= first_ * of_.tasks && cell < (first_ + 1) * of_.tasks;
    }

    StudyGoal goal_;
    const AlternativeGoal& of_;
    std::uint64_t block_size_ = 0;
    std::vector<Block> blocks_;  // by label of the first axis
    std::size_t first_ = 0;      // the alternative that is swept first
    std::vector<Cell> cells_;
    std::vector<double> tried_;  // [cell]: the least bound of the points tried there
    Stage stage_ = Stage::first;
    bool begun_ = false;  // the stage
    std::vector<Request> asked_;
    std::size_t answered_ = 0;
    std::size_t kept_ = 0;                     // bounds of a cell that a sweep returns
    std::uint64_t rounds_ = 0;                 // of draws
    std::vector<PointRequest> without_limit_;  // whose draws were too few for one
    std::uint64_t drawn_ = 0;
    std::uint64_t feasible_ = 0;
    std::uint64_t unchecked_ = 0;
    CountByBound excluded_by_{};
    std::optional<BoundViolation> violation_;
};

}  // namespace prismopt

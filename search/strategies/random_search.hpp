#pragma once

/// Random search, as a baseline: distinct feasible points, each equally likely, then a race among them.

#include "search/components/moves.hpp"
#include "search/components/race.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_set>
#include <vector>

namespace prismopt {

class RandomSearch final : public Strategy {
public:
    /// The space must outlive the search.
    RandomSearch(const Space& space, const StudyGoal& goal);

    std::optional<std::vector<Request>> ask() override;
    void tell(std::span<const Answer> answers) override;
    Outcome outcome() const override;
    std::vector<std::uint64_t> front() const override { return race_.front(); }

private:
    std::vector<SweepRange> propose();

    const Space& space_;
    StudyGoal goal_;
    Moves moves_;
    SearchRandom random_;
    std::unordered_set<std::uint64_t> known_;
    std::deque<SweepRange> swept_;        // requested, not answered yet
    std::deque<PointRequest> awaited_;    // the same
    std::vector<PointRequest> feasible_;  // found feasible, not requested yet
    std::uint64_t found_ = 0;             // number found feasible
    std::uint64_t drawn_ = 0;
    bool exhausted_ = false;
    Race race_;
};

}  // namespace prismopt

#pragma once

/// Racing: draws every feasible point at the first rung, and points that are not
/// confidently dominated at higher rungs.

#include "search/components/bound_layers.hpp"
#include "search/components/race.hpp"
#include "search/space.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace prismopt {

/// Maximum number of points that are drawn at the first rung, without a limit by the user.
inline constexpr std::uint64_t most_entrants = 20'000;

/// Sweeps the space as the exact search does, then races the points with the best lower bounds.
class Racing final : public Strategy {
public:
    Racing(const Space& space, const StudyGoal& goal);

    std::optional<std::vector<Request>> ask() override;
    void tell(std::span<const Answer> answers) override;
    Outcome outcome() const override;
    std::vector<std::uint64_t> front() const override { return race_.front(); }

private:
    std::vector<Request> entrants();

    StudyGoal goal_;
    std::vector<SweepRange> ranges_;
    std::size_t swept_ = 0;
    bool started_ = false;
    bool entered_ = false;
    BoundLayers feasible_;
    std::uint64_t unreturned_ = 0;  // feasible, with bounds that were not kept
    Race race_;
    std::deque<PointRequest> awaited_;
};

}  // namespace prismopt

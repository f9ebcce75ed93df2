#pragma once

/// Points with good lower bounds in a space of any size, found by local moves without a sweep.

#include "search/branch_sampler.hpp"
#include "search/components/moves.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace prismopt {

struct ExplorationOptions {
    std::size_t start = 1024;      // random points of the first generation
    std::size_t generation = 512;  // points of the others
    std::size_t generations = 64;  // maximum number
    std::size_t patience = 4;      // consecutive generations without a new point on the front before it stops
};

/// Random branches of the space, then children of the points on the front of the lower bounds:
/// mutated, with a factor moved from one degree to another, or crossed. Each generation depends on the
/// answers to all earlier ones only.
class Exploration {
public:
    /// The space must outlive the exploration.
    Exploration(const Space& space, std::uint64_t seed, ExplorationOptions options = {});

    /// The next generation; empty: finished. Call after all answers to the one before.
    std::vector<std::uint64_t> ask();
    void tell(const std::vector<Bound>& feasible);
    /// Points whose bounds no other bound dominates, in index order.
    const std::vector<Bound>& front() const { return front_; }

private:
    void add_branches(std::vector<std::uint64_t>& points);
    void add_children(std::vector<std::uint64_t>& points);
    void add(const Point& point, std::vector<std::uint64_t>& points);

    const Space& space_;
    std::uint64_t seed_;
    ExplorationOptions options_;
    Moves moves_;
    BranchSampler branches_;
    std::unordered_set<std::uint64_t> known_;
    std::vector<Bound> front_;
    std::vector<Bound> found_;  // of this generation
    std::size_t generation_ = 0;
    std::size_t idle_ = 0;  // consecutive generations
    std::uint32_t choices_ = 0;
};

}  // namespace prismopt

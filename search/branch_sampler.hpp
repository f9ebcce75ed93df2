#pragma once

/// Random sub-spaces that the constraints of a space allow, with their sampling weights.

#include "search/search_random.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace prismopt {

/// All raw tuples with the same allowed leading labels.
struct Branch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    double weight = 0.0;  // inverse of its sampling probability
};

/// Descends from axis to axis, choosing each time one of the allowed labels with equal probability. The
/// weight of a branch is the product of the numbers of allowed labels on its path. The mean over
/// descents of `weight` times any count in the branch (zero for dead ends) is an unbiased estimate of
/// that count in the whole space. Source: Knuth, "Estimating the efficiency of backtrack programs",
/// Math. Comp. 29 (1975) 121-136.
class BranchSampler {
public:
    /// Branches have at most `most_tuples` raw tuples, unless the last axis alone is longer. The
    /// space must outlive the sampler.
    BranchSampler(const Space& space, std::uint64_t most_tuples);

    /// Draws a branch; nothing at a dead end, where no label is allowed.
    std::optional<Branch> descend(SearchRandom& random) const;

private:
    const Space& space_;
    std::size_t depth_ = 0;     // number of leading axes that are chosen
    std::uint64_t behind_ = 1;  // raw tuples of the others
};

}  // namespace prismopt

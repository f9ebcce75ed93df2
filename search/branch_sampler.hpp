#pragma once

/// Random sub-spaces that a space's constraints allow, and how much of the space each stands for.

#include "search/dice.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace prismopt {

/// The raw tuples behind some leading labels that the constraints allow.
struct Branch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    double weight = 0.0;  // branches that it stands for
};

/// Descends from axis to axis, each time to one of the labels that are allowed, equally likely. A branch stands for the product of the
/// numbers of allowed labels on its way: so the mean over descents of `weight` times anything counted in the branch, dead ends counting
/// zero, is what the whole space has of it. Source: Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29 (1975)
/// 121-136.
class BranchSampler {
public:
    /// Branches of at most `most_tuples` raw tuples, where the last axis alone is not longer. The space must outlive the sampler.
    BranchSampler(const Space& space, std::uint64_t most_tuples);

    /// Nothing: a dead end, where no label is allowed.
    std::optional<Branch> descend(Dice& dice) const;

private:
    const Space& space_;
    std::size_t depth_ = 0;     // leading axes that are chosen
    std::uint64_t behind_ = 1;  // raw tuples of the others
};

}  // namespace prismopt

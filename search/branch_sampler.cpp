#include "search/branch_sampler.hpp"

#include <vector>

namespace prismopt {

BranchSampler::BranchSampler(const Space& space, std::uint64_t most_tuples)
    : space_(space), depth_(space.axes().size())
{
    while (depth_ > 1) {
        const std::uint64_t labels = space.axes()[depth_ - 1].labels.size();
        if (behind_ * labels > most_tuples && depth_ < space.axes().size()) {
            break;
        }
        behind_ *= labels;
        --depth_;
    }
}

std::optional<Branch> BranchSampler::descend(SearchRandom& random) const
{
    Point point(space_.axes().size(), 0);
    Branch branch;
    branch.weight = 1.0;
    std::vector<int> allowed;
    for (std::size_t axis = 0; axis < depth_; ++axis) {
        allowed.clear();
        const auto labels = static_cast<int>(space_.axes()[axis].labels.size());
        for (int label = 0; label < labels; ++label) {
            point[axis] = label;
            if (space_.allows(std::span(point).first(axis + 1))) {
                allowed.push_back(label);
            }
        }
        if (allowed.empty()) {
            return std::nullopt;
        }
        point[axis] = allowed[random.below(allowed.size())];
        branch.weight *= static_cast<double>(allowed.size());
    }
    branch.begin = space_.index(point);
    branch.end = branch.begin + behind_;
    return branch;
}

}  // namespace prismopt

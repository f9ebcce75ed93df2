#pragma once

/// What a space holds that is too large to look at each of its tuples.

#include "optimizer/parallel/stop.hpp"
#include "optimizer/study/evaluator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// A value and its 95 % confidence interval.
struct Estimated {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
};

/// By branches drawn at random (BranchSampler), whose tuples are all judged.
struct SpaceEstimate {
    struct Plan {
        Bound bound;
        double stands_for = 0.0;  // feasible plans of the space
    };
    std::uint64_t branches = 0;      // drawn, dead ends among them
    std::uint64_t judged = 0;        // tuples in them that the rules of the space allow
    Estimated allowed;               // by these rules, of the whole space
    Estimated feasible;              // of the whole space
    Estimated sweep_s;               // processor seconds of judging the whole space
    std::vector<Plan> plans;         // feasible ones of the branches
    std::vector<Rejected> rejected;  // of the tuples judged
    double effective = 0.0;          // branches of equal weight that would tell as much (Kish, "Survey Sampling", 1965)

    /// A share of the allowed tuples that is exceeded with a probability of 5 % at most, where none of the branches has such a one.
    double share_below() const;
};

/// By at most so many branches, and after the first 500 for some seconds.
SpaceEstimate estimate_space(const StudyModel& model, const Pause& pause, int most_branches = 20'000);

/// That nothing feasible was found, and what that says: a sample proves nothing.
std::string none_found_text(const SpaceEstimate& estimate);

/// A front of bounds that is closer to that of the whole space: the members of the sample's and what moves make of them.
std::vector<Bound> improved_front(const StudyModel& model, const std::vector<Bound>& sample, const Pause& pause);

}  // namespace prismopt

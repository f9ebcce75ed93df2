#pragma once

/// Estimates for a space that is too large to check every tuple.

#include "model/base/parallel.hpp"
#include "optimizer/study/study_model.hpp"

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

/// Estimates from random branches (BranchSampler), all of whose tuples are checked.
struct SpaceEstimate {
    struct Plan {
        Bound bound;
        double stands_for = 0.0;  // number of plans of the space that it represents
    };
    std::uint64_t branches = 0;      // drawn, including dead ends
    std::uint64_t judged = 0;        // tuples in them that the rules of the space allow
    Estimated allowed;               // tuples of the whole space that the rules allow
    Estimated feasible;              // of the whole space
    Estimated kept;                  // feasible plans that no limit of the study or the sweep excludes
    Estimated sweep_s;               // processor time to check the whole space
    std::vector<Plan> plans;         // plans of the branches that no limit excludes
    std::vector<Rejected> rejected;  // of the checked tuples
    std::string stopped;             // text of Stopped; empty: the sample is complete
    double largest = 0.0;            // largest number of branches of the space that a drawn one represents
    double effective = 0.0;          // effective sample size (Kish, "Survey Sampling", 1965)

    bool found_feasible() const { return feasible.value > 0.0; }
    /// Upper 95 % confidence limit of a share of the allowed tuples, if no tuple of that
    /// kind was found in the branches.
    double share_below() const;
};

/// Draws branches for some seconds, at most `most_branches`; smaller ones if plans take long to check. Throws
/// Stopped only before the first branch is checked.
SpaceEstimate estimate_space(const StudyModel& model, const Pause& pause, int most_branches = 20'000);

/// Message that no feasible plan was found in the sample, with the upper confidence limit of their share.
std::string none_found_text(const SpaceEstimate& estimate);

/// The front of lower bounds that an exploration finds in some seconds, as the search of a large space begins
/// (Exploration), with those of a sample of feasible plans.
std::vector<Bound> explored_front(const StudyModel& model, const std::vector<Bound>& sample,
                                  const Pause& pause);

/// What a sweep with upper limits takes, and what it leaves, estimated from random branches.
struct LimitedSweep {
    Estimated plans;           // that no limit excludes
    Estimated sweep_s;         // processor time to check the whole space
    std::vector<Bound> found;  // of such plans, from the branches
};
/// Draws branches for some seconds. `limits`: of the objectives, at least one.
LimitedSweep limited_sweep(const StudyModel& model, const std::vector<std::vector<double>>& limits,
                           const NearRequest& near, const Pause& pause, int most_branches = 20'000);

}  // namespace prismopt

#pragma once

/// What the software may be of a job that does not say it, and what that means for a plan's step.

#include "model/job.hpp"
#include "model/plan/plan.hpp"
#include "optimizer/accuracy/step_gradients.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// Noise-free step times of plans with each software of Cluster::possible, without a
/// memory limit. Use one per thread.
class StepsBySoftware {
public:
    /// The members that `setting` refers to must outlive it. The cluster has the
    /// first of the possible software.
    explicit StepsBySoftware(const Setting& setting);

    /// Logarithm of the plan's step time with each software over that with the first. Nothing where its
    /// trainer does not run the plan (io/trainers/), or the plan is infeasible with it.
    std::vector<std::optional<double>> log_ratios(const ParallelPlan& plan);

private:
    std::deque<Job> jobs_;  // [software]
    std::deque<NoiseFreeCompiler> compilers_;
};

/// Which of the possible software a draw has, the same for all plans: as often as the weights say.
std::size_t drawn_software(std::span<const PossibleSoftware> possible, std::size_t draw);

}  // namespace prismopt

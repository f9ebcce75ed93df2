#pragma once

/// Model intervals of the plans of a study. Those used last are kept.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/plan/phase.hpp"
#include "optimizer/accuracy/model_intervals.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace prismopt {

class PointIntervals {
public:
    /// The model must outlive it.
    explicit PointIntervals(const StudyModel& model);

    /// Of a point of the space, in the first phase. Valid until the next call.
    const ModelInterval& of(std::uint64_t index);
    /// ModelIntervals::least() of a feasible point.
    LeastModelError least(std::uint64_t index);

private:
    /// The intervals refer to the problem.
    struct OfVariant {
        OfVariant(const Problem& its_problem, const FittedModel& fitted);

        ParallelPlan in_first_phase(const ParallelPlan& plan) const
        {
            return plan_in_phase(plan, problem.phases.front());
        }

        Problem problem;
        ModelIntervals intervals;
    };
    OfVariant& of_variant(const Point& point);

    const StudyModel& model_;
    FittedModel fitted_;
    HardwareBench bench_;
    std::map<std::size_t, OfVariant> variants_;
    std::map<std::uint64_t, ModelInterval> known_;
};

}  // namespace prismopt

#pragma once

/// Points of a front, as stored in results.

#include "io/results/results.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/point_intervals.hpp"
#include "optimizer/study/study_model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// A point with its prediction and the objectives of the study.
FrontPoint front_point(const StudyModel& model, std::uint64_t index, const Prediction& prediction);

/// What only points of a front have. The model must outlive it.
class FrontDetails {
public:
    explicit FrontDetails(const StudyModel& model);

    /// Adds the model interval of the point (model_interval.hpp), and the mean of what was measured
    /// of its plan (Scenario::learned).
    void add(FrontPoint& point);
    PointIntervals& intervals() { return intervals_; }

private:
    void add_model_interval(FrontPoint& point);
    void add_measured_steps(FrontPoint& point);

    const StudyModel& model_;
    HardwareBench bench_;
    PointIntervals intervals_;
};

/// Sorts by the first objective and flags dominated points. What has more than the study allows
/// dominates nothing that keeps it.
void put_in_order(const StudyModel& model, std::vector<FrontPoint>& front);

/// An answer to a strategy; of an evaluation, with all that is known of its plan, if that is asked for.
struct FullAnswer {
    Answer answer;
    std::optional<FrontPoint> drawn = {};
};

/// As bytes, for messages and for the journal.
Message encode(const FullAnswer& answer);
FullAnswer decode_full_answer(std::span<const std::byte> bytes);

}  // namespace prismopt

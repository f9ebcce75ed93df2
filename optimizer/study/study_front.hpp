#pragma once

/// Points of a front, as stored in results.

#include "io/results/results.hpp"
#include "optimizer/study/evaluator.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// A point with its prediction and the objectives of the study.
FrontPoint front_point(const StudyModel& model, std::uint64_t index, const Prediction& prediction);

/// Adds the model interval of each point (model_interval.hpp).
void add_model_intervals(const StudyModel& model, std::vector<FrontPoint>& front);

/// Adds the mean of what was measured of each plan (Scenario::learned).
void add_measured_steps(const StudyModel& model, std::vector<FrontPoint>& front);

/// Sorts by the first objective and flags dominated points.
void put_in_order(std::vector<FrontPoint>& front);

/// A point as bytes, for the journal.
Message encode(FrontPoint point);
FrontPoint decode_front_point(std::span<const std::byte> bytes);

}  // namespace prismopt

#pragma once

/// Members of a front as results hold them.

#include "io/results/results.hpp"
#include "optimizer/study/evaluator.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// A point with all that a prediction says of it, the study's objectives among it.
FrontPoint front_point(const StudyModel& model, std::uint64_t index, const Prediction& prediction);

/// How far the mean model may be off at each: model_interval.hpp.
void add_model_intervals(const StudyModel& model, std::vector<FrontPoint>& front);

/// In order of the first objective; those that another dominates are flagged.
void put_in_order(std::vector<FrontPoint>& front);

/// As bytes, for the journal.
Message encode(const FrontPoint& point);
FrontPoint decode_front_point(std::span<const std::byte> bytes);

}  // namespace prismopt

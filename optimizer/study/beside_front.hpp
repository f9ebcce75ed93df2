#pragma once

/// Plans that are shown beside a front: why less than the answer to a question is not enough, and what the
/// best plans of machines without a plan on the front come to.

#include "io/results/results.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/archive.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Returns the plans to draw for that, in index order. Of each region and number of spares: the plan with the
/// least bound that follows the step, and of those that the search drew and that break a limit the one with
/// the least of that objective. Regions count of machines without a plan on `front` and, where a promised
/// time is limited, the largest that have fewer GPUs than the answer.
std::vector<std::uint64_t> candidates_beside_front(const StudyModel& model, const Archive& archive,
                                                   std::span<const std::uint64_t> front);

/// Chooses from them, drawn, what is shown beside the confirmed `front`:
/// - a plan that is too late, with less of what the question minimises than the answer or, if there is none,
///   on fewer GPUs: the one on the most GPUs, and of these the earliest;
/// - of each machine without a plan on the front, the one with the least of what the question
///   minimises that keeps its limits, or that comes nearest to them; without a question, with
///   the least of the first objective.
std::vector<FrontPoint> shown_beside_front(const StudyModel& model, std::span<const FrontPoint> front,
                                           std::span<const FrontPoint> drawn);

}  // namespace prismopt

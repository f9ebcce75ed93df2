#pragma once

/// Sweep of a range of a study's space: lower bounds of its feasible plans.

#include "model/base/parallel.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/point_intervals.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/strategy.hpp"

namespace prismopt {

/// Lower bounds of the feasible points in a range, and the reasons why the others are infeasible. With
/// limits, sub-spaces are judged first, then plans; plans of a sub-space that the limits exclude or that fits
/// no GPU are not looked at. With limits, plans that nothing excludes so far also count only if they may keep
/// a promised time, given the software that may run them (ModelIntervals::least()).
/// Of doubtful points, those count as feasible that may not fit into memory; the others are not counted at
/// all. Calls `pause` often; its exceptions pass through.
Sweep sweep_range(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                  const Pause& pause, const SweepRange& range);

/// The same for a range without limits, but the limits of the study exclude plans only once these are known
/// to be feasible: they count as excluded, and no plan is left unchecked.
Sweep bound_all(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                const Pause& pause, const SweepRange& range);

/// The same counts, whatever the limits of the study, and no bounds: feasible points count as excluded.
/// Bounds, which take most of the time, are computed only for limits of the range and for doubtful points.
Sweep count_range(const StudyModel& model, HardwareBenches& benches, PointIntervals& intervals,
                  const Pause& pause, const SweepRange& range);

}  // namespace prismopt

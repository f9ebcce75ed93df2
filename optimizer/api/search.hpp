#pragma once

/// Searches of a space: started, followed, stopped and continued; and the cost of a search, before it runs.

#include "optimizer/loop/study.hpp"
#include "optimizer/preview/dry_run.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <optional>
#include <string>

namespace prismopt {

/// Searches a space in this process, with OMP_NUM_THREADS threads. The results are in StudyOptions::out as
/// well, and as long as the search runs, its journal beside it: a search that was stopped or killed can be
/// resumed. Throws InputError as run_study().
StudyEnd search(const Scenario& scenario, const StudyOptions& options);

/// Continues a search from its results file or its journal; StudyOptions::out is not read.
/// StudyEnd::nothing_to_do: it is complete.
StudyEnd resume(const std::string& path, StudyOptions options);

/// The scenario that resume() continues, or nothing if the search is complete; for programs that start MPI
/// and call run_study() on all ranks. Throws InputError.
std::optional<Scenario> resumable_scenario(const std::string& path);

}  // namespace prismopt

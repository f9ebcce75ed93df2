#pragma once

/// Tables of a user's own measured runs: a scenario file, a plan and a step time per row (docs/accuracy.md).

#include "io/measured/measured_runs.hpp"
#include "io/measured/published_runs.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct OwnRuns {
    std::vector<PublishedRun> runs;
    std::vector<SkippedRow> skipped;
    int tables = 0;
};

/// Reads every table of `folder` with a column `scenario`. A row that lacks something, or whose scenario is wrong, is skipped
/// with the reason. Throws InputError when a table lacks a column.
OwnRuns read_own_runs(const std::string& folder);

/// Whether the header of a table has this column; those of own runs have `scenario`.
bool table_has_column(const std::string& path, const std::string& column);

}  // namespace prismopt

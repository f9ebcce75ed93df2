#pragma once

/// The progress of a search on standard error: a bar on a terminal, dated lines in a batch log.

#include "optimizer/loop/study.hpp"

namespace prismopt {

/// Shows the progress of a search by these options.
void show_progress(StudyOptions& options);

}  // namespace prismopt

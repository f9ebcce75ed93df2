#pragma once

/// Lists of node outages.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/failure_fit.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

bool is_outage_list(const std::vector<std::string>& header);

/// A table with node [host], start_X and end_X (X: s, h, day; or ISO 8601 dates in `start`, `end`) and cause [cls, reason], or
/// the output of Slurm's `sacctmgr show event format=NodeName,TimeStart,TimeEnd,State,Reason --parsable2`, separated by bars.
/// Operator actions (level or cause "Change", or one with "Test"; Slurm's MAINT) are excluded.
void read_outage_list(TraceStream& stream, const std::string& path, char separator, std::vector<Outage>& outages);

/// A list without a header: each line has a node, the start and optionally the end of its outage (ISO 8601 dates), and the cause,
/// separated by blanks, tabs, commas, semicolons or bars. Lines that begin with # are comments.
bool is_plain_outage_list(std::string_view beginning);
void read_plain_outage_list(TraceStream& stream, const std::string& path, std::vector<Outage>& outages);

}  // namespace prismopt

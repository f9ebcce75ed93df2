#pragma once

/// Lists of node outages.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/failure_fit.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

bool is_outage_list(const std::vector<std::string>& header);

/// A plain table with node [host], start_X and end_X (X: s, h, day; or ISO 8601 dates in `start`, `end`) and cause [cls, reason], or
/// Slurm's `sacctmgr show event format=NodeName,TimeStart,TimeEnd,State,Reason --parsable2` with its bars. Operator actions (level
/// or cause "Change", or one with "Test"; Slurm's MAINT) are left out.
void read_outage_list(TraceStream& stream, const std::string& path, char separator, std::vector<Outage>& outages);

/// A list without a header: in each line a node, when its outage began and, where told, when it ended (ISO 8601 dates), and the cause;
/// blanks, tabs, commas, semicolons or bars between. Lines that begin with # are remarks.
bool is_plain_outage_list(std::string_view beginning);
void read_plain_outage_list(TraceStream& stream, const std::string& path, std::vector<Outage>& outages);

}  // namespace prismopt

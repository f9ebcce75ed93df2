#pragma once

/// Lists of node outages.

#include "io/traces/trace_stream.hpp"
#include "model/calibration/fit/failure_fit.hpp"
#include "model/calibration/records/faults.hpp"

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace prismopt {

/// Outages of lists, and events that are none, by reason.
struct OutageRecords {
    std::vector<Outage> outages;
    std::vector<Fault> excluded;
    std::set<std::tuple<std::string, double, double>> known{};  // node, start and end of outages that ended
};

/// An outage that begins and, unless `end_s` is not a number, ends. Throws InputError if it ends before
/// it begins, or lasts ten years.
Outage outage_between(const std::string& path, std::uint32_t line, double start_s, double end_s);
/// Adds an outage, unless its cause or the node's state says that it was planned, or the list has it already.
void add_outage(OutageRecords& records, Outage outage, std::string_view state, std::uint32_t line);
[[noreturn]] void refuse_outage_date(const std::string& path, std::uint32_t line, std::string_view text);

bool is_outage_list(const std::vector<std::string>& header);

/// A table with node [host], start_X and end_X (X: s, h, day; or ISO 8601 dates in `start`, `end`) and cause
/// [cls, reason]; the output of Slurm's `sacctmgr show event --parsable2`, separated by bars; or the failure
/// data of LANL (columns "nodenum", "prob started (mm/dd/yy hh:mm)", "prob fixed (...)" and one column per
/// cause; Schroeder and Gibson, DSN 2006).
void read_outage_list(TraceStream& stream, const std::string& path, char separator, OutageRecords& records);

/// The output of `sacctmgr show event`, whose columns have the widths of a line of dashes.
bool is_slurm_table(std::string_view beginning);
void read_slurm_table(TraceStream& stream, const std::string& path, OutageRecords& records);

}  // namespace prismopt

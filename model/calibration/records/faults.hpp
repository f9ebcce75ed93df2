#pragma once

/// Impossible rows in measurements, and their counts.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Reasons to exclude a row.
enum class FaultReason {
    negative_duration,
    longer_than_a_day,
    negative_value,         // of a column
    absurd_for_its_kind,    // of a kind of operation: above 100 times its median, and 10 times that of a step
    absurd_for_its_series,  // of a series: above 100 times its median, and 10 times the longest median
    before_the_first_step,  // a kernel
    no_start,               // of a kernel
    single_rank,            // collectives that are copies
    planned_event,          // no failure
    listed_again,           // an outage
    caused_by_application,  // an Xid
    repeated_within_minutes,  // an Xid
};

/// Excluded rows of one reason, with the line of the first.
struct Fault {
    FaultReason reason = FaultReason::negative_duration;
    std::string of;  // column, kind or series, of reasons that have one
    std::size_t count = 0;
    std::uint32_t first_line = 0;
};
/// Counts a row as a fault.
void add_fault(std::vector<Fault>& faults, FaultReason reason, std::uint32_t line,
               const std::string& of = {});

/// Returns the reason why a duration is impossible for any operation (negative,
/// or more than a day), or nothing.
std::optional<FaultReason> impossible_duration(double seconds);

/// Returns the longest credible duration of a kind: the larger of 100 times the kind's median and 10 times
/// `whole_s`, the usual duration of the whole that the kind is part of.
double longest_credible(std::vector<double> of_kind_s, double whole_s);

}  // namespace prismopt

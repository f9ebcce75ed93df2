#pragma once

/// Impossible rows in measurements, and their counts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Excluded rows of one reason, with the line of the first.
struct Fault {
    std::string reason;
    std::size_t count = 0;
    std::uint32_t first_line = 0;
};
/// Counts a row as a fault.
void add_fault(std::vector<Fault>& faults, const std::string& reason, std::uint32_t line);

/// Returns the reason why a duration is impossible for any operation (negative, or more than a day); nullptr if it is possible.
const char* impossible_duration(double seconds);

/// Returns the longest credible duration of a kind: the larger of 100 times the kind's median and 10 times `whole_s`, the usual
/// duration of the whole that the kind is part of.
double longest_credible(std::vector<double> of_kind_s, double whole_s);

}  // namespace prismopt

#pragma once

/// Rows of measurements that cannot be right: which ones, and how they are counted.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Rows that were left out, by reason; the line of the first.
struct Fault {
    std::string reason;
    std::size_t count = 0;
    std::uint32_t first_line = 0;
};
void add_fault(std::vector<Fault>& faults, const std::string& reason, std::uint32_t line);

/// Why nothing measured can have taken so long, whatever it is: negative, or more than a day, a slip of a clock. Null where it can have.
const char* impossible_duration(double seconds);

/// Longest time that a row of a kind can have: 100 times the kind's median, and 10 times `whole_s`, what is usual of the whole that the
/// kind is part of.
double longest_credible(std::vector<double> of_kind_s, double whole_s);

}  // namespace prismopt

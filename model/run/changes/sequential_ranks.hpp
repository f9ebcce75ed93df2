#pragma once

/// Normal scores of a series by the rank of each value among all before it.

#include <cstdint>
#include <vector>

namespace prismopt {

/// In a series of independent and alike values the scores are independent and normal, whatever the distribution of the values
/// (McDonald, Nav. Res. Logist. 37 (1990) 627-646). Values are standardised, with mean about 0 and deviation about 1; values
/// closer than 1/256 count as equal.
class SequentialRanks {
public:
    SequentialRanks();

    /// Adds a value; returns the normal score of (rank - 1/2) / count, where equal values share their mean rank.
    double score(double value);

private:
    std::vector<std::int32_t> counts_;  // Fenwick tree
    std::int64_t count_ = 0;
};

}  // namespace prismopt

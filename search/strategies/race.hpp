#pragma once

/// Successive halving on common random numbers: what is not confidently dominated climbs the rungs.

#include "search/ranking.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

struct RaceOptions {
    int top_rung = 2;
    double least_share = 0.25;    // of a rung that climbs whatever the noise, the best by layer
    std::size_t least_kept = 16;  // points that climb at least, while there are as many: a short list, not one winner
    double most_share = 0.5;      // of a rung that climbs at most, the first layer aside
    double margins = 2.0;         // standard errors of a difference by which a point must be worse to stay behind
};

/// Candidates share their draws, so what most of an estimate's error moves all of them alike, and the intervals of single
/// estimates say little of comparisons. The error of a comparison is read from the race itself: by how much the values of the
/// points that climbed changed between two rungs, beyond the change that all of them share.
class Race {
public:
    explicit Race(RaceOptions options) : options_(options) {}

    /// Entrants come at rung 1, each once; later rungs as `next` asked for them.
    void add(const Evaluation& evaluation);

    /// What is to climb by one rung now, given all that was asked before; empty: the race is over.
    std::vector<PointRequest> next();

    /// The points that no other dominates by value, of those at the highest rung that was reached; in index order.
    std::vector<std::uint64_t> front() const;

    std::size_t size() const { return runners_.size(); }
    /// Of these, at the highest rung or left behind.
    std::size_t settled() const;
    bool over() const { return over_; }

private:
    struct Runner {
        int rung = 0;
        std::vector<Values> values;  // by rung from 1
    };

    std::vector<std::uint64_t> at_rung(int rung) const;
    std::vector<PointRequest> first_group();
    std::vector<PointRequest> second_group();
    std::vector<PointRequest> raise(const std::vector<std::uint64_t>& chosen) const;

    RaceOptions options_;
    std::map<std::uint64_t, Runner> runners_;  // by index
    int rung_ = 1;                             // that is being judged
    bool first_group_asked_ = false;
    std::vector<std::uint64_t> order_;  // points of this rung, best first
    std::size_t raised_ = 0;            // of order_
    bool over_ = false;
};

}  // namespace prismopt

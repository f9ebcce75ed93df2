#pragma once

/// Successive halving with common random numbers: points that are not confidently
/// dominated advance to the next rung.

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
    double least_share = 0.25;  // of a rung that advances regardless of noise, the best by front
    // minimum number of points that advance, if there are as many: a short list, not one winner
    std::size_t least_kept = 16;
    double most_share = 0.5;  // of a rung that advances at most, apart from the first front
    double margins = 2.0;     // standard errors of a difference by which a point must be worse to be dropped
};

/// Candidates share their draws, so most of the error of an estimate is common to all of them, and the
/// intervals of single estimates overstate the error of comparisons. The error of a comparison is
/// estimated from the race itself: from the changes of the values of advancing points between two rungs,
/// beyond the change that they share.
class Race {
public:
    explicit Race(RaceOptions options) : options_(options) {}

    /// Adds an evaluation: each point once at rung 1, later rungs as `next` requested them.
    void add(const Evaluation& evaluation);

    /// Points that advance by one rung now, once all earlier requests are
    /// answered; empty if the race is over.
    std::vector<PointRequest> next();

    /// The non-dominated points among those at the highest rung reached, in index order.
    std::vector<std::uint64_t> front() const;

    std::size_t size() const { return runners_.size(); }
    /// Number of points at the highest rung or dropped.
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
    int rung_ = 1;                             // in progress
    bool first_group_asked_ = false;
    std::vector<std::uint64_t> order_;  // points of this rung, best first
    std::size_t raised_ = 0;            // of order_
    bool over_ = false;
};

}  // namespace prismopt

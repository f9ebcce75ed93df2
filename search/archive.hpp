#pragma once

/// What a search has found so far, and the measures of a front. All objectives are minimised; values may be infinite, not NaN.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

/// Not worse in any objective and better in at least one.
bool dominates(std::span<const double> a, std::span<const double> b);

/// Positions of the points that no other dominates, ascending; equal points are all kept.
std::vector<std::size_t> non_dominated(std::span<const std::vector<double>> points);

/// Volume that is dominated by the points and dominates `reference`; points not below it in each objective add nothing.
double hypervolume(std::span<const std::vector<double>> points, std::span<const double> reference);

/// The front of points that come in lexicographic order, where only an earlier point can dominate a later one.
///
/// Up to three objectives cost a binary search a point (the first only grows, so the front of the other two decides);
/// more are compared with all members. Source: Kung, Luccio, Preparata, J. ACM 22 (1975) 469-476.
class RunningFront {
public:
    explicit RunningFront(std::size_t objectives) : objectives_(objectives) {}

    /// Whether a point added so far is not worse in any objective, where none added so far comes later than `point`.
    bool covers(std::span<const double> point) const;
    /// True when no earlier point dominates this one (an equal one does not).
    bool add(std::span<const double> point);

private:
    double second(std::span<const double> point) const { return objectives_ > 1 ? point[1] : 0.0; }
    double third(std::span<const double> point) const { return objectives_ > 2 ? point[2] : 0.0; }

    std::size_t objectives_;
    std::vector<double> last_;  // the point added last, to tell equal points from dominated ones
    bool last_kept_ = false;
    std::map<double, double> stairs_;  // up to three objectives: second to third; one rises as the other falls
    std::vector<double> members_;      // more: member * objectives_ + objective
};

class Archive {
public:
    /// Sweep ranges must not overlap those added before, but for those that are looked at again.
    void add(std::span<const Answer> answers);

    /// Each evaluated point at the highest rung it reached, by index.
    const std::map<std::uint64_t, Evaluation>& evaluations() const { return evaluations_; }
    /// The feasible points of the sweeps that were handed over, in index order.
    const std::vector<Bound>& bounds() const { return bounds_; }
    /// By reason, in order of first appearance.
    const std::vector<Rejected>& rejected() const { return rejected_; }
    std::uint64_t feasible() const { return feasible_; }
    /// Draws behind the kept evaluations.
    std::uint64_t draws() const { return draws_; }
    /// Indices of the evaluated points that are non-dominated by value, ascending.
    std::vector<std::uint64_t> front() const;

private:
    void add(const Sweep& sweep);
    void add(const Evaluation& evaluation);

    std::map<std::uint64_t, Evaluation> evaluations_;
    std::vector<Bound> bounds_;
    std::uint64_t feasible_ = 0;
    std::vector<Rejected> rejected_;
    std::uint64_t draws_ = 0;
};

}  // namespace prismopt

#pragma once

/// Archive of a search, and measures of a front. All objectives are minimised;
/// values may be infinite, but not NaN.

#include "search/near_bounds.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// Pareto dominance: `a` is not worse in any objective and better in at least one.
bool dominates(std::span<const double> a, std::span<const double> b);

/// Whether a limit dominates the point.
bool excludes(std::span<const std::vector<double>> limits, std::span<const double> point);

/// Positions of the non-dominated points, ascending; keeps all copies of equal points.
std::vector<std::size_t> non_dominated(std::span<const std::vector<double>> points);

/// Ideal point: the least value of each objective. There must be a point.
std::vector<double> ideal_point(std::span<const std::vector<double>> points);

/// Hypervolume: volume dominated by the points and bounded by `reference`. Points that are not below it
/// in every objective add nothing.
double hypervolume(std::span<const std::vector<double>> points, std::span<const double> reference);

/// The front of points that arrive in lexicographic order, in which only an earlier
/// point can dominate a later one.
///
/// With up to three objectives, each point costs a binary search (the first objective only grows, so the
/// front of the other two decides); with more, a comparison with all members. Source: Kung, Luccio,
/// Preparata, J. ACM 22 (1975) 469-476.
class RunningFront {
public:
    explicit RunningFront(std::size_t objectives) : objectives_(objectives) {}

    /// Whether some added point is not worse than `point` in any objective. No added point may
    /// come after `point` in the order.
    bool covers(std::span<const double> point) const;
    /// Adds a point. True if no earlier point dominates it (equal points do not dominate each other).
    bool add(std::span<const double> point);

private:
    double second(std::span<const double> point) const { return objectives_ > 1 ? point[1] : 0.0; }
    double third(std::span<const double> point) const { return objectives_ > 2 ? point[2] : 0.0; }

    std::size_t objectives_;
    std::vector<double> last_;  // the point added last, to distinguish equal from dominated points
    bool last_kept_ = false;
    std::map<double, double> stairs_;  // up to three objectives: third by second objective; decreasing
    std::vector<double> members_;      // more objectives: [member * objectives_ + objective]
};

class Archive {
public:
    /// Adds answers. Sweep ranges must not overlap earlier ones, except for those that are not counted
    /// (`again`). Draws for limits count for the provisional front only, those of scouts for nothing.
    void add(std::span<const Answer> answers);

    /// Evaluated points by index, each at the highest rung that it reached.
    const std::map<std::uint64_t, Evaluation>& evaluations() const { return evaluations_; }
    /// The feasible points that the sweeps returned, in index order, each with its newest bound.
    const std::vector<Bound>& bounds() const { return bounds_; }
    /// The same, and the feasible points that limits excluded near the best of their region.
    std::vector<Bound> bounds_and_near() const;
    /// Rejected tuples by reason, in order of first appearance.
    const std::vector<Rejected>& rejected() const { return rejected_; }
    std::uint64_t feasible() const { return feasible_; }
    /// Total draws of the evaluations.
    std::uint64_t draws() const { return draws_; }
    /// Indices of the non-dominated evaluated points, ascending.
    std::vector<std::uint64_t> front() const;
    /// The same for all points with draws, of those that are not evaluated by their draws for limits.
    std::vector<std::uint64_t> provisional_front() const;

private:
    void add(const Sweep& sweep);
    void add(std::vector<Bound> returned);
    void add(const Evaluation& evaluation);

    std::map<std::uint64_t, Evaluation> evaluations_;
    std::map<std::uint64_t, Evaluation> incumbents_;  // drawn for limits
    std::vector<Bound> bounds_;
    std::optional<NearBounds> near_;
    std::uint64_t feasible_ = 0;
    std::vector<Rejected> rejected_;
    std::uint64_t draws_ = 0;
};

}  // namespace prismopt

#pragma once

/// What a search has come to, as facts. io/report/outcome_text.hpp puts them into words.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace prismopt {

/// Bounds of a sweep with limits, in the order in which they are tried: of a whole sub-space, then of a plan
/// (docs/methods/step-graph.md). Exclusions by the first two come before it is
/// known whether the plan is feasible.
enum class BoundKind { sub_space, busiest_stage, noise_free_step, longest_paths };
inline constexpr std::size_t bound_kinds = 4;
using CountByBound = std::array<std::uint64_t, bound_kinds>;  // [bound]

/// What a search sweeps for, in this order.
enum class SweepPurpose {
    exploration,  // single points, for good bounds
    better,       // the whole space, for points that are better in some objective than all incumbents
    front,        // the whole space, for what no limit excludes
    tighter,      // single points, for tighter bounds
    incomplete,   // parts of ranges that returned only some of their points
};
struct SweepProgress {
    SweepPurpose purpose = SweepPurpose::front;
    std::uint64_t done = 0;   // ranges
    std::uint64_t total = 0;  // ranges

    bool operator==(const SweepProgress&) const = default;
};

/// What is known of the least value of an objective over all feasible points,
/// with the confidence of the search.
struct Gap {
    double limit = 0.0;  // some point's value is at most this
    double bound = 0.0;  // no point's value is below this

    double relative() const { return limit > 0.0 ? (limit - bound) / limit : 0.0; }
    bool operator==(const Gap&) const = default;
};

/// What is known of a value: `value` is the estimate, infinite if there is none.
struct Known {
    double value = std::numeric_limits<double>::infinity();
    double low = 0.0;  // the value is not below this
    double high = std::numeric_limits<double>::infinity();

    bool operator==(const Known&) const = default;
};

/// What is known of the best point of a task on an alternative.
struct CellOutcome {
    Known least = {};         // of the objective; infinite if no point is feasible
    std::uint64_t point = 0;  // whose value is the estimate, if there is one
    bool settled = false;     // each other point was drawn, or cannot be better by more than a gap

    bool operator==(const CellOutcome&) const = default;
};

/// A lower bound that draws contradict: points may have been excluded by mistake.
struct BoundViolation {
    std::uint64_t point = 0;
    std::size_t objective = 0;
    double bound = 0.0;
    double high = 0.0;      // upper confidence limit
    double relative = 0.0;  // by this share it lies below the bound

    bool operator==(const BoundViolation&) const = default;
};

/// How a strategy covers a space. Only an exact search proves anything.
enum class SearchMethod { exact, halving, evolution, random };

/// What keeps a search from evaluating more points.
enum class SearchEnd {
    none,         // there are more; or all were compared
    most_drawn,   // the maximum number of evaluations
    no_gain,      // the last batches of an evolution brought no improvement
    nothing_new,  // no point was found that is not known already
};

struct Outcome {
    SearchMethod method = SearchMethod::exact;
    bool complete = false;  // nothing is left to compare
    bool proved = false;    // the front is complete: for this model, these draws and `confidence`
    double confidence = 0.0;
    SearchEnd end = SearchEnd::none;
    std::uint64_t idle_batches = 0;  // of an evolution: without a gain, for no_gain

    // points that the rules of the space allow, by a search that does not cover it
    std::uint64_t checked = 0;
    std::uint64_t feasible = 0;  // points found
    std::uint64_t drawn = 0;     // points with draws
    std::uint64_t on_front = 0;  // points, of a search that proves nothing
    // Each feasible point that was found counts in one of:
    std::uint64_t pruned = 0;     // excluded by its lower bound, without draws
    std::uint64_t evaluated = 0;  // drawn up to the last rung, or until others excluded it
    std::uint64_t open = 0;       // neither
    // Raw tuples that a lower bound excluded before it was known whether they are feasible.
    std::uint64_t unchecked = 0;
    CountByBound excluded_by = {};  // while the space was swept with limits; part of `pruned` and `unchecked`

    std::optional<SweepProgress> sweep = {};  // the one in progress
    // the sweep for the front, of an exact search until it is done
    std::optional<SweepProgress> uncovered = {};
    std::optional<BoundViolation> violation = {};  // the largest
    std::vector<Gap> gaps = {};                    // by objective; empty as long as they are not known
    std::vector<CellOutcome> cells = {};  // [alternative * tasks + task]; empty: there are no alternatives

    bool operator==(const Outcome&) const = default;
};

}  // namespace prismopt

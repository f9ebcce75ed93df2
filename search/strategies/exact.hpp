#pragma once

/// Exact search: bound every feasible point, draw only those that a bound cannot exclude, and say what that proves.

#include "search/limits.hpp"
#include "search/strategies/bound_layers.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

struct ExactOptions {
    std::uint64_t space_size = 0;         // raw tuples
    std::vector<SweepRange> ranges = {};  // to be swept, and what to keep of each, instead of the whole space
    std::size_t objectives = 0;
    int top_rung = 2;                             // what the members of the front are drawn up to
    std::uint64_t sweep_ranges = 64;              // parts that the space is swept in, at most
    std::uint64_t kept_again = most_kept_bounds;  // bounds handed back at most by one round of looking again
    std::size_t batch = 64;                       // points asked for before looking at the answers, at most
    std::size_t fewest = 8;                       // first looks together, of further layers where one has fewer: ranks share them
    std::vector<bool> bounded;          // by objective: a sweep's bound holds; otherwise nothing is known before drawing
    double confidence = 0.95;           // of all safe limits together
    std::uint64_t max_evaluations = 0;  // no new point is drawn beyond these; 0: no limit
};

/// Branch and bound by non-dominated layers of the bounds, and racing up the rungs.
///
/// A point goes only when the safe upper limits of an evaluated point dominate what it can be at best: its bounds before
/// it is drawn, the larger of bound and safe lower limit after. Bounds never exclude each other. What is asked next
/// depends only on the answers to all that was asked before, so how the answers are batched has no influence.
///
/// A range hands back its best bounds only. Of the others a floor is known; where the limits do not exclude it in the end, the
/// range is looked at again in smaller parts, for what the limits do not exclude. So memory grows with what must be drawn.
class Exact final : public Strategy {
public:
    /// Throws std::invalid_argument on options that contradict each other.
    explicit Exact(ExactOptions options);

    std::optional<std::vector<Request>> ask() override;
    /// Throws std::runtime_error on answers to something else than what was asked.
    void tell(std::span<const Answer> answers) override;
    Outcome outcome() const override;
    std::vector<std::uint64_t> front() const override;

private:
    struct Candidate {
        std::size_t place = 0;      // in feasible_
        int rung = 0;               // 0: asked for, not told yet
        bool settled = false;       // ruled out, or at the top rung
        std::uint64_t tested = 0;   // the newest limit that did not rule it out
        std::vector<double> value;  // by objective, at its rung
        std::vector<double> low;    // the best it can be
    };
    struct Violation {
        std::uint64_t index = 0;
        std::size_t objective = 0;
        double bound = 0.0;
        double high = 0.0;
        double relative = 0.0;
    };

    void take(const Sweep& sweep);
    void look_again();
    /// Feasible points whose bounds were not handed over, and whether they might still be on the front.
    std::uint64_t not_kept() const { return feasible_count_ - feasible_.size(); }
    bool open_ranges() const { return !withheld_.empty() || swept_ < ranges_.size(); }
    void take(const Evaluation& evaluation);
    void note_violation(const Candidate& candidate, std::span<const double> high);
    void note_leader(std::size_t candidate);

    bool waiting() const;
    std::vector<Request> next_requests();
    bool settled(std::size_t candidate);
    std::vector<std::size_t> unsettled_leaders();
    std::vector<std::size_t> first_looks();
    std::vector<std::size_t> rivals();

    ExactOptions options_;
    std::vector<SweepRange> ranges_;
    bool started_ = false;
    std::size_t swept_ = 0;             // ranges told
    std::vector<Sweep> withheld_;       // with points left out that no limit excludes so far; without those handed over
    std::vector<std::uint64_t> known_;  // while ranges are looked at again: the points handed over before, ascending
    std::uint64_t feasible_count_ = 0;

    std::vector<Candidate> candidates_;  // in order of their first request
    std::vector<std::size_t> racing_;    // candidates, all that are not settled among them
    std::vector<std::size_t> leaders_;   // candidates whose value no leader dominated when it was told
    std::size_t rivals_done_ = 0;        // of racing_, in this pass
    std::vector<std::size_t> asked_;     // candidates, in the order they were asked for
    std::size_t told_ = 0;               // of asked_
    std::uint64_t evaluated_ = 0;
    std::uint64_t settled_ = 0;

    BoundLayers feasible_;
    Limits limits_;
    std::optional<Violation> violation_;  // the worst
};

}  // namespace prismopt

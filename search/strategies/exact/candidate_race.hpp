#pragma once

/// The race of an exact search: candidates climb the rungs until limits exclude them.

#include "search/strategies/exact/options.hpp"
#include "search/strategies/exact/points.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Spends the other half of the error probability of a search: it is divided among the points that may be
/// drawn before any of them is. A point that is drawn becomes a candidate. It is settled when a limit
/// excludes it, or at the top rung.
class CandidateRace {
public:
    /// Goal and batches must outlive the race.
    CandidateRace(const StudyGoal& goal, const RaceBatches& batches) : goal_(goal), batches_(batches) {}

    /// Divides the error among `known` points at places of `feasible` and, if there are any, `withheld` ones
    /// that were counted, but not returned by a sweep: each half then has half of it.
    void divide_error(std::size_t known, std::uint64_t withheld, const BoundLayers& feasible);

    /// Requests of the best candidates so far that are not settled: their limits exclude the most.
    std::vector<AskedPoint> leaders(const Points& points);
    /// Places of leaders at the last rung near which many unsettled candidates are: unless some limit is
    /// nearly as low as theirs would be.
    std::vector<std::size_t> leaders_worth_limits(const Points& points);
    /// Requests of new candidates, best first: a batch, later as many as there are already, so that at most
    /// half of them came too early and plans of one program are drawn together.
    std::vector<AskedPoint> new_candidates(Points& points);
    /// Requests of the next candidates, in the order of their first requests: by fronts of the lower
    /// bounds, so promising ones come early.
    std::vector<AskedPoint> rivals(const Points& points);
    void receive(std::size_t candidate, const Evaluation& evaluation, const BoundLayers& feasible);

    /// Number of candidates with draws.
    std::uint64_t drawn() const { return drawn_; }
    /// Number of candidates that are settled.
    std::uint64_t settled() const { return settled_; }
    bool may_draw_more() const { return goal_.max_evaluations == 0 || drawn_ < goal_.max_evaluations; }
    /// Place of a candidate.
    std::size_t place(std::size_t candidate) const { return candidates_[candidate].place; }
    /// Lowers each objective to the least value that a candidate can have.
    void lower_to_least(std::vector<double>& least, const BoundLayers& feasible) const;
    /// The points that no other dominates by value at the top rung, in index order. Of points that may or may
    /// not keep what is allowed, those that do by value dominate the others, but not the reverse.
    std::vector<std::uint64_t> front(const BoundLayers& feasible) const;

private:
    struct Candidate {
        std::size_t place = 0;
        int rung = 0;              // 0: requested, not answered yet
        bool settled = false;      // excluded, or at the top rung
        std::uint64_t tested = 0;  // newest limit that did not exclude it
        Keeping keeping = Keeping::surely;
        std::vector<double> value;  // by objective, at its rung
        std::vector<double> low;    // the best values that it can have
    };
    struct Share {
        std::size_t first_places = 0;  // places below this number were known when the error was divided
        double miss = 0.0;             // of each lower limit of a point there
        double miss_withheld = 0.0;    // of a point that a sweep did not return
    };

    bool settled(std::size_t candidate, const Limits& limits);
    void note_leader(std::size_t candidate);
    std::vector<AskedPoint> requests(const std::vector<std::size_t>& candidates,
                                     const BoundLayers& feasible) const;

    const StudyGoal& goal_;
    const RaceBatches& batches_;
    Share share_;
    std::vector<Candidate> candidates_;  // in order of their first request
    std::vector<std::size_t> racing_;    // candidates, including all that are not settled
    std::vector<std::size_t> leaders_;   // candidates whose value no leader dominated when it arrived
    std::size_t rivals_done_ = 0;        // of racing_, in this pass
    std::uint64_t drawn_ = 0;
    std::uint64_t settled_ = 0;
};

}  // namespace prismopt

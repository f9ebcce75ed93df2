#pragma once

/// Exact search: bounds every feasible point, draws only those that its lower bound does not exclude, and states what that
/// proves.

#include "search/components/bound_layers.hpp"
#include "search/limits.hpp"
#include "search/strategies/explorer.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace prismopt {

struct ExactOptions {
    std::uint64_t space_size = 0;         // raw tuples
    std::vector<SweepRange> ranges = {};  // ranges to sweep instead of the whole space
    std::size_t objectives = 0;
    int top_rung = 2;                   // rung up to which the points of the front are drawn
    std::uint64_t sweep_ranges = 64;    // maximum number of ranges of the sweep
    std::size_t ranges_at_once = 4096;  // maximum number of ranges requested at once: each has its own copy of the limits
    std::uint64_t kept_again = most_kept_bounds;  // maximum number of bounds returned by one repeated sweep
    std::size_t batch = 64;                       // maximum number of points requested at once, with few candidates
    std::size_t batch_of_many = 1024;             // with many, because plans of one program share their draws
    std::size_t fewest = 8;             // minimum number of new points requested at once, from further layers if one has fewer
    std::size_t scouts = 32;            // minimum number of points among which the first incumbents are chosen
    std::size_t most_scouts = 256;      // of an explored front; also the most incumbents of the first further round
    std::size_t further_rounds = 2;     // of limits, at most, between the sweep and the first point that is drawn to be compared
    const Space* explored = nullptr;    // explore this space for incumbents before it is swept; empty: sweep it first
    std::uint64_t seed = 1;             // of the exploration
    std::vector<bool> bounded;          // by objective: has a valid lower bound
    double confidence = 0.95;           // of all limits simultaneously
    std::uint64_t max_evaluations = 0;  // maximum number of points drawn; 0: no limit
    std::function<std::uint64_t(std::uint64_t)> region = {};  // of a point; empty: what limits exclude in a sweep is only counted
    std::size_t near_objective = 0;                           // by whose bound points are near the best of their region
};

/// Branch and bound over non-dominated fronts of the lower bounds, with racing over the rungs.
///
/// A point is excluded only if the upper confidence limits of an incumbent dominate the best values that it can have: its lower
/// bounds before it is drawn, the larger of lower bound and lower confidence limit after. Bounds never exclude each other.
///
/// The error probability is spent where limits are used, so the limits do not widen with the size of the space. One half goes to
/// the upper limits of incumbents, which are chosen before a round of their own, independent draws; the other half to the lower
/// limits of the points that the first incumbents do not exclude, which are drawn last. docs/methods/exact-search.md.
///
/// The next requests depend only on the answers to all earlier requests, so the batching of answers has no influence.
///
/// A space that is large is explored first: local moves find points with good bounds, whose limits then exclude most points while
/// the space is swept. Of the points that no limit excludes, those swept without limits are looked at again, because a sweep with
/// limits has tighter bounds where it needs them; then further incumbents are chosen among the best of them by
/// their bounds, and limits are taken from more draws if many points remain.
///
/// A range returns only its best bounds and a floor below the others. If the limits do not exclude that floor in the end, the
/// range is swept again in smaller parts, for the points that the limits do not exclude. Memory thus grows with the number of
/// points that must be drawn.
class Exact final : public Strategy {
public:
    /// Throws std::invalid_argument if options contradict each other.
    explicit Exact(ExactOptions options);

    std::optional<std::vector<Request>> ask() override;
    /// Throws std::runtime_error if an answer does not match the next request.
    void tell(std::span<const Answer> answers) override;
    Outcome outcome() const override;
    std::vector<std::uint64_t> front() const override;

private:
    std::vector<Gap> gaps() const;
    struct Candidate {
        std::size_t place = 0;      // in feasible_
        int rung = 0;               // 0: requested, not answered yet
        bool settled = false;       // excluded, or at the top rung
        std::uint64_t tested = 0;   // newest limit that did not exclude it
        std::vector<double> value;  // by objective, at its rung
        std::vector<double> low;    // the best values that it can have
    };
    struct Violation {
        std::uint64_t index = 0;
        std::size_t objective = 0;
        double bound = 0.0;
        double high = 0.0;
        double relative = 0.0;
    };

    void take(const Sweep& sweep);
    void take_explored(const Sweep& sweep);
    void take_tightened(const Sweep& sweep);
    void check_bounds(const Bound& feasible) const;
    std::vector<std::vector<double>> drop_excluded_ranges();
    void look_again();
    /// Number of feasible points whose bounds were not returned.
    std::uint64_t not_kept() const { return feasible_count_ + counted_again_ - feasible_.size(); }
    bool swept_whole() const { return first_range_ && swept_ >= *first_range_ + options_.ranges.size(); }
    bool open_ranges() const { return !withheld_.empty() || !swept_whole() || swept_ < ranges_.size(); }
    void take(const Evaluation& evaluation);
    void take_limits(const Evaluation& evaluation);
    void note_violation(std::size_t place, std::span<const double> high);
    void note_leader(std::size_t candidate);

    void choose_requests();
    void explore();
    void sweep();
    bool tighten();
    void ask_scouts();
    void open_further_round();
    void open_round(const std::vector<std::size_t>& places);
    void ask_limits();
    void open_challenge();
    void ask_new_limits();
    std::vector<std::size_t> leaders_without_limits() const;
    void ask(const std::vector<std::size_t>& candidates);
    bool settled(std::size_t candidate);
    std::vector<std::size_t> unsettled_leaders();
    std::vector<std::size_t> first_looks();
    std::vector<std::size_t> rivals();

    ExactOptions options_;
    std::optional<Explorer> explorer_;
    std::vector<SweepRange> ranges_;                     // to sweep, in order; without their limits
    std::vector<std::vector<double>> limits_of_ranges_;  // of those that are not yet swept
    NearRequest near_of_ranges_;
    std::size_t requested_ = 0;               // ranges
    std::optional<std::size_t> first_range_;  // of the sweep of the whole space; before it: single points of the exploration
    std::size_t swept_ = 0;                   // ranges answered
    std::vector<Sweep> withheld_;    // sweeps with points left out that no limit excludes so far; without the returned points
    std::set<std::uint64_t> tight_;  // points whose bounds are those of a sweep with limits
    std::vector<std::uint64_t> to_tighten_;  // ascending, while they are swept again
    std::vector<Bound> tightened_;
    std::map<std::uint64_t, double> best_of_region_;  // bounds of explored points
    std::vector<std::uint64_t> known_;                // during a sweep: the points returned before, ascending
    std::uint64_t feasible_count_ = 0;
    std::uint64_t counted_again_ = 0;       // explored points that limits excluded before the sweep, which counts them as well
    std::uint64_t excluded_in_sweep_ = 0;   // by its limits; without ranges that were swept again
    std::uint64_t known_not_returned_ = 0;  // explored points that the sweep did not return: they may be among these
    std::uint64_t unchecked_ = 0;           // raw tuples that were excluded before it was known whether they are feasible
    CountByBound excluded_by_ = {};

    std::vector<Candidate> candidates_;  // in order of their first request
    std::vector<std::size_t> racing_;    // candidates, including all that are not settled
    std::vector<std::size_t> leaders_;   // candidates whose value no leader dominated when it arrived
    std::size_t rivals_done_ = 0;        // of racing_, in this pass
    std::vector<PointRequest> asked_;    // points, in the order of the requests
    std::vector<std::size_t> whom_;      // [request]: the candidate; for scouts and limits the place
    std::size_t told_ = 0;               // of asked_
    std::uint64_t evaluated_ = 0;
    std::uint64_t settled_ = 0;

    BoundLayers feasible_;
    Limits limits_;

    struct Scout {
        std::size_t place = 0;
        std::vector<double> value;
    };
    std::vector<Scout> scouts_;
    bool scouted_ = false;
    std::vector<std::size_t> incumbents_;  // places whose limits the current round has still to find
    std::size_t further_rounds_ = 0;       // opened before points are drawn to be compared
    int closer_ = 0;                       // rungs that the current round has more than others
    std::size_t of_round_ = 0;             // number of incumbents of the current round
    int round_ = 0;
    int look_ = 0;                       // of the current round
    std::set<std::size_t> with_limits_;  // places: incumbents of all rounds
    std::size_t next_round_at_ = 0;      // number of candidates from which another round is worth its draws
    bool challenged_ = false;
    std::size_t first_challengers_ = 0;   // places below this number may be among them
    double miss_ = 0.0;                   // of each lower limit of a point of the first sweep
    double miss_withheld_ = 0.0;          // of a point that it did not return
    std::optional<Violation> violation_;  // the largest
};

}  // namespace prismopt

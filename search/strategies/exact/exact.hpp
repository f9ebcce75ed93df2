#pragma once

/// Exact search: bounds every feasible point, draws only those that its lower bound does not exclude, and states what that
/// proves.

#include "search/components/bound_layers.hpp"
#include "search/limits.hpp"
#include "search/near_bounds.hpp"
#include "search/strategies/exact/exploration.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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
    std::size_t fewest = 8;               // minimum number of new points requested at once, from further layers if one has fewer
    std::size_t scouts = 32;              // minimum number of points that are drawn to choose incumbents
    std::size_t most_scouts = 256;        // of an explored front; also the most incumbents of the first further round
    double gap_sought = 0.01;             // of each objective, before an explored space is swept for the front
    std::uint64_t kept_better = 1 << 14;  // maximum number of bounds returned by the sweep for this gap
    std::size_t gap_rounds = 2;           // of limits, with more draws each, while a gap is larger
    std::size_t most_better = 32;         // incumbents, about, of the round before and of each round after it
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
/// the limits of incumbents, which are chosen before a round of their own, independent draws; the other half to the lower
/// limits of the points that the first incumbents do not exclude, which are drawn last. docs/methods/exact-search.md.
///
/// The next requests depend only on the answers to all earlier requests, so the batching of answers has no influence.
///
/// A space that is large is explored first: local moves find points with good bounds, whose limits then exclude most points while
/// the space is swept. It is swept twice: first for points that are clearly better in some objective than all incumbents, which
/// tells early how good the best values can be at most, then for all points that no limit excludes. Points swept without limits
/// that no limit excludes are looked at again, because a sweep with limits has tighter bounds where it needs them; then further
/// incumbents are chosen among the best of them by their bounds, and limits are taken from more draws if many points remain.
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
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    std::vector<Gap> gaps() const;
    std::vector<double> least_of(const Bound& point) const;
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

    /// Ranges that are swept for one purpose.
    struct CurrentSweep {
        SweepPurpose purpose = SweepPurpose::exploration;
        std::vector<SweepRange> ranges = {};  // in order; without their limits
        std::vector<std::vector<double>> limits = {};
        NearRequest near = {};
        std::size_t wave = 0;       // number of the first ranges whose answers the others wait for
        std::size_t requested = 0;  // ranges
        std::size_t answered = 0;   // ranges

        bool running() const { return answered < ranges.size(); }
    };
    /// What a sweep left out: `count` points, each dominated by or equal to a member of the floor.
    struct LeftOut {
        std::uint64_t begin = 0;  // raw tuples
        std::uint64_t end = 0;
        std::uint64_t count = 0;
        std::vector<std::vector<double>> floor;
    };
    /// Results of a sweep for points that are better than all incumbents.
    struct BetterPoints {
        std::vector<double> than;   // no point that it excluded is better than this in any objective
        std::vector<double> floor;  // nor one that it left out than this
        std::vector<Bound> points;  // returned
        bool swept = false;
        std::size_t rounds = 0;  // for the gaps
        bool done = false;
    };

    void take(const Sweep& sweep);
    void take_explored(const Sweep& sweep);
    void take_better(const Sweep& sweep);
    void take_bounds(const Sweep& sweep);
    void take_tightened(const Sweep& sweep);
    void narrow_near();
    void end_sweep();
    std::vector<double> checked_bounds(const Bound& feasible) const;
    std::vector<std::vector<double>> drop_excluded_ranges();
    void look_again();
    /// Number of feasible points whose bounds were not returned.
    std::uint64_t not_kept() const { return feasible_count_ + counted_again_ - feasible_.size(); }
    bool open_ranges() const { return !withheld_.empty() || !swept_whole_ || sweep_.running(); }
    void take(const Evaluation& evaluation);
    void take_limits(const Evaluation& evaluation);
    void note_violation(std::size_t place, std::span<const double> high);
    void note_leader(std::size_t candidate);

    /// Whether something is asked for.
    bool busy() const { return !asked_.empty() || sweep_.running(); }
    void choose_requests();
    void explore();
    void begin_sweep(CurrentSweep sweep);
    void seek_better();
    void sweep_for_better();
    std::vector<std::size_t> best_of_each_objective() const;
    std::vector<std::size_t> best_of_better();
    std::vector<std::size_t> places_at_gaps();
    std::vector<std::size_t> places_of(std::span<const Bound> points);
    void sweep_whole();
    void tighten();
    void compare_scouts();
    void ask_scouts();
    void open_further_round();
    static std::vector<std::size_t> owners_of_many(const Limits& limits, std::span<const std::span<const double>> points);
    void open_round(const std::vector<std::size_t>& places, int closer = 0);
    void ask_limits();
    void open_challenge();
    void open_round_of_leaders();
    void ask(const std::vector<std::size_t>& candidates);
    bool settled(std::size_t candidate);
    std::vector<std::size_t> unsettled_leaders();
    std::vector<std::size_t> first_looks();
    std::vector<std::size_t> rivals();

    ExactOptions options_;
    std::optional<Exploration> exploration_;
    CurrentSweep sweep_;
    bool swept_whole_ = false;
    BetterPoints better_;
    std::vector<LeftOut> withheld_;          // of ranges with points left out that no limit excludes so far
    std::set<std::uint64_t> tight_;          // points whose bounds are those of a sweep with limits
    std::vector<std::uint64_t> to_tighten_;  // ascending, while they are swept again
    std::vector<Bound> tightened_;
    NearBounds near_;                   // of explored points, then of the first ranges of the sweep for the front
    std::vector<std::uint64_t> known_;  // during a sweep: the points returned before, ascending
    std::uint64_t feasible_count_ = 0;
    std::uint64_t counted_again_ = 0;       // known points that limits excluded before the sweep, which counts them as well
    std::uint64_t excluded_in_sweep_ = 0;   // by its limits; without ranges that were swept again
    std::uint64_t known_not_returned_ = 0;  // known points that the sweep did not return: they may be among these
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
    std::map<std::uint64_t, std::vector<double>> low_;  // lower limits of incumbents, by index; they serve the gaps only

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
    bool challenged_ = false;
    std::size_t first_challengers_ = 0;   // places below this number may be among them
    double miss_ = 0.0;                   // of each lower limit of a point of the first sweep
    double miss_withheld_ = 0.0;          // of a point that it did not return
    std::optional<Violation> violation_;  // the largest
};

}  // namespace prismopt

#pragma once

/// Interface of search strategies: a strategy issues requests and receives the
/// answers in the order of the requests.

#include "model/base/estimate.hpp"
#include "model/base/random.hpp"
#include "search/outcome.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// Points of a region are alternatives to each other, as plans on the same number of GPUs. Bounds
/// above `most` are not near its best.
struct RegionLimit {
    std::uint64_t region = 0;
    double most = 0.0;
};

/// Near the best bound of a region, relative to it: about twice the deviation of the error of two plans of a
/// study (model/catalog/discrepancy.toml).
inline constexpr double near_best = 0.30;
/// Points of a region that are near its best.
inline constexpr std::size_t most_near = 1000;
/// Asks for near points where no limit of a region is known.
inline constexpr RegionLimit of_no_region{std::numeric_limits<std::uint64_t>::max(), 0.0};

/// Which of the points that limits exclude are returned all the same: those that an error of
/// the model could make the best.
struct NearRequest {
    std::size_t objective = 0;              // by whose bound
    std::vector<RegionLimit> regions = {};  // empty: none are returned
    double within = near_best;              // of the best of a region, relative
    std::size_t most = most_near;           // of a region
};

/// Which points count as feasible: those that are, or those of which it is doubtful. A search is of one kind;
/// its strategy need not know which.
enum class Feasibility { certain, doubtful };

/// Request to enumerate these raw tuples and compute noise-free lower bounds of the feasible ones (rung 0).
struct SweepRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    // maximum number of bounds returned, the best by front
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    bool again = false;                            // not counted: another sweep counts these tuples
    std::vector<std::vector<double>> limits = {};  // points that one of these dominates are only counted,
    NearRequest near = {};                         // but for these
    Feasibility feasibility = Feasibility::certain;
    bool within_limits = true;  // only of points that may keep what the study allows
};

/// Draws that are independent of all others. A rung of `limits` beyond the last has four times as
/// many fleets as the one before.
struct DrawSource {
    Purpose purpose = Purpose::search;
    int round = 0;  // of limits
    Feasibility feasibility = Feasibility::certain;

    auto operator<=>(const DrawSource&) const = default;
};

/// Request to draw this point up to a rung (1 and up); a later request extends the existing draws.
struct PointRequest {
    std::uint64_t index = 0;
    int rung = 1;
    DrawSource source = {};
    // probability with which each simultaneous limit may fail; 0: as the study compares plans
    double miss = 0.0;
};

using Request = std::variant<SweepRange, PointRequest>;

/// Lower bounds of a feasible point's objectives (all are minimised).
struct Bound {
    std::uint64_t index = 0;
    std::vector<double> objectives;
};

struct NearBound {
    std::uint64_t region = 0;
    Bound bound;
};

struct Sweep {
    SweepRange range;
    // the bounds that were kept, in index order: of points that may keep what is allowed
    std::vector<Bound> feasible = {};
    std::vector<Rejected> rejected = {};
    // further feasible points, which a limit of the range or of the study excludes
    std::uint64_t excluded = 0;
    std::uint64_t unreturned = 0;  // further feasible points beyond `keep`
    // raw tuples that a limit excludes before it is known whether they are feasible
    std::uint64_t unchecked = 0;
    // a member dominates, or equals, each point that is not returned
    std::vector<std::vector<double>> floor = {};
    std::vector<NearBound> near = {};  // of the excluded points, those near the best of their region
    CountByBound excluded_by = {};     // raw tuples that the limits of the range exclude
};

/// Whether a point keeps what a study allows at most, by its simultaneous limits: surely or
/// never; otherwise by its values.
enum class Keeping { surely, by_value, not_by_value, never };
/// Whether it counts as keeping it in comparisons of values.
constexpr bool keeps(Keeping keeping) { return keeping == Keeping::surely || keeping == Keeping::by_value; }

struct Evaluation {
    std::uint64_t index = 0;
    int rung = 0;
    std::uint64_t draws = 0;
    std::vector<Estimate> objectives;  // all are minimised
    DrawSource source = {};
    Keeping keeping = Keeping::surely;
};

using Answer = std::variant<Sweep, Evaluation>;

/// Alternatives that each serve several tasks, by the best of the points that belong to both. The first
/// axis of the space says to which alternative and task a point belongs; the region of a point is the
/// *cell* alternative * tasks + task.
struct AlternativeGoal {
    std::size_t alternatives = 0;
    std::size_t tasks = 0;
    std::vector<std::size_t> cell_of_label = {};  // of the first axis
    std::vector<double> weights = {};             // [task]
    bool relative = false;  // weights are of values over the least of their task; otherwise of values
};

/// Parameters of a study for a strategy.
struct StudyGoal {
    std::size_t objectives = 0;
    // quantities of which points may have so much at most: points that have more do not count
    std::size_t limited = 0;
    int top_rung = 2;                   // rung up to which the points of the front are drawn
    std::vector<bool> bounded = {};     // by objective: has a valid lower bound
    double confidence = 0.95;           // of all limits simultaneously, of objectives and of what is limited
    std::uint64_t seed = 1;             // of the random choices of the strategy
    std::uint64_t max_evaluations = 0;  // maximum number of points drawn; 0: chosen by the strategy
    std::uint64_t space_part = 1;       // part of the space to sweep
    std::uint64_t space_parts = 1;
    // Of a point, by its index; empty: excluded points are only counted.
    std::function<std::uint64_t(std::uint64_t)> region = {};
    std::size_t near_objective = 0;  // by whose bound points are near the best of their region
    // what is searched instead of the front; of one objective
    std::optional<AlternativeGoal> alternatives = {};

    std::size_t quantities() const { return objectives + limited; }
};

class Strategy {
public:
    Strategy() = default;
    Strategy(const Strategy&) = delete;
    Strategy& operator=(const Strategy&) = delete;
    virtual ~Strategy() = default;

    /// The next requests. Empty: answers are needed first; nothing: finished.
    virtual std::optional<std::vector<Request>> ask() = 0;
    /// Takes answers in the order of the requests.
    virtual void tell(std::span<const Answer> answers) = 0;
    /// State of the search; final once ask() has returned nothing.
    virtual Outcome outcome() const = 0;
    /// The points of the front, in index order, each evaluated at the highest rung.
    virtual std::vector<std::uint64_t> front() const = 0;
};

/// Maximum number of lower bounds that a search of the whole space keeps. Beyond these it keeps only
/// points that no upper limit excludes, which it draws. A bound costs rank 0 about `bytes_of_bound` in
/// total: as an answer, in the strategy, in the archive and as a row of the results (measured: 0.6 GB for
/// 488,253 bounds, three objectives).
constexpr std::uint64_t most_kept_bounds = 1 << 20;
constexpr double bytes_of_bound = 1250.0;

/// Ranges of the part of the space in a goal. Their number depends only on the size; none if there are more
/// parts than tuples. Together they keep at most `most_kept_bounds`.
std::vector<SweepRange> ranges_of(const StudyGoal& goal, std::uint64_t size);
/// Splits [0, size) into at most `range_count` ranges that differ by at most one tuple.
std::vector<SweepRange> split_space(std::uint64_t size, std::uint64_t range_count);
/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t count);

}  // namespace prismopt

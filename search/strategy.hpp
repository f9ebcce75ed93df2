#pragma once

/// The conversation between a search strategy and whoever evaluates: requests out, answers back, in the order asked.

#include "model/base/estimate.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// Enumerate these raw tuples, bound each feasible one without noise (rung 0).
struct SweepRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();  // bounds handed back at most, the best by layer
    bool again = false;                                              // looked at before
    std::vector<std::vector<double>> limits = {};                    // what one of these dominates is only counted
};

/// Draw this point up to a rung of the fidelity ladder (1 and up; asking again extends the draws that exist).
struct PointRequest {
    std::uint64_t index = 0;
    int rung = 1;
};

using Request = std::variant<SweepRange, PointRequest>;

/// Lower bounds of a feasible point's objectives (all are minimised).
struct Bound {
    std::uint64_t index = 0;
    std::vector<double> objectives;
};

struct Sweep {
    SweepRange range;
    std::vector<Bound> feasible;  // in index order; those that were kept
    std::vector<Rejected> rejected;
    std::uint64_t excluded = 0;                   // more feasible ones: that a limit of the range dominates
    std::uint64_t left_out = 0;                   // and that are beyond those to be kept
    std::vector<std::vector<double>> floor = {};  // none of those left out is better than all of these: one is at least as good
};

struct Evaluation {
    std::uint64_t index = 0;
    int rung = 0;
    std::uint64_t draws = 0;
    std::vector<Estimate> objectives;  // all are minimised
};

using Answer = std::variant<Sweep, Evaluation>;

/// How a search ended, in a machine's and in a reader's words.
struct Outcome {
    bool proved = false;  // for this model, these draws and `confidence`
    double confidence = 0.0;
    std::string text;  // "proved complete: ...", or what stopped it and the gap
    // The feasible points that were found, each in one of:
    std::uint64_t pruned = 0;     // excluded by a bound without any draw
    std::uint64_t evaluated = 0;  // drawn to the end, or until others ruled it out
    std::uint64_t open = 0;       // neither
};

/// What every strategy is told of a study.
struct StudyGoal {
    std::size_t objectives = 0;
    int top_rung = 2;                   // what the members of the front are drawn up to
    std::vector<bool> bounded;          // by objective: a sweep's bound holds; otherwise nothing is known before drawing
    double confidence = 0.95;           // of all safe limits together
    std::uint64_t seed = 1;             // of the strategy's own choices
    std::uint64_t max_evaluations = 0;  // points drawn at most; 0: as many as the strategy wants
    std::uint64_t part = 1;             // of the space, of those that sweep it
    std::uint64_t parts = 1;
};

class Strategy {
public:
    Strategy() = default;
    Strategy(const Strategy&) = delete;
    Strategy& operator=(const Strategy&) = delete;
    virtual ~Strategy() = default;

    /// The next requests; empty: tell me more first; nothing: finished.
    virtual std::optional<std::vector<Request>> ask() = 0;
    /// Answers in the order of the requests.
    virtual void tell(std::span<const Answer> answers) = 0;
    /// Where the search stands; final once ask() has returned nothing.
    virtual Outcome outcome() const = 0;
    /// The points that make up the front, in index order, each evaluated at the highest rung.
    virtual std::vector<std::uint64_t> front() const = 0;
};

/// Feasible points whose bounds a search of the whole space keeps after looking at each, at most. Beyond these it keeps only what
/// no upper limit excludes, which is what it draws. A kept bound costs rank 0 about `bytes_of_bound` in the end: as an answer, in
/// the strategy, in the archive and as a row of the results (measured: 0.6 GB for 488,253 of them, three objectives).
constexpr std::uint64_t most_kept_bounds = 1 << 20;
constexpr double bytes_of_bound = 1250.0;

/// Ranges of the part of the space that a goal names, in a number that depends on the size only; none where there are more parts
/// than tuples. Together they keep `most_kept_bounds` at most.
std::vector<SweepRange> ranges_of(const StudyGoal& goal, std::uint64_t size);
/// Splits [0, size) into at most `parts` ranges that differ by at most one tuple.
std::vector<SweepRange> split_space(std::uint64_t size, std::uint64_t parts);
/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t count);

/// A strategy by its name, and why it was chosen where the name is "auto".
struct ChosenStrategy {
    std::string name;
    std::string why;  // empty: the user said so
    std::unique_ptr<Strategy> strategy;
};
/// Names that a scenario may give: "auto"; "nlopt", which tunes continuous knobs first and then searches as "auto" does; and each
/// strategy's own.
std::vector<std::string> strategy_names();
/// "auto" for a part of a space takes one that goes through all of it. The space must outlive the strategy. Throws std::invalid_argument on another name.
ChosenStrategy make_strategy(const std::string& name, const Space& space, const StudyGoal& goal);

}  // namespace prismopt

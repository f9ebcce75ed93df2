#pragma once

/// The conversation between a search strategy and whoever evaluates: requests out, answers back, in the order asked.

#include "model/estimate.hpp"
#include "search/space.hpp"

#include <cstdint>
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
    std::vector<Bound> feasible;  // in index order
    std::vector<Rejected> rejected;
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
    std::string text;          // "proved complete: ...", or what stopped it and the gap
    std::uint64_t pruned = 0;  // feasible points that a bound excluded without any draw
    std::uint64_t open = 0;    // feasible points that are neither evaluated to the end nor excluded
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

}  // namespace prismopt

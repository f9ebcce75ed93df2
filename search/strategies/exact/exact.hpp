#pragma once

/// Exact search: bounds every feasible point, draws only those that its lower bound does not
/// exclude, and states what that proves.

#include "search/strategies/exact/candidate_race.hpp"
#include "search/strategies/exact/exploration.hpp"
#include "search/strategies/exact/gaps.hpp"
#include "search/strategies/exact/incumbents.hpp"
#include "search/strategies/exact/limit_rounds.hpp"
#include "search/strategies/exact/options.hpp"
#include "search/strategies/exact/points.hpp"
#include "search/strategies/exact/sweeps.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// Stages of an exact search, in their order. A stage asks for requests until it has nothing to ask for.
enum class ExactStage {
    exploration,  // of a large space, for points with good bounds
    early_sweep,  // of a space that is not explored
    gaps,    // of an explored space: rounds of limits, and a sweep for better points than their incumbents
    scouts,  // the best points by their bounds, drawn once
    scouts_round,   // limits of those that no other dominates by value
    sweep,          // of an explored space
    closer_limits,  // tighter bounds and further rounds, if many points remain
    error,          // is divided among the points that may be drawn
    race,  // of those that may be drawn, with rounds for its leaders and sweeps of what was not returned
    finished
};

/// Branch and bound over non-dominated fronts of the lower bounds, with racing over the rungs.
///
/// A point is excluded only if the upper confidence limits of an incumbent dominate the best values that it
/// can have: its lower bounds before it is drawn, the larger of lower bound and lower confidence limit after.
/// Bounds never exclude each other.
///
/// The error probability is spent where limits are used, so the limits do not widen with the size of the
/// space: one half by the rounds of limits, the other by the race. docs/methods/exact-search.md describes the
/// components and the proof in the order of the stages.
///
/// The next requests depend only on the answers to all earlier requests, so the
/// batching of answers has no influence.
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
    void receive(const Sweep& sweep);
    void receive(const Evaluation& evaluation);
    void check(const Evaluation& evaluation) const;
    void note_violation(std::size_t place, const Evaluation& evaluation);

    // Each asks for the next requests of its kind; false: there are none.
    bool choose_requests();
    bool try_stage(ExactStage stage);
    bool request(std::vector<AskedPoint> points);
    bool open_round(const std::vector<std::size_t>& places, int closer = 0);
    bool explore();
    bool sweep_for_front();
    bool narrow_gaps();
    bool sweep_for_better();
    bool ask_scouts();
    bool open_round_of_scouts();
    bool tighten();
    bool open_further_round();
    bool divide_error();
    bool race();
    bool sweep_again();

    const ExactOptions options_;
    ExactStage stage_ = ExactStage::exploration;
    std::vector<AskedPoint> asked_;  // in the order of the requests
    std::size_t answered_ = 0;       // of asked_

    Points points_;
    std::optional<Exploration> exploration_;
    Sweeps sweeps_;
    LimitRounds rounds_;
    CandidateRace race_;
    Gaps gaps_;
    std::vector<Scout> scouts_;
    std::size_t further_rounds_ = 0;           // opened before points are drawn to be compared
    std::optional<BoundViolation> violation_;  // the largest
};

}  // namespace prismopt

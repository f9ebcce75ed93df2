#pragma once

/// Work items and their results as bytes, for messages between ranks and for the journal.

#include "model/base/random.hpp"
#include "model/predictor.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace prismopt {

/// A block of draws of several points, sampled together: plans that share a
/// schedule share its random numbers.
struct DrawBlock {
    std::vector<std::uint64_t> points;
    DrawRange range;
    DrawSource source = {};
};

/// All draws of a point, to be turned into the estimates of its plan.
struct Judgement {
    PointRequest point;
    int steps = 1;  // draws of a fleet in each phase
    Confidence confidence = {};
    bool for_front = false;  // with what only points of a front have
    PhaseDraws draws = {};
};

/// Plans of which the posterior wants to know more.
struct FactsRequest {
    enum class Kind { estimates, gradients };
    Kind kind = Kind::estimates;
    std::vector<std::uint64_t> points;
};

/// What was asked for, of one plan.
struct PlanFacts {
    // [objective], as if all of its steps were the noise-free one; empty if it is infeasible
    std::vector<double> estimates = {};
    double memory_share = 0.0;          // of the accelerator's memory, by its fullest GPU
    std::vector<double> gradient = {};  // of log(step time) by the logarithms of the constants
    double shift = 0.0;                 // logarithm of the scenario's prediction over the catalog's
    std::vector<std::optional<double>> by_software = {};  // VariantGradients::by_software()
};

using WorkItem = std::variant<SweepRange, DrawBlock, Judgement, FactsRequest>;

template <Of<SweepRange> T>
auto members(T& range)
{
    return std::tie(range.begin, range.end, range.keep, range.again, range.limits, range.near.objective,
                    range.near.regions, range.near.within, range.near.most, range.feasibility,
                    range.within_limits);
}
template <Of<DrawBlock> T>
auto members(T& block)
{
    return std::tie(block.points, block.range, block.source.purpose, block.source.round,
                    block.source.feasibility);
}
template <Of<Judgement> T>
auto members(T& judgement)
{
    auto& point = judgement.point;
    auto& confidence = judgement.confidence;
    return std::tie(point.index, point.rung, point.source.purpose, point.source.round,
                    point.source.feasibility, judgement.steps, confidence.reported, confidence.simultaneous,
                    confidence.skewness, judgement.for_front, judgement.draws);
}
template <Of<FactsRequest> T>
auto members(T& request)
{
    return std::tie(request.kind, request.points);
}
template <Of<PlanFacts> T>
auto members(T& facts)
{
    return std::tie(facts.estimates, facts.memory_share, facts.gradient, facts.shift, facts.by_software);
}
template <Of<Bound> T>
auto members(T& bound)
{
    return std::tie(bound.index, bound.objectives);
}
template <Of<NearBound> T>
auto members(T& near)
{
    return std::tie(near.region, near.bound);
}
template <Of<Rejected> T>
auto members(T& rejected)
{
    return std::tie(rejected.reason, rejected.count, rejected.miss, rejected.nearest);
}
template <Of<Sweep> T>
auto members(T& sweep)
{
    static_assert(bound_kinds == 4);
    return std::tie(sweep.range.begin, sweep.range.end, sweep.range.again, sweep.range.feasibility,
                    sweep.excluded, sweep.unreturned, sweep.unchecked, sweep.range.near.objective,
                    sweep.floor, sweep.feasible, sweep.near, sweep.rejected, sweep.excluded_by[0],
                    sweep.excluded_by[1], sweep.excluded_by[2], sweep.excluded_by[3]);
}
template <Of<Evaluation> T>
auto members(T& evaluation)
{
    return std::tie(evaluation.index, evaluation.rung, evaluation.draws, evaluation.objectives,
                    evaluation.source.purpose, evaluation.source.round, evaluation.source.feasibility,
                    evaluation.keeping);
}

/// Which alternative of WorkItem the bytes are.
inline std::size_t kind_of_item(std::span<const std::byte> bytes)
{
    return std::to_integer<std::size_t>(bytes.front());
}
inline WorkItem decode_item(std::span<const std::byte> bytes) { return decode<WorkItem>(bytes); }
/// Draws by point, in the order of the block.
inline std::vector<PhaseDraws> decode_draws(std::span<const std::byte> bytes)
{
    return decode<std::vector<PhaseDraws>>(bytes);
}
inline Answer decode_answer(std::span<const std::byte> bytes) { return decode<Answer>(bytes); }

}  // namespace prismopt

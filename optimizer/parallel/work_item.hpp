#pragma once

/// Work items and their results as bytes, for messages between ranks and for the journal.

#include "model/base/random.hpp"
#include "model/predictor.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "search/strategy.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// A block of draws of several points, sampled together: plans that share a schedule share its random numbers.
struct DrawBlock {
    std::vector<std::uint64_t> points;
    DrawRange range;
    DrawSource source = {};
};

using WorkItem = std::variant<SweepRange, DrawBlock>;

template <Of<SweepRange> T>
auto members(T& range)
{
    return std::tie(range.begin, range.end, range.keep, range.again, range.limits, range.near.objective, range.near.regions,
                    range.feasibility);
}
template <Of<DrawBlock> T>
auto members(T& block)
{
    return std::tie(block.points, block.range, block.source.purpose, block.source.round, block.source.feasibility);
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
    return std::tie(sweep.range.begin, sweep.range.end, sweep.range.again, sweep.range.feasibility, sweep.excluded,
                    sweep.left_out, sweep.unchecked, sweep.range.near.objective, sweep.floor, sweep.feasible, sweep.near,
                    sweep.rejected, sweep.excluded_by[0], sweep.excluded_by[1], sweep.excluded_by[2], sweep.excluded_by[3]);
}
template <Of<Evaluation> T>
auto members(T& evaluation)
{
    return std::tie(evaluation.index, evaluation.rung, evaluation.draws, evaluation.objectives, evaluation.source.purpose,
                    evaluation.source.round, evaluation.source.feasibility);
}

inline WorkItem decode_item(std::span<const std::byte> bytes) { return decode<WorkItem>(bytes); }
/// Draws by point, in the order of the block.
inline std::vector<PhaseDraws> decode_draws(std::span<const std::byte> bytes) { return decode<std::vector<PhaseDraws>>(bytes); }
inline Answer decode_answer(std::span<const std::byte> bytes) { return decode<Answer>(bytes); }

}  // namespace prismopt

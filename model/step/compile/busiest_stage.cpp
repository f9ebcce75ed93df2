#include "model/step/compile/busiest_stage.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

namespace {

bool pairs_passes(Schedule schedule) { return schedule == Schedule::dualpipe || schedule == Schedule::dualpipe_v; }

/// Durations of the passes over one chunk.
class ChunkSeconds {
public:
    explicit ChunkSeconds(std::span<const double> of_passes) : of_passes_(of_passes) {}

    double of(Pass pass) const { return of_passes_[static_cast<std::size_t>(pass)]; }
    double split_backward() const { return of(Pass::input_gradient) + of(Pass::weight_gradient); }

private:
    std::span<const double> of_passes_;
};

/// All passes of a stage that may pair the forward passes of one chunk with the backward passes of the other.
double least_of_pairs(const ScheduleShape& shape, const ChunkSeconds& first, const ChunkSeconds& second)
{
    const auto backward = [](const ChunkSeconds& chunk) { return std::min(chunk.of(Pass::backward), chunk.split_backward()); };
    const auto of_chunk = [&](const ChunkSeconds& chunk, const ChunkSeconds& other) {
        const double alone = chunk.of(Pass::forward) + backward(chunk);
        const double saved = other.of(Pass::forward) + backward(chunk) - chunk.of(Pass::paired_backward);
        return alone - std::max(0.0, saved);
    };
    return microbatches_of(shape, 0).count * of_chunk(first, second) + microbatches_of(shape, 1).count * of_chunk(second, first);
}

}  // namespace

int passes_of(Schedule schedule)
{
    return 1 + static_cast<int>(pairs_passes(schedule)      ? Pass::paired_backward
                                : splits_backward(schedule) ? Pass::weight_gradient
                                                            : Pass::backward);
}

double busiest_stage(const ScheduleShape& shape, std::span<const double> seconds)
{
    const auto passes = static_cast<std::size_t>(passes_of(shape.schedule));
    const auto chunk_at = [&](int stage, int chunk) {
        return ChunkSeconds(seconds.subspan((static_cast<std::size_t>(stage) * shape.chunks + chunk) * passes, passes));
    };
    double longest = 0.0;
    double before = 0.0;  // forward passes of the first microbatch over the first chunks of earlier stages
    double after = 0.0;   // backward passes of the last microbatch over these chunks, without gradients of weights
    const bool splits = splits_backward(shape.schedule);
    for (int stage = 0; stage < shape.stages; ++stage) {
        if (pairs_passes(shape.schedule)) {
            longest = std::max(longest, least_of_pairs(shape, chunk_at(stage, 0), chunk_at(stage, 1)));
            continue;
        }
        double until_last_gradient = 0.0;
        double weights = 0.0;
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            const ChunkSeconds own = chunk_at(stage, chunk);
            until_last_gradient += own.of(Pass::forward) + own.of(splits ? Pass::input_gradient : Pass::backward);
            weights += splits ? own.of(Pass::weight_gradient) : 0.0;
        }
        longest =
            std::max(longest, before + shape.microbatches * until_last_gradient + std::max(after, shape.microbatches * weights));
        const ChunkSeconds first = chunk_at(stage, 0);
        before += first.of(Pass::forward);
        after += first.of(splits ? Pass::input_gradient : Pass::backward);
    }
    return longest;
}

}  // namespace prismopt

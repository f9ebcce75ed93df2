#include "model/step/compile/busiest_stage.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

namespace {

/// Durations of the passes over one chunk.
class ChunkSeconds {
public:
    explicit ChunkSeconds(std::span<const double> of_passes) : of_passes_(of_passes) {}

    double of(Pass pass) const { return of_passes_[static_cast<std::size_t>(pass)]; }
    double split_backward() const { return of(Pass::input_gradient) + of(Pass::weight_gradient); }

private:
    std::span<const double> of_passes_;
};

/// The last of the kinds of passes, in the order of Pass, that the schedule has.
Pass last_pass_of(Schedule schedule)
{
    if (facts_of(schedule).pairs) {
        return Pass::paired_backward;
    }
    return splits_backward(schedule) ? Pass::weight_gradient : Pass::backward;
}

/// All passes of a stage that may pair the forward passes of one chunk with the backward passes of the other.
double least_of_pairs(const ScheduleShape& shape, const ChunkSeconds& first, const ChunkSeconds& second)
{
    const auto backward = [](const ChunkSeconds& chunk) {
        return std::min(chunk.of(Pass::backward), chunk.split_backward());
    };
    const auto of_chunk = [&](const ChunkSeconds& chunk, const ChunkSeconds& other) {
        const double alone = chunk.of(Pass::forward) + backward(chunk);
        const double saved = other.of(Pass::forward) + backward(chunk) - chunk.of(Pass::paired_backward);
        return alone - std::max(0.0, saved);
    };
    return microbatches_of(shape, 0).count * of_chunk(first, second) +
           microbatches_of(shape, 1).count * of_chunk(second, first);
}

/// Work of a stage on one microbatch.
struct StageWork {
    double until_last_gradient = 0.0;  // forward passes and gradients of inputs
    double weights = 0.0;              // gradients of weights that come later
    double forward = 0.0;              // over its first chunk
    double gradient = 0.0;             // of the input of its first chunk
};

/// `seconds`: of passes, as in busiest_stage().
StageWork work_of(const ScheduleShape& shape, std::span<const double> seconds, int stage)
{
    const auto passes = static_cast<std::size_t>(passes_of(shape.schedule));
    const bool splits = splits_backward(shape.schedule);
    StageWork work;
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
        const ChunkSeconds own(
            seconds.subspan((static_cast<std::size_t>(stage) * shape.chunks + chunk) * passes, passes));
        const double gradient = own.of(splits ? Pass::input_gradient : Pass::backward);
        work.until_last_gradient += own.of(Pass::forward) + gradient;
        work.weights += splits ? own.of(Pass::weight_gradient) : 0.0;
        if (chunk == 0) {
            work.forward = own.of(Pass::forward);
            work.gradient = gradient;
        }
    }
    return work;
}

double busiest_of_pairs(const ScheduleShape& shape, std::span<const double> seconds)
{
    const auto passes = static_cast<std::size_t>(passes_of(shape.schedule));
    const auto chunk_at = [&](int stage, std::size_t chunk) {
        return ChunkSeconds(
            seconds.subspan((static_cast<std::size_t>(stage) * shape.chunks + chunk) * passes, passes));
    };
    double longest = 0.0;
    for (int stage = 0; stage < shape.stages; ++stage) {
        longest = std::max(longest, least_of_pairs(shape, chunk_at(stage, 0), chunk_at(stage, 1)));
    }
    return longest;
}

}  // namespace

int passes_of(Schedule schedule) { return 1 + static_cast<int>(last_pass_of(schedule)); }

double busiest_stage(const ScheduleShape& shape, std::span<const double> seconds)
{
    if (facts_of(shape.schedule).pairs) {
        return busiest_of_pairs(shape, seconds);
    }
    double longest = 0.0;
    double before = 0.0;  // forward passes of the first microbatch over the first chunks of earlier stages
    // backward passes of the last microbatch over these chunks, without gradients of weights
    double after = 0.0;
    for (int stage = 0; stage < shape.stages; ++stage) {
        const StageWork work = work_of(shape, seconds, stage);
        longest = std::max(longest, before + shape.microbatches * work.until_last_gradient +
                                        std::max(after, shape.microbatches * work.weights));
        before += work.forward;
        after += work.gradient;
    }
    return longest;
}

std::vector<StagePath> busy_stage_paths(const ScheduleShape& shape, std::span<const double> compute,
                                        std::span<const double> communication, double factor)
{
    constexpr int most_paths = 16;  // evenly spread over the stages
    std::vector<StagePath> paths;
    if (facts_of(shape.schedule).pairs) {
        return paths;
    }
    const int every = (shape.stages + most_paths - 1) / most_paths;
    const int m = shape.microbatches;
    StageWork compute_around;  // as `before` and `after` above
    StageWork communication_around;
    for (int stage = 0; stage < shape.stages; ++stage) {
        const StageWork in_compute = work_of(shape, compute, stage);
        const StageWork in_communication = work_of(shape, communication, stage);
        if (stage % every == 0) {
            const double after = factor * compute_around.gradient + communication_around.gradient;
            const bool ends_here = m * (factor * in_compute.weights + in_communication.weights) > after;
            StagePath& path = paths.emplace_back();
            path.factor = factor;
            path.others_s = factor * (compute_around.forward + (ends_here ? 0.0 : compute_around.gradient));
            path.compute_s = m * (in_compute.until_last_gradient + (ends_here ? in_compute.weights : 0.0));
            path.rest_s = path.others_s + communication_around.forward +
                          m * in_communication.until_last_gradient +
                          (ends_here ? m * in_communication.weights : communication_around.gradient);
        }
        compute_around.forward += in_compute.forward;
        compute_around.gradient += in_compute.gradient;
        communication_around.forward += in_communication.forward;
        communication_around.gradient += in_communication.gradient;
    }
    return paths;
}

}  // namespace prismopt

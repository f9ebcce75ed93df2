/// Schedules that fill the bubble with weight gradients: Qi et al., Zero Bubble Pipeline
/// Parallelism, arXiv 2401.10241.

#include "model/schedule/orders/rules.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

/// One forward, one backward behind `warm` forwards; weight gradients `delay`
/// microbatches behind the input gradients.
std::vector<Task> delayed_weights(int count, int warm, int delay)
{
    std::vector<Task> order;
    order.reserve(3 * static_cast<std::size_t>(count));
    for (int k = 0; k < std::min(warm, count); ++k) {
        order.push_back(task(Pass::forward, 0, k));
    }
    for (int k = 0; k < count + delay; ++k) {
        if (warm + k < count) {
            order.push_back(task(Pass::forward, 0, warm + k));
        }
        if (k < count) {
            order.push_back(task(Pass::input_gradient, 0, k));
        }
        if (k >= delay) {
            order.push_back(task(Pass::weight_gradient, 0, k - delay));
        }
    }
    return order;
}

/// Section 2.3: stage s holds weight gradients of s microbatches back, so that all stages hold p.
std::vector<Task> zb_h1(const ScheduleShape& shape, int stage)
{
    return delayed_weights(shape.microbatches, shape.stages - stage - 1, stage);
}

/// Section 2.3: twice as many forwards ahead, so that no stage waits for the first gradient; all hold 2p - 1.
std::vector<Task> zb_h2(const ScheduleShape& shape, int stage)
{
    return delayed_weights(shape.microbatches, 2 * (shape.stages - stage - 1), 2 * stage);
}

/// Section 6 and appendix; counts of its phases as PyTorch's ScheduleZBVZeroBubble has them: 2(p-s)-1
/// forwards of the first chunk, s pairs of forwards of both, p-s rounds in the second chunk; then rounds
/// in both; weight gradients last.
std::vector<Task> zb_v(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    const int m = shape.microbatches;
    // The counts are those of at least 2p - 1 microbatches; of fewer, what is not there is omitted.
    const int count = std::max(2 * p - 1, m);
    struct Done {
        int forward = 0;
        int input = 0;
        int weight = 0;
    };
    std::array<Done, 2> done;
    std::vector<Task> order;
    order.reserve(6 * static_cast<std::size_t>(count));
    const auto add = [&](Pass pass, int chunk, int microbatch) {
        if (microbatch < m) {
            order.push_back(task(pass, chunk, microbatch));
        }
    };
    const auto forward = [&](int chunk) { add(Pass::forward, chunk, done[chunk].forward++); };
    const auto input = [&](int chunk) { add(Pass::input_gradient, chunk, done[chunk].input++); };
    const auto weight = [&](int chunk) { add(Pass::weight_gradient, chunk, done[chunk].weight++); };
    for (int k = 0; k < 2 * (p - stage) - 1; ++k) {
        forward(0);
    }
    for (int k = 0; k < stage; ++k) {
        forward(1);
        forward(0);
    }
    for (int k = 0; k < p - stage; ++k) {
        forward(1);
        input(1);
        weight(1);
    }
    while (done[1].forward < count) {
        if (done[0].forward < count) {
            forward(0);
        }
        input(0);
        weight(0);
        forward(1);
        input(1);
        weight(1);
    }
    for (int k = 0; k < stage; ++k) {
        input(0);
        input(1);
    }
    for (int k = 0; k < p - stage; ++k) {
        input(0);
        weight(0);
    }
    for (const int chunk : {1, 0}) {
        while (done[chunk].weight < count) {
            weight(chunk);
        }
    }
    return order;
}

/// Qi et al., arXiv 2401.10241, table 2; where weights take no longer than what they fill, and all
/// stages come to the steady part.
Bubble zb_h1_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool known =
        s.microbatches >= 2 * s.stages && t.weight_gradient <= std::min(t.forward, t.input_gradient);
    return known ? Bubble((s.stages - 1) * (t.forward + t.input_gradient - t.weight_gradient)) : std::nullopt;
}
Bubble zb_h2_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool known =
        s.microbatches >= 2 * s.stages && t.weight_gradient <= std::min(t.forward, t.input_gradient);
    return known ? Bubble((s.stages - 1) * (t.forward + t.input_gradient - 2.0 * t.weight_gradient))
                 : std::nullopt;
}
/// None with equal times: the same, section 6.
Bubble zb_v_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool equal = t.forward == t.input_gradient && t.forward == t.weight_gradient;
    return equal && s.microbatches >= 2 * s.stages ? Bubble(0.0) : std::nullopt;
}
/// (chunk, microbatch) held, from the paper.
int zb_h1_held(const ScheduleShape& s, int) { return s.stages; }
int zb_h2_held(const ScheduleShape& s, int) { return 2 * s.stages - 1; }
int zb_v_held(const ScheduleShape& s, int) { return 2 * s.stages; }

constexpr auto rules_of_zero_bubble = std::to_array<ScheduleRule>({
    {Schedule::zb_h1, ChunkMap::loops, true, zb_h1, zb_h1_held, zb_h1_bubble, nullptr},
    {Schedule::zb_h2, ChunkMap::loops, true, zb_h2, zb_h2_held, zb_h2_bubble, nullptr},
    {Schedule::zb_v, ChunkMap::vee, true, zb_v, zb_v_held, zb_v_bubble, nullptr},
});

}  // namespace

std::span<const ScheduleRule> zero_bubble_rules() { return rules_of_zero_bubble; }

}  // namespace prismopt

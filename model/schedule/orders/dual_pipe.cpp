/// DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.2.1, and
/// its code (deepseek-ai/DualPipe).

#include "model/schedule/orders/rules.hpp"

#include <array>
#include <deque>

namespace prismopt {

namespace {

/// Tasks of one stage in terms of its two directions: 0 enters the pipeline nearer to this stage than 1.
class DualOrder {
public:
    /// `reversed`: direction 0 goes through chunk 1. Direction d's microbatches begin at first[d].
    DualOrder(bool reversed, std::array<int, 2> first)
        : reversed_(reversed), forward_(first), backward_(first)
    {
    }

    void forward(int direction) { add(Pass::forward, direction, forward_[direction]++); }
    void backward(int direction) { add(Pass::backward, direction, backward_[direction]++); }
    /// The gradient of its input now, of its weights when weight() is asked for.
    void split_backward(int direction)
    {
        add(Pass::input_gradient, direction, backward_[direction]);
        waiting_.push_back(task(Pass::weight_gradient, chunk(direction), backward_[direction]++));
    }
    void weight()
    {
        order_.push_back(waiting_.front());
        waiting_.pop_front();
    }
    /// A forward of one direction and a backward of the other side by side.
    void pair(int forward_direction, int backward_direction)
    {
        add(Pass::paired_forward, forward_direction, forward_[forward_direction]++);
        add(Pass::paired_backward, backward_direction, backward_[backward_direction]++);
    }
    bool weights_wait() const { return !waiting_.empty(); }
    std::vector<Task> done() { return std::move(order_); }

private:
    int chunk(int direction) const { return reversed_ ? 1 - direction : direction; }
    void add(Pass pass, int direction, int microbatch)
    {
        order_.push_back(task(pass, chunk(direction), microbatch));
    }

    bool reversed_;
    std::array<int, 2> forward_;
    std::array<int, 2> backward_;
    std::deque<Task> waiting_;
    std::vector<Task> order_;
};

/// The phases of both schedules. `ahead`: stages between this one and the middle (dualpipe) or the turn
/// (dualpipe_v); `near`: to the end where direction 0 enters; `rounds`: of forward and backward in both
/// directions; `separate`: the first pair is not side by side.
std::vector<Task> phases(DualOrder order, int ahead, int near, int rounds, bool separate)
{
    const auto repeat = [](int times, auto step) {
        for (int k = 0; k < times; ++k) {
            step(k);
        }
    };
    repeat(2 * ahead, [&](int) { order.forward(0); });
    repeat(near + 1, [&](int) {
        order.forward(0);
        order.forward(1);
    });
    repeat(ahead, [&](int) {
        order.split_backward(1);
        order.weight();
        order.forward(1);
    });
    repeat(rounds, [&](int k) {
        if (k == 0 && separate) {
            order.forward(0);
            order.backward(1);
        } else {
            order.pair(0, 1);
        }
        order.pair(1, 0);
    });
    repeat(ahead, [&](int) {
        order.backward(1);
        order.pair(1, 0);
    });
    const int half = (near + 1) / 2;
    repeat(near + 1, [&](int k) {
        // From the middle of these on weight gradients wait.
        const bool first_splits = near % 2 == 1 ? k >= half : k > half;
        const bool second_splits = k >= half;
        first_splits ? order.split_backward(1) : order.backward(1);
        second_splits ? order.split_backward(0) : order.backward(0);
    });
    repeat(ahead, [&](int) {
        order.weight();
        order.split_backward(0);
    });
    while (order.weights_wait()) {
        order.weight();
    }
    return order.done();
}

std::vector<Task> dualpipe(const ScheduleShape& shape, int stage)
{
    const int half = shape.stages / 2;
    const int each = shape.microbatches / 2;  // in each direction
    const bool reversed = stage >= half;
    const int near = reversed ? shape.stages - 1 - stage : stage;
    const std::array<int, 2> first = reversed ? std::array{each, 0} : std::array{0, each};
    return phases(DualOrder(reversed, first), half - near - 1, near, each - shape.stages + near + 1,
                  near == half - 1);
}

std::vector<Task> dualpipe_v(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    return phases(DualOrder(false, {0, 0}), p - stage - 1, stage, shape.microbatches - 2 * p + stage + 1,
                  stage == p - 1);
}

std::optional<Infeasible> two_rounds(const ScheduleShape& s)
{
    if (s.microbatches >= 2 * s.stages) {
        return std::nullopt;
    }
    return Infeasible{Conflict::too_few_microbatches,
                      {{FactKey::schedule, s.schedule},
                       {FactKey::least, 2 * s.stages},
                       {FactKey::microbatches, s.microbatches}}};
}
std::optional<Infeasible> two_ways(const ScheduleShape& s)
{
    if (s.stages % 2 != 0 || s.microbatches % 2 != 0) {
        return Infeasible{Conflict::odd_stages_or_microbatches,
                          {{FactKey::schedule, s.schedule},
                           {FactKey::pp, s.stages},
                           {FactKey::microbatches, s.microbatches}}};
    }
    return two_rounds(s);
}

/// deepseek-ai/DualPipe, README: (p/2 - 1)(F&B + B - 3W), B the whole backward, of a part of the network.
/// With unequal times a rough figure, and so not given.
Bubble dual_bubble(int chunk_count, const StageTimes& chunk_times)
{
    if (chunk_times.forward != chunk_times.input_gradient ||
        chunk_times.forward != chunk_times.weight_gradient) {
        return std::nullopt;
    }
    const double backward = chunk_times.input_gradient + chunk_times.weight_gradient;
    return (0.5 * chunk_count - 1.0) *
           (chunk_times.forward + 2.0 * backward - 3.0 * chunk_times.weight_gradient);
}
Bubble dualpipe_bubble(const ScheduleShape& s, const StageTimes& t) { return dual_bubble(s.stages, t); }
Bubble dualpipe_v_bubble(const ScheduleShape& s, const StageTimes& t)
{
    return dual_bubble(2 * s.stages, {t.forward / 2.0, t.input_gradient / 2.0, t.weight_gradient / 2.0});
}

/// (chunk, microbatch) held: deepseek-ai/DualPipe, README; of dualpipe_v, of 2p parts.
int dualpipe_held(const ScheduleShape& s, int) { return s.stages + 1; }
int dualpipe_v_held(const ScheduleShape& s, int) { return 2 * s.stages + 1; }

constexpr auto rules_of_dual_pipes = std::to_array<ScheduleRule>({
    {Schedule::dualpipe, ChunkMap::both_ways, false, dualpipe, dualpipe_held, dualpipe_bubble, two_ways},
    {Schedule::dualpipe_v, ChunkMap::vee, false, dualpipe_v, dualpipe_v_held, dualpipe_v_bubble, two_rounds},
});

}  // namespace

std::span<const ScheduleRule> dual_pipe_rules() { return rules_of_dual_pipes; }

}  // namespace prismopt

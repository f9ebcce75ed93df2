/// Schedules whose backward is one pass.

#include "model/schedule/orders/rules.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

/// `warm` forwards ahead, then pairs of one forward and one backward, then the backwards that are left.
template <class Forward, class Backward>
std::vector<Task> one_forward_one_backward(int count, int warm, Forward forward, Backward backward)
{
    std::vector<Task> order;
    order.reserve(2 * static_cast<std::size_t>(count));
    for (int k = 0; k < warm; ++k) {
        order.push_back(forward(k));
    }
    for (int k = 0; k < count; ++k) {
        if (warm + k < count) {
            order.push_back(forward(warm + k));
        }
        order.push_back(backward(k));
    }
    return order;
}

/// Narayanan et al., PipeDream-Flush, arXiv 2006.09503: p - s - 1 forwards ahead,
/// then one forward, one backward.
std::vector<Task> one_f_one_b(const ScheduleShape& shape, int stage)
{
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, std::min(shape.stages - stage - 1, m), [](int k) { return task(Pass::forward, 0, k); },
        [](int k) { return task(Pass::backward, 0, k); });
}

/// Huang et al., arXiv 1811.06965: all forwards, then all backwards in reverse. Without a pipeline nothing
/// waits, and programs run one forward, one backward (Megatron-LM, forward_backward_no_pipelining).
std::vector<Task> gpipe(const ScheduleShape& shape, int stage)
{
    if (shape.stages == 1) {
        return one_f_one_b(shape, stage);
    }
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, m, [](int k) { return task(Pass::forward, 0, k); },
        [m](int k) { return task(Pass::backward, 0, m - 1 - k); });
}

/// Narayanan et al., SC21 (arXiv 2104.04473), section 2.2: v chunks a stage, microbatches in groups of p.
/// Groups of N instead, the last one shorter: Llama 3 (arXiv 2407.21783), section 3.3.2.
std::vector<Task> interleaved(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    const int v = shape.chunks;
    const int m = shape.microbatches;
    const int n = shape.group > 0 ? std::min(shape.group, m) : p;
    const int count = m * v;
    // The k-th forward (or backward) of a stage: n microbatches of chunk 0, the same n of chunk 1, ...
    const auto of = [m, n, v](int k) {
        const int first = k / (n * v) * n;  // microbatch of the group
        const int size = std::min(n, m - first);
        const int place = k - first * v;
        return std::pair{place / size, first + place % size};
    };
    const int warm = std::min(2 * (p - stage - 1) + (v - 1) * n, count);
    return one_forward_one_backward(
        count, warm, [&](int k) { return task(Pass::forward, of(k).first, of(k).second); },
        [&](int k) { return task(Pass::backward, v - 1 - of(k).first, of(k).second); });
}

int group_size(const ScheduleShape& s) { return s.group > 0 ? s.group : s.stages; }

std::optional<Infeasible> whole_groups(const ScheduleShape& s)
{
    const Fact schedule(FactKey::schedule, s.schedule);
    const Fact stages(FactKey::pp, s.stages);
    const Fact microbatches(FactKey::microbatches, s.microbatches);
    const Fact group(FactKey::group, s.group);
    if (s.group == 0 && s.microbatches % s.stages != 0) {
        return Infeasible{Conflict::microbatches_and_stages, {schedule, microbatches, stages}};
    }
    if (s.group > 0 && s.group < s.stages && s.microbatches > s.group) {
        return Infeasible{Conflict::group_below_stages, {schedule, group, stages, microbatches}};
    }
    // Replayed for p to 8, v to 4, N from p to 2p: with a last group of p or more none
    // deadlocks, of fewer a fifth do.
    const int last = s.group > 0 && s.microbatches > s.group ? s.microbatches % s.group : 0;
    if (last > 0 && last < s.stages) {
        return Infeasible{Conflict::last_group_below_stages,
                          {schedule, group, {FactKey::last_group, last}, microbatches, stages}};
    }
    return std::nullopt;
}
/// Narayanan et al., SC21, section 2.2.
Bubble flush_bubble(const ScheduleShape& s, const StageTimes& t) { return (s.stages - 1) * t.sum(); }
Bubble interleaved_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const int n = group_size(s);  // groups that are not whole, or shorter than the pipeline, make it longer
    return n >= s.stages && s.microbatches % n == 0 ? Bubble((s.stages - 1) * t.sum() / s.chunks)
                                                    : std::nullopt;
}
/// (chunk, microbatch) held, from the schedules' papers.
int all_held(const ScheduleShape& s, int) { return s.stages == 1 ? 1 : s.microbatches; }
int one_f_one_b_held(const ScheduleShape& s, int stage) { return s.stages - stage; }
int interleaved_held(const ScheduleShape& s, int stage)
{
    return 2 * (s.stages - stage - 1) + (s.chunks - 1) * std::min(group_size(s), s.microbatches) + 1;
}

constexpr auto rules_of_whole_backward = std::to_array<ScheduleRule>({
    {Schedule::gpipe, ChunkMap::loops, false, gpipe, all_held, flush_bubble, nullptr},
    {Schedule::one_f_one_b, ChunkMap::loops, false, one_f_one_b, one_f_one_b_held, flush_bubble, nullptr},
    {Schedule::interleaved, ChunkMap::loops, false, interleaved, interleaved_held, interleaved_bubble,
     whole_groups},
});

}  // namespace

std::span<const ScheduleRule> whole_backward_rules() { return rules_of_whole_backward; }

}  // namespace prismopt

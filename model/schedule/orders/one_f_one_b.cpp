/// Schedules whose backward is one pass.

#include "model/schedule/orders/rules.hpp"

#include <algorithm>

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

}  // namespace

/// Huang et al., arXiv 1811.06965: all forwards, then all backwards in reverse.
std::vector<Task> gpipe(const ScheduleShape& shape, int)
{
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, m, [](int k) { return task(Pass::forward, 0, k); }, [m](int k) { return task(Pass::backward, 0, m - 1 - k); });
}

/// Narayanan et al., PipeDream-Flush, arXiv 2006.09503: p - s - 1 forwards ahead, then one forward, one backward.
std::vector<Task> one_f_one_b(const ScheduleShape& shape, int stage)
{
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, std::min(shape.stages - stage - 1, m), [](int k) { return task(Pass::forward, 0, k); },
        [](int k) { return task(Pass::backward, 0, k); });
}

/// Narayanan et al., SC21 (arXiv 2104.04473), section 2.2: v chunks a stage, microbatches in groups of p. Groups of N instead, the
/// last one shorter: Llama 3 (arXiv 2407.21783), section 3.3.2.
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

}  // namespace prismopt

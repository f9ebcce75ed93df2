#include "model/step/schedule.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

Task task(Pass pass, int chunk, int microbatch)
{
    return {pass, static_cast<std::uint16_t>(chunk), static_cast<std::uint16_t>(microbatch)};
}

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

std::vector<Task> gpipe(const ScheduleShape& shape, int)
{
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, m, [](int k) { return task(Pass::forward, 0, k); }, [m](int k) { return task(Pass::backward, 0, m - 1 - k); });
}

std::vector<Task> one_f_one_b(const ScheduleShape& shape, int stage)
{
    const int m = shape.microbatches;
    return one_forward_one_backward(
        m, std::min(shape.stages - stage - 1, m), [](int k) { return task(Pass::forward, 0, k); },
        [](int k) { return task(Pass::backward, 0, k); });
}

std::vector<Task> interleaved(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    const int v = shape.chunks;
    const int count = shape.microbatches * v;
    // The k-th forward (or backward) of a stage: p microbatches of chunk 0, the same p of chunk 1, ...
    const auto chunk = [p, v](int k) { return k % (p * v) / p; };
    const auto microbatch = [p, v](int k) { return k / (p * v) * p + k % p; };
    const int warm = std::min(2 * (p - stage - 1) + (v - 1) * p, count);
    return one_forward_one_backward(
        count, warm, [&](int k) { return task(Pass::forward, chunk(k), microbatch(k)); },
        [&](int k) { return task(Pass::backward, v - 1 - chunk(k), microbatch(k)); });
}

/// Ratios to the work of one stage; Narayanan et al., SC21, section 2.2.
double bubble_flush(const ScheduleShape& shape) { return (shape.stages - 1.0) / shape.microbatches; }
double bubble_interleaved(const ScheduleShape& shape)
{
    return (shape.stages - 1.0) / (static_cast<double>(shape.chunks) * shape.microbatches);
}

struct Row {
    Schedule schedule;
    std::vector<Task> (*order)(const ScheduleShape&, int stage);
    double (*bubble)(const ScheduleShape&);
};
constexpr std::array<Row, 3> rows{{{Schedule::gpipe, gpipe, bubble_flush},
                                   {Schedule::one_f_one_b, one_f_one_b, bubble_flush},
                                   {Schedule::interleaved, interleaved, bubble_interleaved}}};

const Row& row(Schedule schedule)
{
    return *std::find_if(rows.begin(), rows.end(), [schedule](const Row& r) { return r.schedule == schedule; });
}

/// Tasks and random keys number microbatches, stages and chunks in 16 bits; a program of 2^25 tasks takes 1.6 GB.
constexpr int longest_index = 65535;
constexpr std::int64_t most_tasks = std::int64_t{1} << 25;

std::optional<Infeasible> undefined(const ScheduleShape& shape)
{
    const auto refuse = [](std::string detail) { return Infeasible{"schedule not defined", std::move(detail), 0.0}; };
    const std::int64_t tasks = static_cast<std::int64_t>(shape.microbatches) * shape.stages * shape.chunks;
    if (shape.microbatches > longest_index || shape.stages > longest_index || shape.chunks > longest_index ||
        tasks > most_tasks) {
        return Infeasible{"pipeline too long to simulate",
                          std::to_string(shape.microbatches) + " microbatches on " + std::to_string(shape.stages) +
                              " stages; larger microbatch or more replicas",
                          0.0};
    }
    if (shape.schedule == Schedule::interleaved) {
        if (shape.stages == 1 || shape.chunks == 1) {
            return refuse("interleaved needs pp > 1 and v > 1; use 1f1b");
        }
        if (shape.microbatches % shape.stages != 0) {
            return refuse("interleaved needs microbatches (" + std::to_string(shape.microbatches) + ") divisible by pp (" +
                          std::to_string(shape.stages) + ")");
        }
    } else if (shape.chunks != 1) {
        return refuse(std::string(name(shape.schedule)) + " has one chunk a stage; set v=1 or use interleaved");
    }
    return std::nullopt;
}

}  // namespace

std::variant<TaskOrders, Infeasible> task_orders(const ScheduleShape& shape)
{
    if (auto refusal = undefined(shape)) {
        return *refusal;
    }
    TaskOrders orders;
    for (int stage = 0; stage < shape.stages; ++stage) {
        orders.push_back(row(shape.schedule).order(shape, stage));
    }
    return orders;
}

double ideal_bubble_ratio(const ScheduleShape& shape) { return row(shape.schedule).bubble(shape); }

}  // namespace prismopt

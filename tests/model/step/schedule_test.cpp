/// One contract over all schedules, judged by a replay that knows only the dependencies of a pipeline.

#include "model/step/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// All shapes that a schedule should be defined for: p from 1 to 16, m from 1 to 4p, v from 1 to 4.
std::vector<ScheduleShape> defined_shapes()
{
    std::vector<ScheduleShape> shapes;
    for (const int p : {1, 2, 3, 4, 5, 8, 16}) {
        for (int m = 1; m <= 4 * p; m += p < 6 ? 1 : 5) {
            shapes.push_back({Schedule::gpipe, p, m, 1});
            shapes.push_back({Schedule::one_f_one_b, p, m, 1});
        }
        for (int m = p; p > 1 && m <= 4 * p; m += p) {
            for (const int v : {2, 3, 4}) {
                shapes.push_back({Schedule::interleaved, p, m, v});
            }
        }
    }
    return shapes;
}

std::string text(const ScheduleShape& s)
{
    return std::string(name(s.schedule)) + " p=" + std::to_string(s.stages) + " m=" + std::to_string(s.microbatches) +
           " v=" + std::to_string(s.chunks);
}

TaskOrders orders_of(const ScheduleShape& shape)
{
    auto orders = task_orders(shape);
    EXPECT_TRUE(std::holds_alternative<TaskOrders>(orders)) << text(shape);
    return std::get<TaskOrders>(orders);
}

using Key = std::tuple<Pass, int, int>;  // pass, chunk of the network, microbatch

/// Ends of all tasks when each starts as soon as its stage and its inputs allow; empty when the tasks wait in a circle.
std::map<Key, double> replay(const ScheduleShape& shape, const TaskOrders& orders, double forward, double backward)
{
    std::map<Key, double> end;
    std::vector<std::size_t> next(orders.size(), 0);
    std::vector<double> free(orders.size(), 0.0);
    const int last_chunk = shape.stages * shape.chunks - 1;
    bool moved = true;
    while (moved) {
        moved = false;
        for (std::size_t stage = 0; stage < orders.size(); ++stage) {
            if (next[stage] == orders[stage].size()) {
                continue;
            }
            const Task& t = orders[stage][next[stage]];
            const int at = t.chunk * shape.stages + static_cast<int>(stage);
            double start = free[stage];
            std::vector<Key> inputs;
            if (t.pass == Pass::forward && at > 0) {
                inputs.emplace_back(Pass::forward, at - 1, t.microbatch);
            } else if (t.pass == Pass::backward) {
                inputs.emplace_back(Pass::forward, at, t.microbatch);
                if (at < last_chunk) {
                    inputs.emplace_back(Pass::backward, at + 1, t.microbatch);
                }
            }
            const bool ready = std::all_of(inputs.begin(), inputs.end(), [&](const Key& key) { return end.count(key) == 1; });
            if (!ready) {
                continue;
            }
            for (const Key& key : inputs) {
                start = std::max(start, end[key]);
            }
            free[stage] = start + (t.pass == Pass::forward ? forward : backward);
            end[{t.pass, at, t.microbatch}] = free[stage];
            ++next[stage];
            moved = true;
        }
    }
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
        if (next[stage] < orders[stage].size()) {
            return {};
        }
    }
    return end;
}

TEST(Schedules, DoEachTaskOnceAndForwardBeforeBackward)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        ASSERT_EQ(orders.size(), static_cast<std::size_t>(shape.stages));
        for (const auto& order : orders) {
            std::map<Key, std::size_t> place;
            for (std::size_t i = 0; i < order.size(); ++i) {
                EXPECT_LT(order[i].chunk, shape.chunks);
                EXPECT_LT(order[i].microbatch, shape.microbatches);
                place[{order[i].pass, order[i].chunk, order[i].microbatch}] = i;
            }
            ASSERT_EQ(order.size(), 2UL * shape.microbatches * shape.chunks) << text(shape);
            ASSERT_EQ(place.size(), order.size()) << text(shape);
            for (int c = 0; c < shape.chunks; ++c) {
                for (int m = 0; m < shape.microbatches; ++m) {
                    EXPECT_LT((place[{Pass::forward, c, m}]), (place[{Pass::backward, c, m}])) << text(shape);
                }
            }
        }
    }
}

/// Equal stages, B = 2F: no deadlock, and the bubble is (p - 1) / m of the work, (p - 1) / (v m) interleaved.
TEST(Schedules, HaveTheKnownBubble)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const double forward = 1.0 / shape.chunks;
        const auto end = replay(shape, orders_of(shape), forward, 2.0 * forward);
        ASSERT_FALSE(end.empty()) << text(shape) << " deadlocks";
        double last = 0.0;
        for (const auto& row : end) {
            last = std::max(last, row.second);
        }
        const double work = 3.0 * shape.microbatches;
        const double known = (shape.stages - 1.0) / (static_cast<double>(shape.chunks) * shape.microbatches);
        EXPECT_NEAR((last - work) / work, known, 1e-9) << text(shape);
        EXPECT_NEAR(ideal_bubble_ratio(shape), known, 1e-12) << text(shape);
    }
}

/// Largest number of (chunk, microbatch) between forward and backward.
int most_in_flight(const std::vector<Task>& order)
{
    int held = 0;
    int most = 0;
    for (const Task& t : order) {
        held += t.pass == Pass::forward ? 1 : -1;
        most = std::max(most, held);
    }
    return most;
}

/// 1F1B holds p - s microbatches (PipeDream-Flush), GPipe all; interleaved holds 2 (p - s - 1) + (v - 1) p + 1 chunks, on the
/// first stage 1 + (p - 1) / (p v) times 1F1B's activations (Korthikanti et al., arXiv 2205.05198, section 4.2.3).
TEST(Schedules, HoldTheKnownNumberInFlight)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        const int p = shape.stages;
        const int m = shape.microbatches;
        for (int s = 0; s < p; ++s) {
            const int most = most_in_flight(orders[s]);
            switch (shape.schedule) {
                case Schedule::gpipe: EXPECT_EQ(most, m) << text(shape); break;
                case Schedule::one_f_one_b: EXPECT_EQ(most, std::min(p - s, m)) << text(shape); break;
                case Schedule::interleaved:
                    EXPECT_EQ(most, std::min(2 * (p - s - 1) + (shape.chunks - 1) * p + 1, m * shape.chunks)) << text(shape);
                    break;
            }
        }
        if (shape.schedule == Schedule::interleaved && m > p) {
            const double stages_worth = most_in_flight(orders[0]) / static_cast<double>(shape.chunks);
            EXPECT_NEAR(stages_worth / p, 1.0 + (p - 1.0) / (p * shape.chunks), 1e-12) << text(shape);
        }
    }
}

TEST(Schedules, RefuseWhatTheyAreNotDefinedFor)
{
    struct Refused {
        ScheduleShape shape;
        const char* why;
    };
    for (const Refused& r : {Refused{{Schedule::interleaved, 4, 6, 2}, "microbatches (6) divisible by pp (4)"},
                             {{Schedule::interleaved, 4, 3, 2}, "microbatches (3) divisible by pp (4)"},
                             {{Schedule::interleaved, 4, 8, 1}, "v > 1"},
                             {{Schedule::interleaved, 1, 8, 2}, "pp > 1"},
                             {{Schedule::one_f_one_b, 4, 8, 2}, "1f1b has one chunk a stage"},
                             {{Schedule::gpipe, 4, 8, 2}, "gpipe has one chunk a stage"}}) {
        const auto result = task_orders(r.shape);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(result)) << text(r.shape);
        EXPECT_EQ(std::get<Infeasible>(result).reason, "schedule not defined");
        EXPECT_THAT(std::get<Infeasible>(result).detail, HasSubstr(r.why));
    }
}

TEST(Schedule, RefusesWhatItsIndicesCannotName)
{
    for (const ScheduleShape& shape :
         {ScheduleShape{Schedule::one_f_one_b, 4, 65536, 1}, ScheduleShape{Schedule::one_f_one_b, 1024, 65000, 1}}) {
        const auto orders = task_orders(shape);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(orders));
        EXPECT_EQ(std::get<Infeasible>(orders).reason, "pipeline too long to simulate");
    }
    EXPECT_TRUE(std::holds_alternative<TaskOrders>(task_orders({Schedule::one_f_one_b, 1, 65535, 1})));
}

}  // namespace
}  // namespace prismopt

/// One contract over all schedules, judged by a replay that knows only the dependencies of a pipeline.

#include "model/schedule/schedule.hpp"

#include "tests/support/schedule_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace prismopt {
namespace {

constexpr auto all_schedules = [] {
    std::array<Schedule, names_of<Schedule>.size()> all{};
    std::transform(names_of<Schedule>.begin(), names_of<Schedule>.end(), all.begin(),
                   [](const auto& row) { return row.value; });
    return all;
}();

std::string text(const ScheduleShape& s)
{
    return std::string(name(s.schedule)) + " p=" + std::to_string(s.stages) +
           " m=" + std::to_string(s.microbatches) + " v=" + std::to_string(s.chunks) +
           " group=" + std::to_string(s.group);
}

/// All shapes with p from 1 to 16, m from 1 to 8p, v from 1 to 4 that a schedule is defined for.
std::vector<ScheduleShape> defined_shapes()
{
    std::vector<ScheduleShape> shapes;
    for (const Schedule schedule : all_schedules) {
        for (const int p : {1, 2, 3, 4, 5, 6, 8, 16}) {
            for (const int m : {1, p - 1, p, p + 1, 2 * p, 2 * p + 1, 3 * p, 4 * p, 8 * p}) {
                for (int v = 1; v <= 4; ++v) {
                    for (const int group : {0, p - 1, p, p + 2, m}) {
                        const ScheduleShape shape{schedule, p, m, v, group};
                        const bool seen = std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
                        if (m > 0 && !seen && !undefined(shape)) {
                            shapes.push_back(shape);
                        }
                    }
                }
            }
        }
    }
    return shapes;
}

TaskOrders orders_of(const ScheduleShape& shape)
{
    auto orders = task_orders(shape);
    EXPECT_TRUE(std::holds_alternative<TaskOrders>(orders)) << text(shape);
    return std::get<TaskOrders>(orders);
}

double work(const ScheduleShape& shape, const StageTimes& times) { return shape.microbatches * times.sum(); }

TEST(Schedules, AreAllDefinedSomewhere)
{
    const auto shapes = defined_shapes();
    for (const Schedule schedule : all_schedules) {
        const auto count = std::count_if(shapes.begin(), shapes.end(),
                                         [&](const ScheduleShape& s) { return s.schedule == schedule; });
        EXPECT_GE(count, 16) << name(schedule);
    }
}

TEST(Schedules, DoWhatTheirFactsSay)
{
    for (const ScheduleFacts& facts : schedule_facts) {
        const int chunks = std::max(facts.chunks, facts.groups ? 2 : 1);
        const ScheduleShape shape{facts.schedule, 4, 16, chunks, 0};
        bool pairs = false;
        for (const auto& order : orders_of(shape)) {
            pairs = pairs || std::any_of(order.begin(), order.end(),
                                         [](const Task& t) { return t.pass == Pass::paired_forward; });
        }
        EXPECT_EQ(facts.pairs, pairs) << facts.name;
        EXPECT_EQ(facts.groups, !undefined({facts.schedule, 4, 16, chunks, 8})) << facts.name;
        EXPECT_EQ(facts.one_stage, !undefined({facts.schedule, 1, 16, chunks, 0})) << facts.name;
        EXPECT_EQ(facts.model_copies > 1, chunk_map(facts.schedule) == ChunkMap::both_ways) << facts.name;
        // Where all that are do the same, on one stage but for the order of the passes.
        if (facts.one_stage) {
            EXPECT_EQ(orders_of({facts.schedule, 1, 1, 1, 0}), orders_of({usual_schedule, 1, 1, 1, 0}))
                << facts.name;
        }
    }
}

/// Forward, gradient of the input, gradient of the weights: each once for each
/// microbatch of each chunk, in this order.
TEST(Schedules, DoEachTaskOnceAndInOrder)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        ASSERT_EQ(orders.size(), static_cast<std::size_t>(shape.stages));
        for (const auto& order : orders) {
            std::size_t expected = 0;
            for (int c = 0; c < shape.chunks; ++c) {
                expected += microbatches_of(shape, c).count;
            }
            std::map<std::pair<int, int>, std::array<int, 3>> done;
            for (std::size_t i = 0; i < order.size(); ++i) {
                const Task& t = order[i];
                const MicrobatchRange range = microbatches_of(shape, t.chunk);
                ASSERT_LT(t.chunk, shape.chunks) << text(shape);
                ASSERT_TRUE(t.microbatch >= range.first && t.microbatch < range.first + range.count)
                    << text(shape);
                auto& [forward, input, weight] = done[{t.chunk, t.microbatch}];
                if (is_forward(t.pass)) {
                    ++forward;
                }
                if (gives_input_gradient(t.pass)) {
                    ASSERT_EQ(forward, 1) << text(shape);
                    ++input;
                }
                if (gives_weight_gradient(t.pass)) {
                    ASSERT_EQ(input, 1) << text(shape);
                    ++weight;
                }
                if (t.pass == Pass::paired_forward) {
                    ASSERT_EQ(order.at(i + 1).pass, Pass::paired_backward) << text(shape);
                    ASSERT_NE(order.at(i + 1).chunk, t.chunk) << text(shape);
                }
            }
            ASSERT_EQ(done.size(), expected) << text(shape);
            for (const auto& [key, counts] : done) {
                ASSERT_EQ(counts, (std::array{1, 1, 1})) << text(shape);
            }
        }
    }
}

/// Uneven stages, equal and unequal passes, with and without time between stages.
TEST(Schedules, RunToTheEnd)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        const ScheduleReplay replay(shape, orders);
        std::vector<double> slowness;
        for (int stage = 0; stage < shape.stages; ++stage) {
            slowness.push_back(1.0 + 0.25 * (stage * 7 % 5));
        }
        for (const StageTimes& times : {StageTimes{1.0, 1.0, 1.0}, StageTimes{1.0, 1.3, 0.6}}) {
            for (const double transfer : {0.0, 0.4}) {
                const Replayed result = replay.run(stage_seconds(shape, times, slowness), transfer);
                ASSERT_FALSE(result.deadlocked) << text(shape);
                const double slowest = *std::max_element(slowness.begin(), slowness.end());
                EXPECT_GE(result.last_end, slowest * work(shape, times) * (1.0 - 1e-9)) << text(shape);
            }
        }
    }
}

TEST(Schedules, RunToTheEndWhenSendsBlock)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        EXPECT_FALSE(ScheduleReplay(shape, orders).deadlocks_when_sends_block()) << text(shape);
    }
}

/// Where a paper has a formula the replay gives exactly it.
TEST(Schedules, HaveTheKnownBubble)
{
    std::map<Schedule, int> checked;
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        const ScheduleReplay replay(shape, orders);
        for (const StageTimes& times : {StageTimes{1.0, 1.0, 1.0}, StageTimes{1.0, 1.25, 0.75},
                                        StageTimes{1.0, 1.5, 0.5}, StageTimes{1.0, 0.9, 1.1}}) {
            if (const auto known = known_bubble(shape, times)) {
                const Replayed result = replay.run(stage_seconds(shape, times), 0.0);
                EXPECT_NEAR(result.longest_span - work(shape, times), *known, 1e-9 * work(shape, times))
                    << text(shape);
                ++checked[shape.schedule];
            }
        }
    }
    for (const Schedule schedule : all_schedules) {
        const bool has_formula = schedule != Schedule::v_half && schedule != Schedule::v_min;
        EXPECT_EQ(checked[schedule] > 0, has_formula) << name(schedule);
    }
}

/// Formulas as published: Narayanan et al., SC21; Qi et al., arXiv 2401.10241, table 2; deepseek-ai/DualPipe.
TEST(Schedules, KnowThePublishedBubbles)
{
    const StageTimes t{2.0, 3.0, 1.0};
    EXPECT_DOUBLE_EQ(*known_bubble({Schedule::one_f_one_b, 8, 32, 1}, t), 7.0 * 6.0);
    EXPECT_DOUBLE_EQ(*known_bubble({Schedule::interleaved, 8, 32, 4}, t), 7.0 * 6.0 / 4.0);
    EXPECT_DOUBLE_EQ(*known_bubble({Schedule::zb_h1, 8, 32, 1}, t), 7.0 * (2.0 + 3.0 - 1.0));
    EXPECT_DOUBLE_EQ(*known_bubble({Schedule::zb_h2, 8, 32, 1}, t), 7.0 * (2.0 + 3.0 - 2.0));
    EXPECT_DOUBLE_EQ(*known_bubble({Schedule::dualpipe, 8, 32, 2}, {1.0, 1.0, 1.0}), 3.0 * (3.0 + 2.0 - 3.0));
}

/// Less memory, more bubble: V-Min's is two thirds of 1F1B's and a constant (arXiv 2405.15362,
/// authors' table), V-Half's less.
TEST(Schedules, OfLessMemoryHaveLessBubbleThan1F1B)
{
    const StageTimes equal;
    for (const int p : {4, 8, 12, 16}) {
        const auto bubble = [&](Schedule schedule) {
            const ScheduleShape shape{schedule, p, 4 * p, 2};
            const TaskOrders orders = orders_of(shape);
            return ScheduleReplay(shape, orders).run(stage_seconds(shape, equal), 0.0).longest_span -
                   work(shape, equal);
        };
        const double flush = 3.0 * (p - 1);
        EXPECT_LE(bubble(Schedule::v_min), 2.0 / 3.0 * flush + 2.0) << p;
        EXPECT_LE(bubble(Schedule::v_half), 2.0 / 3.0 * flush) << p;
    }
}

/// Largest number of (chunk, microbatch) between forward and weight gradient.
int most_in_flight(const std::vector<Task>& order)
{
    int held = 0;
    int most = 0;
    for (const Task& t : order) {
        held += is_forward(t.pass) ? 1 : 0;
        most = std::max(most, held);
        held -= gives_weight_gradient(t.pass) ? 1 : 0;
    }
    return most;
}

/// 1F1B holds p - s microbatches, GPipe all; interleaved 2 (p - s - 1) + (v - 1) p + 1 chunks, on the first
/// stage 1 + (p - 1) / (p v) times 1F1B's activations (Korthikanti et al., arXiv 2205.05198, section
/// 4.2.3); the others by their papers.
TEST(Schedules, HoldNoMoreThanTheyPromise)
{
    for (const ScheduleShape& shape : defined_shapes()) {
        const TaskOrders orders = orders_of(shape);
        for (int s = 0; s < shape.stages; ++s) {
            EXPECT_LE(most_in_flight(orders[s]), most_held(shape, s)) << text(shape) << " stage " << s;
        }
        const bool exact = shape.schedule == Schedule::gpipe || shape.schedule == Schedule::one_f_one_b ||
                           (shape.schedule == Schedule::interleaved && shape.group == 0);
        for (int s = 0; exact && s < shape.stages; ++s) {
            EXPECT_EQ(most_in_flight(orders[s]), most_held(shape, s)) << text(shape) << " stage " << s;
        }
        for (int s = 0; s < shape.stages; ++s) {
            const int of_microbatch = shape.chunks / facts_of(shape.schedule).model_copies;
            EXPECT_GE(most_in_flight(orders[s]), least_held(shape, s) * of_microbatch)
                << text(shape) << " stage " << s;
        }
        if (shape.schedule == Schedule::interleaved && shape.group == 0 &&
            shape.microbatches > shape.stages) {
            const double stages_worth = most_in_flight(orders[0]) / static_cast<double>(shape.chunks);
            const double p = shape.stages;
            EXPECT_NEAR(stages_worth / p, 1.0 + (p - 1.0) / (p * shape.chunks), 1e-12) << text(shape);
        }
    }
    const auto held = [](Schedule schedule, int v) {
        return most_held({schedule, 8, 64, v}, 0) / static_cast<double>(v);
    };
    EXPECT_EQ(held(Schedule::zb_h1, 1), 8);
    EXPECT_EQ(held(Schedule::zb_h2, 1), 15);
    EXPECT_EQ(held(Schedule::zb_v, 2), 8);
    EXPECT_EQ(held(Schedule::v_half, 2), 5);
    EXPECT_EQ(held(Schedule::v_min, 2), 4);
}

/// Every position has the neighbours that its chunk of the network has.
TEST(Schedules, DealOutTheNetworkWhole)
{
    for (const ScheduleShape& shape :
         {ScheduleShape{Schedule::interleaved, 4, 8, 3}, ScheduleShape{Schedule::zb_v, 5, 10, 2},
          ScheduleShape{Schedule::dualpipe, 6, 12, 2}}) {
        const int all_chunks = network_chunks(shape.schedule, shape.stages, shape.chunks);
        std::vector<int> holders(all_chunks, 0);
        for (int stage = 0; stage < shape.stages; ++stage) {
            for (int chunk = 0; chunk < shape.chunks; ++chunk) {
                const int place = network_chunk_of(shape, {stage, chunk});
                ++holders.at(place);
                for (const int step : {-1, 1}) {
                    const auto next = neighbour(shape, {stage, chunk}, step);
                    ASSERT_EQ(next.has_value(), place + step >= 0 && place + step < all_chunks)
                        << text(shape);
                    if (next) {
                        EXPECT_EQ(network_chunk_of(shape, *next), place + step) << text(shape);
                        EXPECT_EQ(neighbour(shape, *next, -step), (StageChunk{stage, chunk})) << text(shape);
                    }
                }
            }
        }
        for (const int count : holders) {
            EXPECT_EQ(count * all_chunks, shape.stages * shape.chunks) << text(shape);
        }
    }
}

TEST(Schedules, RefuseWhatTheyAreNotDefinedFor)
{
    struct Refused {
        ScheduleShape shape;
        Conflict conflict;
        Facts facts = {};  // beside the schedule
    };
    const auto microbatches = [](int count) { return Fact(FactKey::microbatches, count); };
    const auto stages = [](int count) { return Fact(FactKey::pp, count); };
    const auto group = [](int size) { return Fact(FactKey::group, size); };
    for (const Refused& r :
         std::vector<Refused>{{{Schedule::interleaved, 4, 6, 2},
                               Conflict::microbatches_and_stages,
                               {microbatches(6), stages(4)}},
                              {{Schedule::interleaved, 4, 3, 2},
                               Conflict::microbatches_and_stages,
                               {microbatches(3), stages(4)}},
                              {{Schedule::interleaved, 4, 8, 2, 2},
                               Conflict::group_below_stages,
                               {group(2), stages(4), microbatches(8)}},
                              {{Schedule::interleaved, 4, 5, 3, 4},
                               Conflict::last_group_below_stages,
                               {group(4), {FactKey::last_group, 1}, microbatches(5), stages(4)}},
                              {{Schedule::interleaved, 4, 8, 1}, Conflict::needs_stages_and_chunks},
                              {{Schedule::interleaved, 1, 8, 2}, Conflict::needs_stages},
                              {{Schedule::one_f_one_b, 4, 8, 2}, Conflict::needs_one_chunk},
                              {{Schedule::one_f_one_b, 4, 8, 1, 4}, Conflict::has_no_group},
                              {{Schedule::gpipe, 4, 8, 2}, Conflict::needs_one_chunk},
                              {{Schedule::zb_h1, 1, 8, 1}, Conflict::needs_stages},
                              {{Schedule::zb_v, 4, 8, 1}, Conflict::needs_two_chunks},
                              {{Schedule::v_min, 4, 8, 4}, Conflict::needs_two_chunks},
                              {{Schedule::dualpipe, 3, 8, 2},
                               Conflict::odd_stages_or_microbatches,
                               {stages(3), microbatches(8)}},
                              {{Schedule::dualpipe, 4, 9, 2},
                               Conflict::odd_stages_or_microbatches,
                               {stages(4), microbatches(9)}},
                              {{Schedule::dualpipe, 4, 6, 2},
                               Conflict::too_few_microbatches,
                               {{FactKey::least, 8}, microbatches(6)}},
                              {{Schedule::dualpipe_v, 4, 7, 2},
                               Conflict::too_few_microbatches,
                               {{FactKey::least, 8}, microbatches(7)}}}) {
        const auto result = task_orders(r.shape);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(result)) << text(r.shape);
        const auto& why = std::get<Infeasible>(result);
        EXPECT_EQ(why.reason(), Reason::schedule_undefined);
        EXPECT_EQ(name(why.conflict), name(r.conflict)) << text(r.shape);
        Facts facts{{FactKey::schedule, r.shape.schedule}};
        facts.insert(facts.end(), r.facts.begin(), r.facts.end());
        EXPECT_EQ(why.facts, facts) << text(r.shape);
    }
}

TEST(Schedule, RefusesWhatItsIndicesCannotName)
{
    for (const ScheduleShape& shape : {ScheduleShape{Schedule::one_f_one_b, 4, 65536, 1},
                                       ScheduleShape{Schedule::one_f_one_b, 1024, 65000, 1}}) {
        const auto orders = task_orders(shape);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(orders));
        EXPECT_EQ(std::get<Infeasible>(orders).reason(), Reason::pipeline_too_long);
    }
    EXPECT_TRUE(std::holds_alternative<TaskOrders>(task_orders({Schedule::one_f_one_b, 1, 65535, 1})));
}

}  // namespace
}  // namespace prismopt

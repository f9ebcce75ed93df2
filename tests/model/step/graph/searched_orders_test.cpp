#include "model/step/graph/searched_orders.hpp"

#include "model/step/graph/mean_step.hpp"

#include "tests/support/random_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace prismopt {
namespace {

/// Every pass of every chunk takes as long as `seconds` says; no transfers.
template <class Seconds>
ExecutionGraph graph_with(const ScheduleShape& shape, Seconds&& seconds)
{
    ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
    for (OpDistribution& distribution : graph.distribution) {
        distribution.compute_s = seconds();
    }
    return graph;
}

double step_of(ExecutionGraph graph, const TaskOrders& orders)
{
    graph.program = std::get<std::shared_ptr<const Program>>(compile_program(graph.program->shape, orders));
    if (!graph.ahead_s.empty()) {
        graph.ahead_s = idle_before(graph);
    }
    return noise_free_step(graph).step_s;
}

/// Orders that the search found, which must be whole and run.
TaskOrders search(const ExecutionGraph& graph, int most_held, double for_weights = 1.0)
{
    const auto found = searched_orders(graph, {most_held, for_weights});
    const auto checked = orders_on_stages(graph.program->shape, std::get<ChunkOrders>(found));
    return std::get<TaskOrders>(checked);
}

double held_at_most(const TaskOrders& orders, double for_weights = 1.0)
{
    double most = 0.0;
    for (const auto& order : orders) {
        double held = 0.0;
        for (const Task& task : order) {
            held += is_forward(task.pass) ? 1.0 : 0.0;
            most = std::max(most, held);
            held -= task.pass == Pass::input_gradient    ? 1.0 - for_weights
                    : task.pass == Pass::weight_gradient ? for_weights
                                                         : 0.0;
        }
    }
    return most;
}

int promised(const ScheduleShape& shape)
{
    int most = 0;
    for (int stage = 0; stage < shape.stages; ++stage) {
        most = std::max(most, most_held(shape, stage));
    }
    return most;
}

/// For all limits: no more held than allowed; where the rule fits, no longer than it.
TEST(SearchedOrders, KeepToTheLimitAndBeatTheRule)
{
    std::mt19937_64 random(3);
    std::uniform_real_distribution<float> uniform(0.5F, 1.5F);
    int shorter = 0;
    for (const ScheduleShape& shape :
         {ScheduleShape{Schedule::zb_h1, 4, 12, 1}, ScheduleShape{Schedule::zb_h2, 4, 3, 1},
          ScheduleShape{Schedule::zb_h2, 5, 11, 1}, ScheduleShape{Schedule::zb_v, 4, 9, 2},
          ScheduleShape{Schedule::v_half, 4, 9, 2}, ScheduleShape{Schedule::v_min, 3, 9, 2}}) {
        ExecutionGraph graph = graph_with(shape, [&] { return uniform(random); });
        for (const bool validated_later : {false, true}) {
            graph.ahead_s = validated_later ? idle_before(graph) : std::vector<float>{};
            const double rule = noise_free_step(graph).step_s;
            for (int limit = least_held(shape); limit <= promised(shape) + 2; ++limit) {
                const TaskOrders orders = search(graph, limit);
                EXPECT_LE(held_at_most(orders), limit) << name(shape.schedule);
                const double step_s = step_of(graph, orders);
                if (limit >= promised(shape)) {
                    EXPECT_LE(step_s, rule * (1.0 + 1e-12)) << name(shape.schedule);
                    shorter += step_s < 0.999 * rule ? 1 : 0;
                }
            }
        }
    }
    EXPECT_GT(shorter, 12);  // of 36: times are unequal
}

/// Qi et al., arXiv 2401.10241, table 2, with F = B = W = 1: (p - 1) with what
/// 1F1B holds, nothing with 2p - 1.
TEST(SearchedOrders, HaveTheKnownBubblesWithEqualTimes)
{
    constexpr int p = 4;
    constexpr int m = 12;
    ExecutionGraph graph = graph_with({Schedule::zb_h1, p, m, 1}, [] { return 1.0F; });
    graph.ahead_s = idle_before(graph);
    EXPECT_LE(step_of(graph, search(graph, p)), 3.0 * m + p - 1);
    EXPECT_EQ(step_of(graph, search(graph, 2 * p - 1)), 3.0 * m);
    // One microbatch at a time: each waits for the whole way of the one before, less what
    // its last weight gradient hides.
    EXPECT_GE(step_of(graph, search(graph, 1)), m * 2.0 * p);
}

/// Where the gradient of the input frees half of the activations, more weight gradients can wait for gaps.
TEST(SearchedOrders, UseTheMemoryThatInputGradientsFree)
{
    constexpr int p = 6;
    ExecutionGraph graph = graph_with({Schedule::zb_h2, p, 24, 1}, [] { return 1.0F; });
    for (int stage = 0; stage < p; ++stage) {
        graph.distribution[graph.distribution_at(stage, Pass::weight_gradient)].compute_s = 0.6F;
    }
    graph.ahead_s = idle_before(graph);
    const TaskOrders whole = search(graph, 2 * p);
    const TaskOrders freed = search(graph, 2 * p, 0.5);
    EXPECT_LE(held_at_most(whole), 2 * p);
    EXPECT_LE(held_at_most(freed, 0.5), 2 * p + 1e-9);
    EXPECT_GT(held_at_most(freed), 2 * p);
    EXPECT_LT(step_of(graph, freed), 0.98 * step_of(graph, whole));
}

/// The limit is what counts, not the name: v_min with the memory of zb_v is no
/// longer than it, whatever the times.
TEST(SearchedOrders, BeatAllRulesOfTheSameChunks)
{
    std::mt19937_64 random(5);
    for (const auto& [named, other] :
         {std::pair{Schedule::v_min, Schedule::zb_v}, std::pair{Schedule::v_min, Schedule::v_half},
          std::pair{Schedule::zb_h1, Schedule::zb_h2}}) {
        const int chunks = other == Schedule::zb_h2 ? 1 : 2;
        for (int repeat = 0; repeat < 5; ++repeat) {
            const ScheduleShape beaten{other, 4, 9, chunks};
            const ExecutionGraph graph = random_graph({named, 4, 9, chunks}, DataParallelOverlap::on, random);
            const double rule = step_of(graph, std::get<TaskOrders>(task_orders(beaten)));
            EXPECT_LE(step_of(graph, search(graph, promised(beaten))), rule) << name(other);
        }
    }
}

/// A vee may use what it is given: v_min with the memory of zb_v, which has no
/// bubble with equal times (section 6).
TEST(SearchedOrders, OfAVeeAreAsShortAsTheMemoryAllows)
{
    const ScheduleShape shape{Schedule::v_min, 4, 12, 2};
    const ScheduleShape whole{Schedule::zb_v, 4, 12, 2};
    ExecutionGraph graph = graph_with(shape, [] { return 0.5F; });
    graph.ahead_s = idle_before(graph);
    const double own = noise_free_step(graph).step_s;
    EXPECT_LE(step_of(graph, search(graph, promised(shape))), own);
    EXPECT_GT(own, 3.0 * 12);
    EXPECT_EQ(step_of(graph, search(graph, promised(whole))), 3.0 * 12);
}

TEST(SearchedOrders, SayWhyThereAreNone)
{
    const auto why_not = [](const ScheduleShape& shape, int limit) {
        const auto found = searched_orders(graph_with(shape, [] { return 1.0F; }), {limit});
        return std::get<Infeasible>(found);
    };
    const Infeasible whole = why_not({Schedule::one_f_one_b, 4, 8, 1}, 4);
    EXPECT_EQ(whole.conflict, Conflict::no_orders_to_search);
    EXPECT_EQ(whole.facts, (Facts{{FactKey::schedule, Schedule::one_f_one_b}}));
    const Infeasible nothing = why_not({Schedule::zb_h1, 4, 8, 1}, 0);
    EXPECT_EQ(nothing.conflict, Conflict::held_limit);
    EXPECT_EQ(nothing.facts, (Facts{{FactKey::rank, 0},
                                    {FactKey::chunk, 0},
                                    {FactKey::microbatch, 0},
                                    {FactKey::held, 0},
                                    {FactKey::schedule, Schedule::zb_h1},
                                    {FactKey::pp, 4},
                                    {FactKey::least, 1}}));
    const ScheduleShape vee{Schedule::zb_v, 4, 9, 2};
    const Infeasible little = why_not(vee, least_held(vee) - 1);
    EXPECT_EQ(little.conflict, Conflict::held_limit);
    const auto number = [&little](FactKey key) { return std::get<std::int64_t>(*little.find(key)); };
    EXPECT_LT(number(FactKey::rank), 4);
    EXPECT_LT(number(FactKey::chunk), 2);
    EXPECT_EQ(number(FactKey::least), least_held(vee));
}

}  // namespace
}  // namespace prismopt

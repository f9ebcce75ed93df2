#include "model/schedule/given_orders.hpp"

#include "tests/support/example_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace prismopt {
namespace {

const std::vector<ScheduleShape>& one_of_each()
{
    static const std::vector<ScheduleShape> shapes{
        {Schedule::gpipe, 4, 6, 1},     {Schedule::one_f_one_b, 4, 9, 1}, {Schedule::interleaved, 4, 8, 3},
        {Schedule::zb_h1, 4, 9, 1},     {Schedule::zb_h2, 4, 9, 1},       {Schedule::zb_v, 4, 9, 2},
        {Schedule::v_half, 4, 9, 2},    {Schedule::v_min, 4, 9, 2},       {Schedule::dualpipe, 4, 10, 2},
        {Schedule::dualpipe_v, 4, 9, 2}};
    return shapes;
}

ChunkOrders chunk_orders_of(const ScheduleShape& shape)
{
    return chunk_orders(*std::get<std::shared_ptr<const Program>>(compiled_program(shape)));
}

std::optional<Infeasible> why_not(const ScheduleShape& shape, const ChunkOrders& orders)
{
    const auto result = orders_on_stages(shape, orders);
    const auto* refusal = std::get_if<Infeasible>(&result);
    return refusal != nullptr ? std::optional(*refusal) : std::nullopt;
}

/// The orders are refused for this conflict of a task on a rank, with these further facts.
void expect_refused(const ScheduleShape& shape, const ChunkOrders& orders, Conflict conflict, int rank,
                    const std::string& task, const Facts& more = {})
{
    const auto why = why_not(shape, orders);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->reason(), Reason::given_orders);
    EXPECT_EQ(name(why->conflict), name(conflict));
    Facts facts{{FactKey::rank, rank}, {FactKey::task, task}};
    facts.insert(facts.end(), more.begin(), more.end());
    EXPECT_EQ(why->facts, facts) << name(conflict);
}

TEST(GivenOrders, ComeBackAsTheScheduleMadeThem)
{
    for (const ScheduleShape& shape : one_of_each()) {
        const auto back = orders_on_stages(shape, chunk_orders_of(shape));
        ASSERT_TRUE(std::holds_alternative<TaskOrders>(back))
            << name(shape.schedule) << name(std::get<Infeasible>(back).conflict);
        EXPECT_EQ(std::get<TaskOrders>(back), std::get<TaskOrders>(task_orders(shape)))
            << name(shape.schedule);
    }
}

/// An order of its own for a plan: one microbatch after the other, so the step takes m times the
/// pass of one through all stages.
TEST(GivenOrders, AreRunInsteadOfTheSchedule)
{
    constexpr int m = 4;
    Problem problem = example_problem({}, m, std::array{2});
    const ParallelPlan plan = plan_of(2, 4, 1);
    Predictor rule(problem);
    const double flushed = std::get<NoiseFree>(rule.bound(plan)).step_s;
    ChunkOrders orders(plan.pp);
    for (int microbatch = 0; microbatch < m; ++microbatch) {
        for (int stage = 0; stage < plan.pp; ++stage) {
            orders[stage].push_back({Pass::forward, stage, microbatch});
            orders[stage].push_back({Pass::backward, stage, microbatch});
        }
    }
    problem.orders = std::make_shared<const ChunkOrders>(orders);
    Predictor given(problem);
    const double serial = std::get<NoiseFree>(given.bound(plan)).step_s;

    problem.orders = nullptr;
    const ExecutionGraph graph = graph_of(problem, plan);
    double passes = 0.0;
    for (int stage = 0; stage < plan.pp; ++stage) {
        for (const Pass pass : {Pass::forward, Pass::backward}) {
            const OpDistribution& distribution = graph.distribution[graph.distribution_at(stage, pass)];
            const bool arrives = is_forward(pass) ? stage > 0 : stage + 1 < plan.pp;
            passes += static_cast<double>(distribution.compute_s) + distribution.communication_s +
                      (arrives ? distribution.transfer_s : 0.0);
        }
    }
    EXPECT_GT(serial, 1.2 * flushed);
    const double optimizer = *std::max_element(graph.optimizer_s.begin(), graph.optimizer_s.end());
    // Single precision, for which bounds leave 1e-5.
    EXPECT_NEAR(serial, m * passes + optimizer, 2e-5 * serial);
}

TEST(GivenOrders, SayWhichTaskOfWhichRankIsWrong)
{
    const ScheduleShape shape{Schedule::zb_h1, 2, 3, 1};
    const Facts plan{{FactKey::schedule, shape.schedule}, {FactKey::pp, 2}, {FactKey::chunks, 1}};
    const ChunkOrders good = chunk_orders_of(shape);
    EXPECT_FALSE(why_not(shape, good));

    ChunkOrders twice = good;
    twice[1].push_back({Pass::forward, 1, 2});
    expect_refused(shape, twice, Conflict::task_twice, 1, "1F2");

    ChunkOrders both = good;
    both[0].push_back({Pass::backward, 0, 1});
    expect_refused(shape, both, Conflict::task_repeats, 0, "0B1", {{FactKey::repeated, std::string("0I1")}});

    ChunkOrders less = good;
    std::erase(less[0], ChunkTask{Pass::weight_gradient, 0, 2});
    expect_refused(shape, less, Conflict::gradient_missing, 0, "0W2", {{FactKey::microbatches, 3}});
    std::erase(less[0], ChunkTask{Pass::forward, 0, 1});
    expect_refused(shape, less, Conflict::forward_missing, 0, "0F1", {{FactKey::microbatches, 3}});

    ChunkOrders elsewhere = good;
    std::swap(elsewhere[0], elsewhere[1]);
    Facts owner{{FactKey::owner, 1}};
    owner.insert(owner.end(), plan.begin(), plan.end());
    expect_refused(shape, elsewhere, Conflict::task_of_other_rank, 0, "1F0", owner);

    ChunkOrders unknown_chunk = good;
    unknown_chunk[1].push_back({Pass::forward, 2, 0});
    Facts network_chunks{{FactKey::stage, 2}};
    network_chunks.insert(network_chunks.end(), plan.begin(), plan.end());
    network_chunks.emplace_back(FactKey::network_chunks, 2);
    expect_refused(shape, unknown_chunk, Conflict::task_of_no_stage, 1, "2F0", network_chunks);

    ChunkOrders microbatch = good;
    microbatch[1].push_back({Pass::forward, 1, 3});
    expect_refused(shape, microbatch, Conflict::task_of_no_microbatch, 1, "1F3",
                   {{FactKey::microbatch, 3}, {FactKey::microbatches, 3}});

    ChunkOrders ranks = good;
    ranks.emplace_back();
    EXPECT_EQ(why_not(shape, ranks)->conflict, Conflict::ranks_and_stages);
    EXPECT_EQ(why_not(shape, ranks)->facts, (Facts{{FactKey::ranks, 3}, {FactKey::pp, 2}}));

    ChunkOrders pair = good;
    const auto first = std::find(pair[1].begin(), pair[1].end(), ChunkTask{Pass::input_gradient, 1, 0});
    first->pass = Pass::paired_backward;
    expect_refused(shape, pair, Conflict::pair_of_one_chunk, 1, "1B0");
    pair = good;
    pair[1].front().pass = Pass::paired_forward;
    expect_refused(shape, pair, Conflict::pair_without_backward, 1, "1F0");
}

/// A rank of a cycle: its task waits for one of another rank, which comes after `after`.
Facts wait(int rank, const std::string& task, int other, const std::string& needed, const std::string& after)
{
    return {{FactKey::rank, rank},
            {FactKey::task, task},
            {FactKey::waits_for_rank, other},
            {FactKey::waits_for, needed},
            {FactKey::after, after}};
}

TEST(GivenOrders, NameTheCircleOfTasksThatWait)
{
    const ScheduleShape shape{Schedule::one_f_one_b, 2, 2, 1};
    // Rank 0 wants the gradient of microbatch 0 before it sends microbatch 1, which rank 1 wants first.
    const ChunkOrders two{
        {{Pass::forward, 0, 0}, {Pass::backward, 0, 0}, {Pass::forward, 0, 1}, {Pass::backward, 0, 1}},
        {{Pass::forward, 1, 0}, {Pass::forward, 1, 1}, {Pass::backward, 1, 0}, {Pass::backward, 1, 1}}};
    const auto both = why_not(shape, two);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->conflict, Conflict::tasks_in_cycle);
    Facts facts = wait(0, "0B0", 1, "1B0", "1F1");
    const Facts second = wait(1, "1F1", 0, "0F1", "0B0");
    facts.insert(facts.end(), second.begin(), second.end());
    EXPECT_EQ(both->facts, facts);
    // A rank alone, with the others waiting for it.
    const ChunkOrders one{
        {{Pass::forward, 0, 0}, {Pass::forward, 0, 1}, {Pass::backward, 0, 0}, {Pass::backward, 0, 1}},
        {{Pass::backward, 1, 0}, {Pass::forward, 1, 0}, {Pass::forward, 1, 1}, {Pass::backward, 1, 1}}};
    const auto alone = why_not(shape, one);
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->conflict, Conflict::tasks_in_cycle);
    EXPECT_EQ(alone->facts, wait(1, "1B0", 1, "1F0", "1B0"));
}

}  // namespace
}  // namespace prismopt

#include "model/schedule/given_orders.hpp"

#include "tests/support/example_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<ScheduleShape>& one_of_each()
{
    static const std::vector<ScheduleShape> shapes{
        {Schedule::gpipe, 4, 6, 1},     {Schedule::one_f_one_b, 4, 9, 1}, {Schedule::interleaved, 4, 8, 3},
        {Schedule::zb_h1, 4, 9, 1},     {Schedule::zb_h2, 4, 9, 1},       {Schedule::zb_v, 4, 9, 2},
        {Schedule::v_half, 4, 9, 2},    {Schedule::v_min, 4, 9, 2},       {Schedule::dualpipe, 4, 10, 2},
        {Schedule::dualpipe_v, 4, 9, 2}};
    return shapes;
}

PartOrders parts_of(const ScheduleShape& shape)
{
    return part_orders(*std::get<std::shared_ptr<const Program>>(compiled_program(shape)));
}

std::string why_not(const ScheduleShape& shape, const PartOrders& orders)
{
    const auto result = orders_on_stages(shape, orders);
    const auto* refusal = std::get_if<Infeasible>(&result);
    return refusal != nullptr ? refusal->detail : "";
}

TEST(GivenOrders, ComeBackAsTheScheduleMadeThem)
{
    for (const ScheduleShape& shape : one_of_each()) {
        const auto back = orders_on_stages(shape, parts_of(shape));
        ASSERT_TRUE(std::holds_alternative<TaskOrders>(back))
            << name(shape.schedule) << std::get<Infeasible>(back).detail;
        EXPECT_EQ(std::get<TaskOrders>(back), std::get<TaskOrders>(task_orders(shape)))
            << name(shape.schedule);
    }
}

/// An order of its own for a plan: one microbatch after the other, so the step takes m times the pass of one through all stages.
TEST(GivenOrders, AreRunInsteadOfTheSchedule)
{
    constexpr int m = 4;
    Problem problem = example_problem({}, m, std::array{2});
    const ParallelPlan plan = plan_of(2, 4, 1);
    Predictor rule(problem);
    const double flushed = std::get<NoiseFree>(rule.bound(plan)).step_s;
    PartOrders orders(plan.pp);
    for (int microbatch = 0; microbatch < m; ++microbatch) {
        for (int stage = 0; stage < plan.pp; ++stage) {
            orders[stage].push_back({Pass::forward, stage, microbatch});
            orders[stage].push_back({Pass::backward, stage, microbatch});
        }
    }
    problem.orders = std::make_shared<const PartOrders>(orders);
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
    EXPECT_NEAR(serial, m * passes + optimizer,
                2e-5 * serial);  // single precision, for which bounds leave 1e-5
}

TEST(GivenOrders, SayWhichTaskOfWhichRankIsWrong)
{
    const ScheduleShape shape{Schedule::zb_h1, 2, 3, 1};
    const PartOrders good = parts_of(shape);
    EXPECT_EQ(why_not(shape, good), "");

    PartOrders twice = good;
    twice[1].push_back({Pass::forward, 1, 2});
    EXPECT_THAT(why_not(shape, twice), HasSubstr("rank 1: 1F2 is listed twice"));

    PartOrders both = good;
    both[0].push_back({Pass::backward, 0, 1});
    EXPECT_THAT(why_not(shape, both), HasSubstr("rank 0: 0B1 repeats 0I1"));

    PartOrders less = good;
    std::erase(less[0], PartTask{Pass::weight_gradient, 0, 2});
    EXPECT_THAT(why_not(shape, less), HasSubstr("rank 0: 0W2 is missing"));

    PartOrders elsewhere = good;
    std::swap(elsewhere[0], elsewhere[1]);
    EXPECT_THAT(why_not(shape, elsewhere), HasSubstr("rank 0: 1F0 belongs to rank 1"));

    PartOrders part = good;
    part[1].push_back({Pass::forward, 2, 0});
    EXPECT_THAT(why_not(shape, part), AllOf(HasSubstr("rank 1: 2F0"), HasSubstr("(0 .. 1)")));

    PartOrders microbatch = good;
    microbatch[1].push_back({Pass::forward, 1, 3});
    EXPECT_THAT(why_not(shape, microbatch), AllOf(HasSubstr("rank 1: 1F3"), HasSubstr("the plan has 3")));

    PartOrders ranks = good;
    ranks.emplace_back();
    EXPECT_THAT(why_not(shape, ranks), HasSubstr("orders of 3 ranks, but pp=2"));

    PartOrders pair = good;
    const auto first = std::find(pair[1].begin(), pair[1].end(), PartTask{Pass::input_gradient, 1, 0});
    first->pass = Pass::paired_backward;
    EXPECT_THAT(why_not(shape, pair), HasSubstr("rank 1: 1B0 overlaps a forward"));
    pair = good;
    pair[1].front().pass = Pass::paired_forward;
    EXPECT_THAT(why_not(shape, pair),
                HasSubstr("rank 1: 1F0 overlaps a backward pass that does not come next"));
}

TEST(GivenOrders, NameTheCircleOfTasksThatWait)
{
    const ScheduleShape shape{Schedule::one_f_one_b, 2, 2, 1};
    // Rank 0 wants the gradient of microbatch 0 before it sends microbatch 1, which rank 1 wants first.
    const PartOrders two{
        {{Pass::forward, 0, 0}, {Pass::backward, 0, 0}, {Pass::forward, 0, 1}, {Pass::backward, 0, 1}},
        {{Pass::forward, 1, 0}, {Pass::forward, 1, 1}, {Pass::backward, 1, 0}, {Pass::backward, 1, 1}}};
    EXPECT_THAT(why_not(shape, two),
                AllOf(HasSubstr("rank 0's 0B0 waits for rank 1's 1B0, which comes after 1F1"),
                      HasSubstr("rank 1's 1F1 waits for rank 0's 0F1, which comes after 0B0")));
    // A rank alone, with the others waiting for it.
    const PartOrders one{
        {{Pass::forward, 0, 0}, {Pass::forward, 0, 1}, {Pass::backward, 0, 0}, {Pass::backward, 0, 1}},
        {{Pass::backward, 1, 0}, {Pass::forward, 1, 0}, {Pass::forward, 1, 1}, {Pass::backward, 1, 1}}};
    EXPECT_EQ(why_not(shape, one),
              "tasks wait for each other in a cycle: rank 1's 1B0 waits for rank 1's 1F0, which comes after "
              "1B0; move one of them");
}

}  // namespace
}  // namespace prismopt

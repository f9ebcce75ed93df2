#include "optimizer/parallel/work_item.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Sweep sweep()
{
    return {{10, 1ULL << 40},
            {{11, {1.5, -infinity}}, {1ULL << 39, {0.1, 2.0}}},
            {{"out of memory", 3, 2.5e9, "80 GB needed (tp=8)"}, {"", 0, infinity, ""}}};
}

Evaluation evaluation()
{
    return {1ULL << 33, 2, 4096, {{1.0, 0.9, 1.1, 0.5, infinity}, Estimate::exact(64.0)}};
}

TEST(WorkItem, SweepRangeComesBack)
{
    const SweepRange range{
        .begin = 3, .end = 1ULL << 50, .keep = 7, .again = true, .limits = {{1.0, infinity}, {2.0, 0.5}}};
    const auto back = std::get<SweepRange>(decode_item(encode(WorkItem{range})));
    EXPECT_EQ(back.begin, 3U);
    EXPECT_EQ(back.end, 1ULL << 50);
    EXPECT_EQ(back.keep, 7U);
    EXPECT_TRUE(back.again);
    EXPECT_EQ(back.limits, range.limits);
}

TEST(WorkItem, DrawBlockComesBack)
{
    const DrawBlock block{{1ULL << 50, 3}, {128, 64, 7}, {Purpose::confirm, 3}};
    const auto back = std::get<DrawBlock>(decode_item(encode(WorkItem{block})));
    EXPECT_EQ(back.points, block.points);
    EXPECT_EQ(back.range.first_fleet, 128);
    EXPECT_EQ(back.range.fleets, 64);
    EXPECT_EQ(back.range.steps, 7);
    EXPECT_EQ(back.source, (DrawSource{Purpose::confirm, 3}));
}

TEST(WorkItem, DrawsComeBackBitForBit)
{
    const std::vector<PhaseDraws> draws{{{0.1, 1.0 / 3.0, 5e-324}, {}, {infinity, -0.0}}, {{1.0}}, {}};
    const std::vector<PhaseDraws> back = decode_draws(encode(draws));
    EXPECT_EQ(back, draws);
    EXPECT_TRUE(std::signbit(back[0][2][1]));
    EXPECT_TRUE(decode_draws(encode(std::vector<PhaseDraws>{})).empty());
}

TEST(WorkItem, JudgementComesBack)
{
    const Judgement judgement{
        .point = {.index = 1ULL << 40, .rung = 3, .source = {Purpose::limits, 2}, .miss = 0.0},
        .steps = 7,
        .confidence = {0.9, 0.999, 1.5},
        .for_front = true,
        .draws = {{1.0, infinity}, {}}};
    const auto back = std::get<Judgement>(decode_item(encode(WorkItem{judgement})));
    EXPECT_EQ(back.point.index, 1ULL << 40);
    EXPECT_EQ(back.point.rung, 3);
    EXPECT_EQ(back.point.source, judgement.point.source);
    EXPECT_EQ(back.steps, 7);
    EXPECT_EQ(back.confidence.reported, 0.9);
    EXPECT_EQ(back.confidence.simultaneous, 0.999);
    EXPECT_EQ(back.confidence.skewness, 1.5);
    EXPECT_TRUE(back.for_front);
    EXPECT_EQ(back.draws, judgement.draws);
}

TEST(WorkItem, FactsComeBack)
{
    const FactsRequest request{FactsRequest::Kind::gradients, {1ULL << 50, 3}};
    const auto asked = std::get<FactsRequest>(decode_item(encode(WorkItem{request})));
    EXPECT_EQ(asked.kind, request.kind);
    EXPECT_EQ(asked.points, request.points);
    const std::vector<PlanFacts> facts{{{1.0, -infinity}, infinity, {0.5}, -0.25, {0.1, std::nullopt}}, {}};
    const auto back = decode<std::vector<PlanFacts>>(encode(facts));
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].estimates, facts[0].estimates);
    EXPECT_EQ(back[0].memory_share, infinity);
    EXPECT_EQ(back[0].gradient, facts[0].gradient);
    EXPECT_EQ(back[0].shift, -0.25);
    EXPECT_EQ(back[0].by_software, facts[0].by_software);
}

TEST(WorkItem, SweepComesBack)
{
    Sweep sent = sweep();
    sent.range.again = true;
    sent.excluded = 11;
    sent.unreturned = 12;
    sent.floor = {{0.5, -infinity}};
    const auto back = std::get<Sweep>(decode_answer(encode(Answer{sent})));
    EXPECT_TRUE(back.range.again);
    EXPECT_EQ(back.excluded, 11U);
    EXPECT_EQ(back.unreturned, 12U);
    EXPECT_EQ(back.floor, sent.floor);
    EXPECT_EQ(back.range.begin, sent.range.begin);
    EXPECT_EQ(back.range.end, sent.range.end);
    ASSERT_EQ(back.feasible.size(), sent.feasible.size());
    for (std::size_t i = 0; i < sent.feasible.size(); ++i) {
        EXPECT_EQ(back.feasible[i].index, sent.feasible[i].index);
        EXPECT_EQ(back.feasible[i].objectives, sent.feasible[i].objectives);
    }
    ASSERT_EQ(back.rejected.size(), sent.rejected.size());
    for (std::size_t i = 0; i < sent.rejected.size(); ++i) {
        EXPECT_EQ(back.rejected[i].reason, sent.rejected[i].reason);
        EXPECT_EQ(back.rejected[i].count, sent.rejected[i].count);
        EXPECT_EQ(back.rejected[i].miss, sent.rejected[i].miss);
        EXPECT_EQ(back.rejected[i].nearest, sent.rejected[i].nearest);
    }
}

TEST(WorkItem, EvaluationComesBack)
{
    const Evaluation sent = evaluation();
    const auto back = std::get<Evaluation>(decode_answer(encode(Answer{sent})));
    EXPECT_EQ(back.index, sent.index);
    EXPECT_EQ(back.rung, sent.rung);
    EXPECT_EQ(back.draws, sent.draws);
    ASSERT_EQ(back.objectives.size(), sent.objectives.size());
    for (std::size_t k = 0; k < sent.objectives.size(); ++k) {
        EXPECT_EQ(back.objectives[k].value, sent.objectives[k].value);
        EXPECT_EQ(back.objectives[k].low, sent.objectives[k].low);
        EXPECT_EQ(back.objectives[k].high, sent.objectives[k].high);
        EXPECT_EQ(back.objectives[k].simultaneous_low, sent.objectives[k].simultaneous_low);
        EXPECT_EQ(back.objectives[k].simultaneous_high, sent.objectives[k].simultaneous_high);
    }
}

/// A record that ends early is an error wherever it ends, not a read beyond it.
TEST(WorkItem, EveryCutIsNoticed)
{
    for (const Answer& answer : {Answer{sweep()}, Answer{evaluation()}}) {
        const Message whole = encode(answer);
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
            EXPECT_THROW(decode_answer(std::span(whole).first(bytes)), std::runtime_error) << bytes;
        }
    }
}

}  // namespace
}  // namespace prismopt

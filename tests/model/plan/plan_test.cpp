#include "model/plan/plan.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

template <class Enum>
void expect_round_trip(std::initializer_list<Enum> all)
{
    std::string names;
    for (const Enum value : all) {
        EXPECT_EQ(parse<Enum>(name(value)), value) << name(value);
        names += (names.empty() ? "" : ", ") + std::string(name(value));
    }
    EXPECT_EQ(choices<Enum>(), names);
    EXPECT_EQ(parse<Enum>("no such name"), std::nullopt);
    EXPECT_EQ(parse<Enum>(""), std::nullopt);
}

TEST(Names, AreReadBack)
{
    expect_round_trip({Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1,
                       Schedule::zb_h2, Schedule::zb_v, Schedule::v_half, Schedule::v_min, Schedule::dualpipe,
                       Schedule::dualpipe_v});
    expect_round_trip({PostValidation::off, PostValidation::on});
    expect_round_trip({Recompute::none, Recompute::selective, Recompute::full});
    expect_round_trip({Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
    expect_round_trip({ContextExchange::all_gather, ContextExchange::ring});
    expect_round_trip({LayerSplit::layers, LayerSplit::slots, LayerSplit::balanced, LayerSplit::given});
    expect_round_trip({DataParallelOverlap::off, DataParallelOverlap::on});
    expect_round_trip({PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp});
}

/// Names outlive code: results files hold them.
TEST(Names, AreThoseOfTheFiles)
{
    EXPECT_EQ(choices<Schedule>(),
              "gpipe, 1f1b, interleaved, zb_h1, zb_h2, zb_v, v_half, v_min, dualpipe, dualpipe_v");
    EXPECT_EQ(choices<PlacementOrder>(), "tp-pp-dp, tp-dp-pp");
}

/// Llama 3 405B on 16,384 GPUs: tp 8, pp 16, dp 128; 2,048 sequences a step are 16 microbatches of one.
TEST(ParallelPlan, CountsGpusAndMicrobatches)
{
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 16;
    plan.dp = 128;
    EXPECT_EQ(plan.gpus(), 16384);
    EXPECT_EQ(plan.microbatches(2048), 16);
    plan.microbatch = 2;
    EXPECT_EQ(plan.microbatches(2048), 8);
}

}  // namespace
}  // namespace prismopt

#include "model/step/compile/data_parallel.hpp"

#include "tests/support/neighbouring_groups.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// 8 GPUs a node at 100 GB/s, 10 GB/s between nodes, no latency: times are bytes.
Cluster cluster()
{
    Cluster c;
    c.gpus = 64;
    c.tiers = {{"node", 8, BytesPerSecond{100e9}, 1.0, Seconds{0.0}, 1.0},
               {"cluster", 64, BytesPerSecond{10e9}, 1.0, Seconds{0.0}, 1.0}};
    return c;
}

ParallelPlan sharded_plan(Sharding sharding, DataParallelOverlap overlap)
{
    ParallelPlan plan;
    plan.dp = 8;
    plan.sharding = sharding;
    plan.dp_overlap = overlap;
    return plan;
}

/// The exchange of a plan, with its groups.
class PlacedExchange {
public:
    PlacedExchange(const ParallelPlan& plan, const Cluster& cluster, const OptimizerSettings& optimizer = {})
        : groups_(exchange_groups(plan, cluster)), exchange_(plan, groups_, cluster, optimizer)
    {
    }
    const DataParallel* operator->() const { return &exchange_; }

private:
    ExchangeGroups groups_;
    DataParallel exchange_;
};

/// A pass that computes for so long.
ChunkPass lasting(PassCost& pass, double seconds)
{
    pass.compute_s = seconds;
    return {pass, 1};
}

constexpr Parameters own{.all = 1e9};
constexpr double single_precision = 1e-8;      // of a tenth of a second
constexpr double one_way = 7.0 / 8.0 / 100e9;  // seconds a byte, of a ring of 8 in a node

TEST(DataParallel, WithoutOverlapAllIsExposed)
{
    const Cluster c = cluster();
    PassCost pass;
    const ChunkPass chunk = lasting(pass, 1.0);
    const ParallelPlan none = sharded_plan(Sharding::none, DataParallelOverlap::off);
    const ParallelPlan zero1 = sharded_plan(Sharding::zero1, DataParallelOverlap::off);
    EXPECT_NEAR(PlacedExchange(none, c)->reduction(own, chunk, 10, true).exposed(), 2.0 * 4e9 * one_way,
                single_precision);
    EXPECT_EQ(PlacedExchange(none, c)->gathering(own, chunk, 10).exposed(), 0.0F);
    EXPECT_EQ(PlacedExchange(none, c)->reduction(own, chunk, 10, true).all_reduce, 1.0F);
    EXPECT_EQ(PlacedExchange(zero1, c)->reduction(own, chunk, 10, true).all_reduce, 0.0F);
    EXPECT_NEAR(PlacedExchange(zero1, c)->reduction(own, chunk, 10, true).exposed(), 4e9 * one_way,
                single_precision);
    EXPECT_NEAR(PlacedExchange(zero1, c)->gathering(own, chunk, 10).exposed(), 2e9 * one_way,
                single_precision);
    EXPECT_DOUBLE_EQ(PlacedExchange(none, c)->updated(own), 1e9);
    EXPECT_DOUBLE_EQ(PlacedExchange(zero1, c)->updated(own), 1e9 / 8.0);
}

/// 32-bit parameters and their gradients are sent as they are, unless the user reduces in another type.
TEST(DataParallel, MessagesHaveTheTypesOfTheNumbers)
{
    const Cluster c = cluster();
    PassCost pass;
    const ChunkPass chunk = lasting(pass, 1.0);
    const ParallelPlan zero1 = sharded_plan(Sharding::zero1, DataParallelOverlap::off);
    OptimizerSettings wide{.parameters = NumberType::fp32};
    EXPECT_NEAR(PlacedExchange(zero1, c, wide)->gathering(own, chunk, 10).exposed(), 4e9 * one_way,
                single_precision);
    Cluster reduces_in_16_bits = c;
    reduces_in_16_bits.stack.gradient_bytes = 2.0;
    const auto sent = [&](const OptimizerSettings& optimizer) {
        return PlacedExchange(zero1, reduces_in_16_bits, optimizer)
            ->reduction(own, chunk, 10, true)
            .exposed();
    };
    EXPECT_NEAR(sent({}), 2e9 * one_way, single_precision);
    EXPECT_NEAR(sent(wide), 4e9 * one_way, single_precision);
    wide.reduction = NumberType::bf16;
    EXPECT_NEAR(sent(wide), 2e9 * one_way, single_precision);
}

/// Of ten buckets nine go beside the pass: a pass long enough leaves one, a short
/// one hides its own length of them.
TEST(DataParallel, BucketsHideBehindTheLastPass)
{
    const Cluster c = cluster();
    const ParallelPlan plan = sharded_plan(Sharding::zero1, DataParallelOverlap::on);
    const PlacedExchange exchange(plan, c);
    PassCost pass;
    const double all = 4e9 * one_way;
    EXPECT_NEAR(exchange->reduction(own, lasting(pass, 10.0), 10, true).exposed(), 0.1 * all,
                single_precision);
    EXPECT_NEAR(exchange->reduction(own, lasting(pass, 0.5 * all), 10, true).exposed(), all - 0.9 * 0.5 * all,
                single_precision);
    // Other chunks' reductions come after it.
    EXPECT_NEAR(exchange->reduction(own, lasting(pass, 10.0), 10, false).exposed(), all, single_precision);
    EXPECT_NEAR(exchange->gathering(own, lasting(pass, 10.0), 10).exposed(), 0.1 * 2e9 * one_way,
                single_precision);
}

/// A pass whose messages have the links all the time hides nothing on these, whether
/// compute hides the messages or not.
TEST(DataParallel, AMessageHasItsLinksForItself)
{
    const Cluster c = cluster();
    const ParallelPlan in_node = sharded_plan(Sharding::zero1, DataParallelOverlap::on);
    const PlacedExchange inside(in_node, c);
    PassCost exposed;
    exposed.communication_s = 10.0;
    PassCost hidden;
    hidden.compute_s = 10.0;
    for (PassCost* pass : {&exposed, &hidden}) {
        pass->in_nodes_s = 10.0;
        EXPECT_NEAR(inside->reduction(own, {*pass, 1}, 10, true).exposed(), 4e9 * one_way, single_precision);
        pass->in_nodes_s = 0.0;
        pass->between_nodes_s = 10.0;  // other links than the exchange's
        EXPECT_NEAR(inside->reduction(own, {*pass, 1}, 10, true).exposed(), 0.1 * 4e9 * one_way,
                    single_precision);
    }
    ParallelPlan over_nodes = sharded_plan(Sharding::zero1, DataParallelOverlap::on);
    over_nodes.dp = 16;
    const PlacedExchange between(over_nodes, c);
    EXPECT_NEAR(between->reduction(own, {exposed, 1}, 10, true).exposed(),
                between->reduction(own, {exposed, 1}, 10, false).exposed(), single_precision);
}

/// A draw that is longer is waited for by all that it is longer, where the compute beside it is used
/// up; slower compute hides more.
TEST(DataParallel, WhatIsHiddenHangsOnTheDraw)
{
    constexpr Exchange exchange{1.0F, 0.75F, 2.0F};
    EXPECT_FLOAT_EQ(exchange.exposed(), 0.25F);
    EXPECT_FLOAT_EQ(exchange.exposed(2.0F), 0.5F);
    EXPECT_FLOAT_EQ(exchange.exposed(3.0F), 1.5F);
    EXPECT_FLOAT_EQ(exchange.exposed(4.0F), 2.5F);
    EXPECT_FLOAT_EQ(exchange.exposed(4.0F, 1.5F), 1.75F);
}

/// ZeRO-2 and 3 reduce inside the passes; the remainder is one layer's share.
TEST(DataParallel, LayerwiseShardingLeavesOneLayer)
{
    const Cluster c = cluster();
    for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
        const ParallelPlan plan = sharded_plan(sharding, DataParallelOverlap::on);
        PassCost pass;
        EXPECT_NEAR(PlacedExchange(plan, c)->reduction(own, lasting(pass, 0.0), 10, true).exposed(),
                    0.1 * 4e9 * one_way, single_precision);
        EXPECT_DOUBLE_EQ(PlacedExchange(plan, c)->updated(own), 1e9 / 8.0);
    }
}

/// Software that gathers once per step does so with ZeRO-2 as with ZeRO-1; ZeRO-3 is gathered in passes.
TEST(DataParallel, SomeSoftwareGathersOnce)
{
    Cluster c = cluster();
    c.stack.gathers_once = true;
    PassCost pass;
    const ChunkPass chunk = lasting(pass, 0.0);
    const auto exposed = [&](Sharding sharding) {
        const ParallelPlan plan = sharded_plan(sharding, DataParallelOverlap::off);
        return PlacedExchange(plan, c)->gathering(own, chunk, 10).exposed();
    };
    EXPECT_NEAR(exposed(Sharding::zero1), 2e9 * one_way, single_precision);
    EXPECT_EQ(exposed(Sharding::zero2), exposed(Sharding::zero1));
    EXPECT_NEAR(exposed(Sharding::zero3), 0.1 * 2e9 * one_way, single_precision);
}

/// Hybrid: reduce-scatter within 8, then all-reduce of the shards between the two groups;
/// the other way gathers within 8.
TEST(DataParallel, HybridShardingStaysInsideItsGroup)
{
    const Cluster c = cluster();
    ParallelPlan plan = sharded_plan(Sharding::zero1, DataParallelOverlap::off);
    plan.dp = 16;
    plan.shard_gpus = 8;
    PassCost pass;
    const ChunkPass chunk = lasting(pass, 0.0);
    const double between = 2.0 * 0.5 * 4e9 / 8.0 / 10e9;
    const Exchange reduction = PlacedExchange(plan, c)->reduction(own, chunk, 1, true);
    EXPECT_NEAR(reduction.exposed(), 4e9 * one_way + between, single_precision);
    EXPECT_NEAR(reduction.all_reduce, between / (4e9 * one_way + between), 1e-6);
    EXPECT_NEAR(PlacedExchange(plan, c)->gathering(own, chunk, 1).exposed(), 2e9 * one_way, single_precision);
    EXPECT_DOUBLE_EQ(PlacedExchange(plan, c)->updated(own), 1e9 / 8.0);
}

/// 8 replicas with ep = 4 hold each expert twice.
TEST(DataParallel, ExpertsAreReducedBetweenTheirCopies)
{
    const Cluster c = cluster();
    ParallelPlan plan = sharded_plan(Sharding::zero1, DataParallelOverlap::off);
    plan.ep = 4;
    const Parameters experts{1e9, 1e9};
    PassCost pass;
    EXPECT_NEAR(PlacedExchange(plan, c)->reduction(experts, lasting(pass, 0.0), 1, true).exposed(),
                0.5 * 4e9 / 100e9, single_precision);
    EXPECT_DOUBLE_EQ(PlacedExchange(plan, c)->updated(experts), 1e9 / 2.0);
}

/// A context parallel group reduces with the replicas.
TEST(DataParallel, ContextParallelMembersReduceTogether)
{
    const Cluster c = cluster();
    ParallelPlan plan = sharded_plan(Sharding::zero1, DataParallelOverlap::off);
    plan.dp = 4;
    plan.cp = 2;
    PassCost pass;
    EXPECT_NEAR(PlacedExchange(plan, c)->reduction(own, lasting(pass, 0.0), 1, true).exposed(), 4e9 * one_way,
                single_precision);
    EXPECT_DOUBLE_EQ(PlacedExchange(plan, c)->updated(own), 1e9 / 8.0);
}

}  // namespace
}  // namespace prismopt

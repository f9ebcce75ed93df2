#pragma once

/// Plans on clusters whose units their process groups fit or not, drawn at random.

#include "tests/support/random_plans.hpp"

#include <string>

namespace prismopt {

constexpr int random_cases = 600;

/// A plan on a cluster that it fits, or whose units its groups straddle.
struct Case {
    ParallelPlan plan;
    Cluster cluster;
};

/// Nodes, racks and leaves, which groups fit or not.
inline Cluster cluster_of(int node, int leaf, int gpus)
{
    Cluster cluster = example_cluster(gpus);
    cluster.tiers = {{"node", node, BytesPerSecond{400e9}, 0.8, Seconds{3e-6}, 1.0},
                     {"leaf", leaf, BytesPerSecond{50e9}, 0.9, Seconds{6e-6}, 1.0},
                     {"cluster", gpus, BytesPerSecond{50e9}, 0.9, Seconds{9e-6}, 2.0}};
    return cluster;
}

inline Case random_case(RandomValues& random)
{
    Case c;
    ParallelPlan& plan = c.plan;
    plan.tp = random.pick({1, 2, 4, 8});
    plan.cp = random.pick({1, 1, 2, 4});
    plan.pp = random.pick({1, 2, 3, 4, 6, 8});
    plan.dp = random.pick({1, 2, 3, 4, 6, 8, 12, 16});
    plan.etp = random.divisor(plan.tp);
    plan.ep = random.divisor(plan.tp * plan.cp * plan.dp / plan.etp);
    plan.order = random.pick({PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp});
    plan.sharding = random.pick({Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
    plan.dp_overlap = random.pick({DataParallelOverlap::on, DataParallelOverlap::off});
    plan.shard_gpus = random.pick({0, 1}) == 0 ? 0 : random.divisor(plan.cp * plan.dp);
    const int node = random.pick({1, 4, 8, 16, 18, 36, 72});
    c.cluster = cluster_of(node, node * random.pick({2, 3, 4, 8}), (plan.gpus() / node + 9) * node * 24);
    if (plan.pp % 2 == 0 && random.pick({0, 1, 2}) == 0) {
        plan.schedule = Schedule::dualpipe;
        plan.chunks = 2;
    }
    plan.ulysses = random.divisor(plan.cp);
    return c;
}

inline std::string text_of(const Case& c)
{
    return text_of(c.plan) + " shard " + std::to_string(c.plan.shard_gpus) + " node " +
           std::to_string(c.cluster.gpus_per_node());
}

}  // namespace prismopt

#pragma once

/// Plans of all kinds, drawn at random, with networks and a cluster that they fit: for
/// properties that hold for every plan.

#include "tests/support/example_problem.hpp"

#include "model/plan_rules.hpp"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace prismopt {

/// One choice per call, the same for the same seed.
class RandomValues {
public:
    explicit RandomValues(unsigned seed) : engine_(seed) {}

    template <class T>
    T pick(std::initializer_list<T> values)
    {
        return values.begin()[engine_() % values.size()];
    }
    template <class Enum>
    Enum any()
    {
        return names_of<Enum>[engine_() % names_of<Enum>.size()].value;
    }
    int divisor(int number)
    {
        std::vector<int> divisors;
        for (int d = 1; d <= number; ++d) {
            if (number % d == 0) {
                divisors.push_back(d);
            }
        }
        return divisors[engine_() % divisors.size()];
    }
    template <class List>
    void shuffle(List& list)
    {
        std::shuffle(list.begin(), list.end(), engine_);
    }

private:
    std::mt19937 engine_;
};

/// A mixture of experts, or a dense decoder, with shared experts and host memory to offload to.
inline Problem problem_for_random_plans(bool mixture)
{
    Experts experts;
    if (mixture) {
        experts = {.count = 16, .active = 4, .feed_forward = 2048, .shared = 2048, .imbalance = 1.2};
    }
    constexpr std::array widths{1, 2, 4, 8, 16, 32};
    Problem problem = example_problem(Variability{}, 64, widths);
    problem.workload = example_workload(16, experts);
    problem.cluster = example_cluster(512);
    for (std::size_t tier = 1; tier < problem.cluster.tiers.size(); ++tier) {
        problem.cluster.tiers[tier].bandwidth = BytesPerSecond{6e9};  // so that much is left to hide
    }
    problem.cluster.accelerator.host_link = BytesPerSecond{25e9};
    problem.cluster.accelerator.host_memory_bandwidth = BytesPerSecond{50e9};
    problem.cluster.stack.host = Seconds{2e-6};
    problem.memory_limit = without_limit(problem.memory_limit);
    return problem;
}

/// A plan that may be infeasible.
inline ParallelPlan random_plan(RandomValues& random)
{
    ParallelPlan plan;
    plan.tp = random.pick({1, 2, 4, 8});
    plan.cp = random.pick({1, 1, 2});
    plan.pp = random.pick({1, 2, 4});
    plan.dp = random.pick({1, 2, 4, 8});
    plan.ep = random.pick({1, 2, 4, 8, 16});
    plan.etp = random.pick({1, 1, 2});
    plan.schedule = random.any<Schedule>();
    const int chunks = facts_of(plan.schedule).chunks;
    plan.chunks = chunks > 0 ? chunks : 2;
    plan.microbatch = random.pick({1, 2});
    plan.recompute = random.any<Recompute>();
    plan.sharding = random.any<Sharding>();
    plan.dp_overlap = random.any<DataParallelOverlap>();
    plan.tp_overlap = random.any<TensorParallelOverlap>();
    plan.expert_overlap = random.any<ExpertOverlap>();
    plan.dispatch = random.any<Dispatch>();
    plan.context_exchange = random.any<ContextExchange>();
    plan.offload = random.any<Offload>();
    plan.order = random.any<PlacementOrder>();
    plan.sequence_parallel = random.any<SequenceParallel>();
    plan.shard_gpus = random.pick({0, 0, 2, 4});
    plan.ulysses = random.pick({1, 1, 0});
    return plan;
}

inline std::string text_of(const ParallelPlan& p)
{
    const auto number = [](const char* key, int value) {
        return std::string(" ") + key + " " + std::to_string(value);
    };
    std::string text = number("tp", p.tp) + number("cp", p.cp) + number("pp", p.pp) + number("dp", p.dp) +
                       number("ep", p.ep) + number("etp", p.etp) + number("v", p.chunks) +
                       number("microbatch", p.microbatch) + number("shard_gpus", p.shard_gpus) +
                       number("ulysses", p.ulysses);
    for (const std::string_view choice :
         {name(p.schedule), name(p.recompute), name(p.sharding), name(p.dp_overlap), name(p.tp_overlap),
          name(p.expert_overlap), name(p.dispatch), name(p.context_exchange), name(p.offload), name(p.order),
          name(p.sequence_parallel)}) {
        text += " " + std::string(choice);
    }
    return text;
}

/// Plans that the problem's network and cluster allow.
inline std::vector<ParallelPlan> random_plans(const Problem& problem, std::size_t count, unsigned seed)
{
    RandomValues random(seed);
    std::vector<ParallelPlan> plans;
    while (plans.size() < count) {
        const ParallelPlan plan = random_plan(random);
        if (!structural_problem(plan, problem)) {
            plans.push_back(plan);
        }
    }
    return plans;
}

}  // namespace prismopt

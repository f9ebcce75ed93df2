/// Better hardware never makes a step longer: what compute hides is limited by that compute.

#include "model/step/graph/mean_step.hpp"
#include "tests/support/random_plans.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr std::size_t plans_each = 150;

/// One figure of the hardware, made better.
struct Improvement {
    std::string name;
    std::function<void(Cluster&)> apply;
};

std::vector<Improvement> improvements()
{
    const auto faster = [](auto member) {
        return [member](Cluster& c) { c.accelerator.*member = c.accelerator.*member * 2.0; };
    };
    const auto more = [](double Efficiency::*share) {
        return [share](Cluster& c) { c.accelerator.efficiency.*share *= 1.2; };
    };
    const auto tier = [](std::size_t index, const std::function<void(NetworkTier&)>& change) {
        return [index, change](Cluster& c) { change(c.tiers[index]); };
    };
    const auto bandwidth = [](NetworkTier& t) { t.bandwidth = t.bandwidth * 2.0; };
    const auto latency = [](NetworkTier& t) { t.latency = t.latency * 0.3; };
    return {
        {"peak", faster(&Accelerator::peak_bf16)},
        {"memory bandwidth", faster(&Accelerator::memory_bandwidth)},
        {"peak and memory bandwidth",
         [&faster](Cluster& c) {
             c.accelerator.peak_bf16 = c.accelerator.peak_bf16 * 2.0;
             c.accelerator.memory_bandwidth = c.accelerator.memory_bandwidth * 2.0;
         }},
        {"launch", [](Cluster& c) { c.accelerator.launch = c.accelerator.launch * 0.1; }},
        {"gemm", more(&Efficiency::gemm)},
        {"attention", more(&Efficiency::attention)},
        {"attention backward", more(&Efficiency::attention_backward)},
        {"memory", more(&Efficiency::memory)},
        {"host link", faster(&Accelerator::host_link)},
        {"host memory", faster(&Accelerator::host_memory_bandwidth)},
        {"host", [](Cluster& c) { c.stack.host = c.stack.host * 0.2; }},
        {"step", [](Cluster& c) { c.stack.step = c.stack.step * 0.5; }},
        {"share of communication", [](Cluster& c) { c.stack.communication_share *= 0.5; }},
        {"bandwidth of nodes", tier(0, bandwidth)},
        {"bandwidth of pods", tier(1, bandwidth)},
        {"bandwidth of the cluster", tier(2, bandwidth)},
        {"latency of nodes", tier(0, latency)},
        {"latency of pods", tier(1, latency)},
        {"latency of the cluster", tier(2, latency)},
        {"reductions in the switches of nodes", tier(0, [](NetworkTier& t) { t.in_network = 0.9; })},
        {"oversubscription", tier(2, [](NetworkTier& t) { t.oversubscription = 1.0; })},
    };
}

/// Nothing where the plan is infeasible.
std::optional<ExecutionGraph> graph_without_noise(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler(
        {problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_limit});
    auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    auto* feasible = std::get_if<CompiledPlan>(&compiled);
    return feasible == nullptr ? std::nullopt : std::optional(std::move(feasible->graph));
}

constexpr double rounding_of_graphs = 2e-6;  // of durations in a graph, relative

/// Of every pass: what is no longer hidden is at most what its compute, or the compute
/// beside it, has become shorter.
void expect_less_exposed_than_saved(const ExecutionGraph& before, const ExecutionGraph& after,
                                    const std::string& what)
{
    double saved_s = 0.0;
    double exposed_s = 0.0;
    double all_s = 0.0;
    for (std::size_t i = 0; i < before.distribution.size(); ++i) {
        const OpDistribution& old = before.distribution[i];
        const OpDistribution& better = after.distribution[i];
        saved_s += static_cast<double>(old.compute_s) - static_cast<double>(better.compute_s);
        exposed_s += static_cast<double>(better.communication_s) - static_cast<double>(old.communication_s);
        all_s += static_cast<double>(old.compute_s) + static_cast<double>(old.communication_s);
    }
    EXPECT_LE(exposed_s, saved_s + rounding_of_graphs * all_s) << what;
}

class BetterHardware : public testing::TestWithParam<bool> {};

TEST_P(BetterHardware, NeverMakesAStepLonger)
{
    const Problem problem = problem_for_random_plans(GetParam());
    int compared = 0;
    for (const ParallelPlan& plan : random_plans(problem, plans_each, 7)) {
        const auto before = graph_without_noise(problem, plan);
        if (!before) {
            continue;
        }
        const double step_s = noise_free_step(*before).step_s;
        for (const Improvement& improvement : improvements()) {
            Problem better = problem;
            improvement.apply(better.cluster);
            const ExecutionGraph after = graph_without_noise(better, plan).value();
            const std::string what = improvement.name + text_of(plan);
            EXPECT_LE(noise_free_step(after).step_s, step_s * (1.0 + rounding_of_graphs)) << what;
            expect_less_exposed_than_saved(*before, after, what);
            ++compared;
        }
    }
    EXPECT_GT(compared, static_cast<int>(plans_each) * 10);
}

/// A cluster whose innermost links are those of the next tier is no faster.
TEST_P(BetterHardware, AFasterInnerTierNeverMakesAStepLonger)
{
    const Problem problem = problem_for_random_plans(GetParam());
    Problem without = problem;
    without.cluster.tiers[0].bandwidth = problem.cluster.tiers[1].bandwidth;
    without.cluster.tiers[0].efficiency = problem.cluster.tiers[1].efficiency;
    without.cluster.tiers[0].latency = problem.cluster.tiers[1].latency;
    without.cluster.tiers[0].all_to_all = 0.59;
    for (const ParallelPlan& plan : random_plans(problem, plans_each, 8)) {
        const auto with_nodes = graph_without_noise(problem, plan);
        if (with_nodes) {
            const double longest_s = noise_free_step(*graph_without_noise(without, plan)).step_s;
            EXPECT_LE(noise_free_step(*with_nodes).step_s, longest_s * (1.0 + rounding_of_graphs))
                << text_of(plan);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, BetterHardware, testing::Bool(),
                         [](const auto& network) { return network.param ? "Mixture" : "Dense"; });

}  // namespace
}  // namespace prismopt

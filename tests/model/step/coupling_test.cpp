/// Every coupling class of replicas against brute force: each GPU and each kernel one by one.

#include "tests/support/brute_force_job.hpp"
#include "tests/support/coupled_graph.hpp"

#include "model/step/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

double quantile_of(const std::vector<double>& sorted, double p)
{
    return sorted[static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size()))) - 1];
}

/// Persistent GPUs with rare slow ones, stages and microbatches that vary.
BruteForceJob lively_job(const ScheduleShape& shape, int tp, int replicas, int coupled, int layers)
{
    BruteForceJob job;
    job.shape = shape;
    job.tp = tp;
    job.replicas = replicas;
    job.coupled = coupled;
    job.layers = layers;
    const auto gemm = [](double s) { return brute_force_kernel(KernelClass::gemm, s); };
    job.forward = {{gemm(1.0), brute_force_kernel(KernelClass::attention, 0.6)}, {gemm(2.0)}};
    job.backward = {{gemm(2.0), brute_force_kernel(KernelClass::elementwise, 0.8)}, {gemm(4.0)}};
    job.transfer_s = 0.2;
    job.gpu_cv = 0.02;
    job.slow_probability = 0.01;
    job.slow_excess = 0.10;
    job.stage_cv = 0.03;
    job.microbatch_cv = 0.05;
    return job;
}

void expect_agreement(const BruteForceJob& job, int draws, int replicas_simulated = 4)
{
    BruteForce brute(job, 17);
    std::vector<double> truth(draws);
    for (double& step_s : truth) {
        step_s = brute.step_s();
    }
    const NoiseTables noise = brute_force_noise(job);
    const ExecutionGraph graph = brute_force_graph(job, noise);
    auto fast = sample_steps(graph, noise, {0, 16384, 1}, {5, Purpose::search, replicas_simulated});
    std::sort(truth.begin(), truth.end());
    std::sort(fast.begin(), fast.end());
    // 0.25 % is what a quantile may be off; beyond it, three standard errors of brute force and of the sampler, in probability.
    for (const double p : {0.50, 0.95, 0.99}) {
        const double error = 3.0 * std::sqrt(p * (1.0 - p) * (1.0 / draws + 1.0 / static_cast<double>(fast.size())));
        const double found = quantile_of(fast, p);
        EXPECT_GT(found, 0.9975 * quantile_of(truth, p - error)) << "p = " << p;
        EXPECT_LT(found, 1.0025 * quantile_of(truth, std::min(p + error, 1.0))) << "p = " << p;
        const std::string percent = std::to_string(std::lround(100.0 * p));
        ::testing::Test::RecordProperty("p" + percent + " off, per cent",
                                        std::to_string(100.0 * (found / quantile_of(truth, p) - 1.0)));
    }
}

constexpr ScheduleShape one_stage{Schedule::one_f_one_b, 1, 8, 1};
constexpr ScheduleShape four_stages{Schedule::one_f_one_b, 4, 8, 1};
constexpr ScheduleShape chunks{Schedule::interleaved, 4, 8, 2};  // so that collectives can overlap

TEST(Coupling, OnceAStep)
{
    BruteForceJob job = lively_job(chunks, 2, 8, 1, 1);
    job.overlapped = false;
    job.gather_s = 3.0;
    job.reduce_s = 5.0;
    expect_agreement(job, 2000, 3);
}

TEST(Coupling, PerStageWithItsCollective)
{
    BruteForceJob job = lively_job(chunks, 2, 8, 1, 1);
    job.gather_s = 3.0;
    job.reduce_s = 30.0;  // about what lies between the last backwards of a stage's chunks: either may decide
    expect_agreement(job, 2000, 3);
}

TEST(Coupling, EveryLayerOfOneStage) { expect_agreement(lively_job(one_stage, 2, 16, 16, 3), 3000); }

TEST(Coupling, EveryLayerOfAPipeline) { expect_agreement(lively_job(four_stages, 1, 16, 16, 3), 1500); }

TEST(Coupling, GroupsAcrossReplicasOfOneStage) { expect_agreement(lively_job(one_stage, 1, 64, 8, 3), 1500, 3); }

TEST(Coupling, GroupsAcrossReplicasOfAPipeline) { expect_agreement(lively_job(four_stages, 2, 16, 4, 2), 1500, 2); }

/// Plans that share draws, coupled and not: each as if it were alone, and however a range is cut.
TEST(Coupling, DrawsTheSameForAPlanWhateverIsSampledWithIt)
{
    const NoiseTables noise = brute_force_noise(lively_job(four_stages, 2, 1, 1, 1));
    const auto graph_of = [&noise](int coupled) { return brute_force_graph(lively_job(four_stages, 2, 16, coupled, 1), noise); };
    const std::array graphs{graph_of(1), graph_of(4), graph_of(16), graph_of(2)};
    const std::array all{graphs.data(), graphs.data() + 1, graphs.data() + 2, graphs.data() + 3};
    const SamplerOptions options{9, Purpose::search, 3};
    const auto together = sample_steps(all, noise, {0, 128, 2}, options);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const auto alone = sample_steps(graphs[i], noise, {0, 64, 2}, options);
        const auto rest = sample_steps(graphs[i], noise, {64, 64, 2}, options);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together[i].begin())) << i;
        EXPECT_TRUE(std::equal(rest.begin(), rest.end(), together[i].begin() + 128)) << i;
    }
}

}  // namespace
}  // namespace prismopt

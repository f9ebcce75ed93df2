/// Every coupling class of replicas against brute force: each GPU and each kernel one by one.

#include "tests/support/coupled_agreement.hpp"
#include "tests/support/coupled_graph.hpp"

#include "model/step/sample/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

struct Work {
    int layers = 1;
    double gather_s = 0.0;
    double reduce_s = 0.0;
};

/// Persistent GPUs with rare slow ones, stages and microbatches that vary. All
/// barriers have the same members.
BruteForceJob lively_job(const ScheduleShape& shape, const BarrierWidths& widths, int replicas,
                         const Work& work)
{
    BruteForceJob job;
    job.shape = shape;
    job.widths = widths;
    job.replicas = replicas;
    job.gpu_cv = 0.02;
    job.slow_probability = 0.01;
    job.slow_excess = 0.10;
    job.stage_cv = 0.03;
    job.microbatch_cv = 0.05;
    const auto gemm = [](double s) { return brute_force_kernel(KernelClass::gemm, s); };
    const Meeting end = widths.experts > 1 ? Meeting::experts : Meeting::tensor;
    EqualLayers equal;
    equal.layers = work.layers;
    equal.forward = {{{gemm(1.0), brute_force_kernel(KernelClass::attention, 0.6)}, end}, {{gemm(2.0)}, end}};
    equal.backward = {{{gemm(2.0), brute_force_kernel(KernelClass::elementwise, 0.8)}, end},
                      {{gemm(4.0)}, end}};
    equal.transfer_s = 0.2;
    equal.gather_s = work.gather_s;
    equal.reduce_s = work.reduce_s;
    set_passes(equal, job);
    return job;
}

void expect_agreement(const BruteForceJob& job, int draws, int replicas_simulated = 4, double over = 0.0025)
{
    const NoiseTables noise = brute_force_noise(job);
    expect_agreement(job, brute_force_graph(job, noise), noise, draws, replicas_simulated, over);
}

constexpr ScheduleShape one_stage{Schedule::one_f_one_b, 1, 8, 1};
constexpr ScheduleShape four_stages{Schedule::one_f_one_b, 4, 8, 1};
constexpr ScheduleShape chunks{Schedule::interleaved, 4, 8, 2};  // so that collectives can overlap

TEST(Coupling, OncePerStep)
{
    BruteForceJob job = lively_job(chunks, {2}, 8, {1, 3.0, 5.0});
    job.overlapped = false;
    expect_agreement(job, 2000, 3);
}

TEST(Coupling, PerStageWithItsCollective)
{
    // The reduction takes about what lies between the last backwards of a stage's chunks: either may decide.
    expect_agreement(lively_job(chunks, {2}, 8, {1, 3.0, 30.0}), 2000, 3);
}

TEST(Coupling, EveryBarrierOfOneStage) { expect_agreement(lively_job(one_stage, {2, 1, 16}, 16, {3}), 3000); }

TEST(Coupling, EveryBarrierOfAPipeline)
{
    expect_agreement(lively_job(four_stages, {1, 1, 16}, 16, {3}), 1500);
}

TEST(Coupling, GroupsAcrossReplicasOfOneStage)
{
    expect_agreement(lively_job(one_stage, {1, 1, 8}, 64, {3}), 1500, 3);
}

TEST(Coupling, GroupsAcrossReplicasOfAPipeline)
{
    expect_agreement(lively_job(four_stages, {2, 1, 4}, 16, {2}), 1500, 2);
}

/// Blocking gathers.
TEST(Coupling, EveryLayer) { expect_agreement(lively_job(one_stage, {2, 1, 1, 16}, 16, {6}), 1500); }

/// Gathers of half a layer, one ahead.
TEST(Coupling, EveryPass)
{
    BruteForceJob job = lively_job(one_stage, {1, 1, 1, 1, 32}, 32, {8});
    job.layer_gather_s = 1.8;
    expect_agreement(job, 1500);
}

/// Forward passes that fill a pipeline wait for nobody, and where each microbatch has another
/// slowest replica a lead of half a layer saves waiting: too long, by what model/plan/coupling.hpp
/// says, beside the 0.25 % of all.
TEST(Coupling, EveryPassOfAPipeline)
{
    BruteForceJob job = lively_job(four_stages, {2, 1, 1, 1, 16}, 16, {4});
    job.layer_gather_s = 1.8;
    for (const double microbatch_cv : {0.0, 0.05}) {
        job.microbatch_cv = microbatch_cv;
        expect_agreement(job, 1500, 4, 0.0075);
    }
}

/// Plans that share draws, coupled and not: each as if it were alone, and however a range is cut.
TEST(Coupling, DrawsTheSameForAPlanWhateverIsSampledWithIt)
{
    const NoiseTables noise = brute_force_noise(lively_job(four_stages, {2}, 1, {}));
    const auto graph = [&noise](const BarrierWidths& widths) {
        return brute_force_graph(lively_job(four_stages, widths, 16, {}), noise);
    };
    const std::array graphs{graph({2}), graph({2, 1, 4}), graph({2, 1, 1, 1, 16}), graph({2, 1, 2})};
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

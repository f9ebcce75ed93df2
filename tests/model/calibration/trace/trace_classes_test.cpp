#include "model/calibration/fit/samples.hpp"
#include "model/calibration/trace/operation_distributions.hpp"
#include "model/calibration/trace/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace prismopt {
namespace {

/// Names as profilers and benchmarks write them.
TEST(OpKind, IsOfTheNarrowestClassThatANameTells)
{
    const auto expect = [](const std::string& name, KernelClass kernel, OpRole role) {
        EXPECT_EQ(op_kind(name).kernel, kernel) << name;
        EXPECT_EQ(op_kind(name).role, role) << name;
    };
    using enum KernelClass;
    expect("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", dp_all_gather, OpRole::collective);
    expect("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", dp_reduce_scatter, OpRole::collective);
    expect("nccl _allgather_base of a tensor-parallel group, 8192 elements", tensor_all_gather, OpRole::collective);
    expect("nccl _reduce_scatter_base of a tensor-parallel group", tensor_reduce_scatter, OpRole::collective);
    expect("nccl all_to_allv of an expert-parallel group", expert_all_to_all, OpRole::collective);
    expect("nccl _allgather_base of a context-parallel group", context_all_gather, OpRole::collective);
    expect("nccl broadcast of a tensor-parallel group", tensor_collective, OpRole::collective);
    expect("nccl _reduce_scatter_base of a data-parallel group", dp_reduce_scatter, OpRole::collective);
    expect("nccl broadcast", dp_collective, OpRole::collective);
    expect("tp-all-gather", tensor_all_gather, OpRole::collective);
    expect("alltoall, 8 ranks", tp_collective, OpRole::collective);  // of which group is not told
    expect("nccl send of a context-parallel group", context_p2p, OpRole::collective);
    expect("ncclDevKernel_SendRecv", p2p, OpRole::send);
    expect("cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape", grouped_gemm,
           OpRole::compute);
    expect("grouped_gemm_kernel", grouped_gemm, OpRole::compute);
    expect("void cutlass::Kernel<GemmGrouped<bf16>>", grouped_gemm, OpRole::compute);
    expect("embedding_backward_kernel_of_rows", gemm, OpRole::compute);  // a whole backward pass, as far as a name tells
    expect("void at::native::indexSelectLargeIndex<float>", lookup, OpRole::compute);
    expect("vectorized_elementwise_kernel", elementwise, OpRole::compute);
}

std::vector<double> factors(double cv, std::size_t count, unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(count);
    for (double& value : values) {
        value = std::exp(cv * normal(generator));
    }
    return values;
}

TEST(ClassPools, GiveADistributionToAClassThatDiffers)
{
    using enum KernelClass;
    ClassPools pools;
    add_to_pools(dp_all_gather, factors(0.05, 500, 1), pools);
    add_to_pools(dp_reduce_scatter, factors(0.05, 500, 2), pools);
    EXPECT_TRUE(has_own_distribution(dp_collective, pools));  // as the only one of all three
    EXPECT_FALSE(has_own_distribution(dp_all_gather, pools));
    EXPECT_FALSE(has_own_distribution(dp_all_reduce, pools));
    add_to_pools(dp_all_reduce, factors(0.20, 500, 3), pools);
    EXPECT_TRUE(has_own_distribution(dp_all_reduce, pools));
    EXPECT_EQ(pools[static_cast<std::size_t>(dp_collective)].size(), 1500U);
    add_to_pools(tensor_all_gather, factors(0.1, 500, 4), pools);
    EXPECT_TRUE(has_own_distribution(tp_collective, pools));
    EXPECT_FALSE(has_own_distribution(tensor_collective, pools));  // all there is of tp_collective
    EXPECT_FALSE(has_own_distribution(tensor_all_gather, pools));
}

/// Benchmarks of collectives: one distribution for all, and one for the kind that varies more.
TEST(Collectives, KindsThatDifferHaveDistributionsOfTheirOwn)
{
    std::vector<CollectiveRun> times;
    for (const auto& [name, cv, seed] : {std::tuple{"all_gather_perf float, 8 ranks, 1048576 bytes", 0.05, 1U},
                                         {"all_reduce_perf float, 8 ranks, 1048576 bytes", 0.05, 2U},
                                         {"reduce_scatter_perf float, 8 ranks, 1048576 bytes", 0.25, 3U}}) {
        for (const double factor : factors(cv, 1000, seed)) {
            times.push_back({name, 1e-3 * factor});
        }
    }
    const Calibration found = calibrate_collectives(times, "test");
    std::vector<std::string> keys;
    for (const CalibratedDistribution& distribution : found.distributions) {
        keys.push_back(distribution.key);
        if (distribution.key == residual_key(KernelClass::dp_reduce_scatter)) {
            // Of 1,000 times: four standard errors of a standard deviation, sd / sqrt(2 n), and what families differ by.
            EXPECT_NEAR(DistributionQuantile(distribution.fit.distribution).moments().cv(), 0.25,
                        4.0 * 0.25 / std::sqrt(2000.0) + 0.01);
        }
    }
    EXPECT_NE(std::find(keys.begin(), keys.end(), "residual.dp_collective"), keys.end());
    EXPECT_NE(std::find(keys.begin(), keys.end(), "residual.dp_reduce_scatter"), keys.end());
}

}  // namespace
}  // namespace prismopt

#include "model/calibration/samples.hpp"
#include "model/calibration/trace/operation_distributions.hpp"
#include "model/calibration/trace/trace.hpp"
#include "tests/support/test_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace prismopt {
namespace {

TEST(OpKind, OfATransferIsTheSameAtBothEndsInAnySpelling)
{
    EXPECT_EQ(op_kind("P2P-Send", test_names()).transfer, op_kind("p2p-recv", test_names()).transfer);
    EXPECT_EQ(op_kind("forward_SEND", test_names()).transfer,
              op_kind("Forward_Receive", test_names()).transfer);
    EXPECT_NE(op_kind("forward-send", test_names()).transfer,
              op_kind("backward-recv", test_names()).transfer);
    EXPECT_EQ(op_kind("gemm", test_names()).transfer, "");
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
    for (const auto& [name, cv, seed] :
         {std::tuple{"all_gather_perf float, 8 ranks, 1048576 bytes", 0.05, 1U},
          {"all_reduce_perf float, 8 ranks, 1048576 bytes", 0.05, 2U},
          {"reduce_scatter_perf float, 8 ranks, 1048576 bytes", 0.25, 3U}}) {
        for (const double factor : factors(cv, 1000, seed)) {
            times.push_back({name, 1e-3 * factor});
        }
    }
    const Calibration found = calibrate_collectives(times, "test", test_names());
    std::vector<std::string> keys;
    for (const CalibratedDistribution& distribution : found.distributions) {
        keys.push_back(distribution.key);
        if (distribution.key == residual_key(KernelClass::dp_reduce_scatter)) {
            // Of 1,000 times: four standard errors of a standard deviation, sd /
            // sqrt(2 n), and what families differ by.
            EXPECT_NEAR(DistributionQuantile(distribution.fit.distribution).moments().cv(), 0.25,
                        4.0 * 0.25 / std::sqrt(2000.0) + 0.01);
        }
    }
    EXPECT_NE(std::find(keys.begin(), keys.end(), "residual.dp_collective"), keys.end());
    EXPECT_NE(std::find(keys.begin(), keys.end(), "residual.dp_reduce_scatter"), keys.end());
}

}  // namespace
}  // namespace prismopt

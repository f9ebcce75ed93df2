/// Ranked replicas against brute force: whole sizes, and what the reported intervals cover.

#include "tests/support/replica_truth.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace prismopt {
namespace {

constexpr double allowed = 0.0025;  // what a p99 may be off

struct Size {
    int replicas;
    double spatial;
    int brute_draws;
};

/// Shown when a test fails.
void PrintTo(const Size& size, std::ostream* out)
{
    *out << size.replicas << " replicas, spatial " << size.spatial;
}

class ReplicasAtSize : public testing::TestWithParam<Size> {};

TEST_P(ReplicasAtSize, MatchBruteForceOverFleets)
{
    const Size size = GetParam();
    const ReplicaTruth replicas(size.replicas, size.spatial);
    const auto brute = sorted(replicas.brute({0, size.brute_draws, 1}));
    const Bias bias = bias_over_fleets(sorted(replicas.ranked({0, 4 * size.brute_draws, 1})), brute);
    EXPECT_TRUE(bias.within(allowed)) << bias.value << " +- " << bias.error;
    // Of 100 intervals at 95 %, 89 and more are what chance leaves: three standard deviations.
    const int covering = replicas.covering_seeds(sorted_quantile(brute, 0.99), 1024);
    EXPECT_GE(covering, 89);
    RecordProperty("bias in %",
                   std::to_string(100.0 * bias.value) + " +- " + std::to_string(100.0 * bias.error));
    RecordProperty("covering seeds of 100", covering);
}

INSTANTIATE_TEST_SUITE_P(Fleets, ReplicasAtSize,
                         testing::Values(Size{256, 0.0, 65536}, Size{256, 0.02, 65536},
                                         Size{4096, 0.0, 16384}, Size{4096, 0.02, 16384}),
                         [](const testing::TestParamInfo<Size>& size) {
                             return std::to_string(size.param.replicas) +
                                    (size.param.spatial > 0.0 ? "spatial" : "equal");
                         });

TEST(ReplicasOfAFleet, MatchBruteForceAtFourThousand)
{
    const ReplicaTruth replicas(4096, 0.02);
    constexpr int steps = 128;
    const Bias bias = bias_given_fleet(replicas.ranked({0, block_fleets, steps}),
                                       replicas.brute({0, block_fleets, steps}), steps)
                          .mean;
    EXPECT_TRUE(bias.within(allowed)) << bias.value << " +- " << bias.error;
    RecordProperty("mean bias in %",
                   std::to_string(100.0 * bias.value) + " +- " + std::to_string(100.0 * bias.error));
}

/// A fleet's own p99: intervals from 384 of its steps, against 3072 steps by brute force.
TEST(ReplicasOfAFleet, IntervalsCoverItsOwnQuantile)
{
    const ReplicaTruth replicas(256, 0.02);
    constexpr int steps = 3072;
    constexpr int section = 384;  // fewer have no upper limit of a p99
    const auto brute = replicas.brute({0, block_fleets, steps});
    constexpr int later = steps + 2 * section;  // sections of steps that the truth has not seen
    const auto ranked = replicas.ranked({0, block_fleets, later});
    const BiasByFleet bias = bias_given_fleet(replicas.ranked({0, block_fleets, steps}), brute, steps);
    EXPECT_TRUE(bias.mean.within(allowed)) << bias.mean.value << " +- " << bias.mean.error;
    EXPECT_LT(bias.furthest, 5.0);  // of 64 normal scores the largest is beyond that once in 30,000 times
    int covering = 0;
    constexpr int sections = 100;
    for (int k = 0; k < sections; ++k) {
        const int fleet = k % block_fleets;
        const auto truth_at = brute.begin() + static_cast<std::ptrdiff_t>(fleet) * steps;
        const double truth = sorted_quantile(sorted(std::vector<double>(truth_at, truth_at + steps)), 0.99);
        const std::size_t at = static_cast<std::size_t>(fleet) * later + steps +
                               static_cast<std::size_t>(k / block_fleets) * section;
        const Estimate e = quantile_estimate(std::span(ranked).subspan(at, section), {}, 0.99, {});
        covering += e.low <= truth && truth <= e.high ? 1 : 0;
    }
    EXPECT_GE(covering, 89);
    RecordProperty("mean bias in %", std::to_string(100.0 * bias.mean.value) + " +- " +
                                         std::to_string(100.0 * bias.mean.error));
    RecordProperty("furthest fleet, standard errors beyond 0.25 %", std::to_string(bias.furthest));
    RecordProperty("covering sections of 100", covering);
}

}  // namespace
}  // namespace prismopt

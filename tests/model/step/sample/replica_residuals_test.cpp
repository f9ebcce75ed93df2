#include "model/step/sample/replica_residuals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace prismopt {
namespace {

/// Times beyond a path with a known slope, a level of each draw's own, and scatter of each replica's own.
TEST(ReplicaResiduals, RecoverKnownComponents)
{
    constexpr int replicas = 200;
    std::mt19937_64 engine(5);
    std::normal_distribution<double> normal;
    std::vector<double> level(lanes);
    for (double& l : level) {
        l = 3.0 + 0.5 * normal(engine);
    }
    std::vector<ReplicaResidual> residuals;
    for (int r = 0; r < replicas; ++r) {
        for (int l = 0; l < lanes; ++l) {
            const double path = 10.0 + normal(engine);
            residuals.push_back({path, level[l] - 0.2 * path + 0.1 * normal(engine)});
        }
    }
    const ReplicaResidualDistribution distribution = fit_replica_residuals(residuals);
    // Four standard errors: slope 0.1 / sqrt(12,800), deviation 0.1 / sqrt(2 * 12,800),
    // a draw's level 0.1 / sqrt(200).
    const double n = replicas * lanes;
    EXPECT_NEAR(distribution.slope, -0.2, 4.0 * 0.1 / std::sqrt(n));
    EXPECT_NEAR(distribution.deviation, 0.1, 4.0 * 0.1 / std::sqrt(2.0 * n));
    EXPECT_LT(distribution.skewness, 4.0 * std::sqrt(6.0 / n));
    for (int l = 0; l < lanes; ++l) {
        // The slope's error counts at a path of 10.
        EXPECT_NEAR(distribution.at_zero.at[l], level[l],
                    4.0 * (0.1 / std::sqrt(replicas) + 10.0 * 0.1 / std::sqrt(n)));
    }
}

/// Where draws have no level of their own, the scatter of their few replicas is not taken for one.
TEST(ReplicaResiduals, ShrinkLevelsThatAreChance)
{
    std::mt19937_64 engine(6);
    std::normal_distribution<double> normal;
    std::vector<ReplicaResidual> residuals;
    for (int i = 0; i < 4 * lanes; ++i) {
        residuals.push_back({10.0, 3.0 + 0.1 * normal(engine)});
    }
    const ReplicaResidualDistribution distribution = fit_replica_residuals(residuals);
    EXPECT_EQ(distribution.slope, 0.0F);
    for (const float at_zero : distribution.at_zero.at) {
        // Means of four scatter by 0.05; chance leaves a share of that scatter: 4 *
        // sqrt(2 / 64) of the variance at most.
        EXPECT_NEAR(at_zero, 3.0, 4.0 * 0.05 * 4.0 * std::sqrt(2.0 / lanes));
    }
}

}  // namespace
}  // namespace prismopt

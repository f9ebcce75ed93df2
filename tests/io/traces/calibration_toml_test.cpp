#include "io/traces/calibration_toml.hpp"

#include "io/scenario/sections/sections.hpp"
#include "tests/support/synthetic_job.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

Distribution read_back(const std::string& text)
{
    const TomlFile file = parse_toml("distribution = " + text, "written.toml");
    Table table(file.root, file);
    return read_distribution(table.at("distribution", ""), "");
}

/// Every family comes back with the quantiles that it had, to the digits that are written.
TEST(DistributionToml, ReadsBack)
{
    const Family families[] = {Constant{},
                               Normal{0.031},
                               LogNormal{0.3},
                               Gamma{0.5},
                               Weibull{0.4},
                               ShiftedGamma{0.1, 0.8},
                               StudentT{1.5, 0.02},
                               GeneralizedExtremeValue{-0.2, 0.05},
                               Empirical{{0.9, 1.0, 1.2}},
                               Mixture{{{1.0 / 3.0, 0.9, LogNormal{0.02}}, {2.0 / 3.0, 1.4, Gamma{0.05}}}},
                               ParetoTail{Mixture{{{1.0, 1.0, LogNormal{0.05}}}}, 0.05, 0.5, 0.1},
                               ParetoTail{Mixture{{{0.5, 1.0, LogNormal{0.05}}, {0.5, 1.1, Normal{0.05}}}},
                                          0.05, 0.5, 0.1}};
    for (const Family& family : families) {
        Distribution distribution;
        distribution.family = family;
        distribution.cap = 33.0;
        distribution.source = "a \"quoted\"\nname";
        const Distribution back = read_back(distribution_toml(distribution));
        EXPECT_EQ(back.family.index(), family.index());
        const DistributionQuantile expected(distribution);
        const DistributionQuantile found(back);
        for (const double p : {0.01, 0.5, 0.99}) {
            EXPECT_NEAR(found(p, false), expected(p, false), 1e-4 * expected(p, false))
                << distribution_toml(distribution);
        }
    }
}

TEST(VariabilityToml, AScenarioReadsItAsItIs)
{
    SyntheticJob job;
    job.steps = 200;
    job.step = 0.02;
    job.microbatch = 0.1;
    job.communication = 0.2;
    job.gpu = 0.05;
    const Calibration calibration = calibrate(SyntheticTrace(job, 5).next());
    const TomlFile file = parse_toml(variability_toml(calibration, "hpc-2024"), "written.toml");
    Table root(file.root, file);
    const Variability variability = read_variability(root.section("variability", ""));
    root.refuse_unknown_keys();
    EXPECT_NE(variability.microbatch.source.find("synthetic"), std::string::npos);
    // Variance of the square is 2/n of itself: four standard errors for 200 x 16 microbatches and 200 steps,
    // and the noise of a step's mean, as large.
    EXPECT_NEAR(DistributionQuantile(variability.microbatch).moments().cv(), 0.1,
                0.1 * 4.0 * std::sqrt(0.5 / 3200.0) + 0.002);
    EXPECT_NEAR(DistributionQuantile(variability.common_compute).moments().cv(), 0.02,
                0.02 * 4.0 * 2.0 * std::sqrt(0.5 / 200.0) + 0.002);
    EXPECT_NE(residual_distribution(variability, KernelClass::p2p).source.find("synthetic"),
              std::string::npos);
    EXPECT_EQ(residual_distribution(variability, KernelClass::attention).source.find("synthetic"),
              std::string::npos);
}

/// FSDP's gathers are collectives between replicas for a trace, and inside layers for the model.
TEST(VariabilityToml, OffersWhatReplicasMeasuredForGathersInsideLayers)
{
    Calibration calibration;
    CalibratedDistribution& distribution = calibration.distributions.emplace_back();
    distribution.key = "residual.dp_collective";
    distribution.fit.distribution.family = LogNormal{0.07};
    const std::string line = "sharded_collective = " + distribution_toml(distribution.fit.distribution);
    EXPECT_NE(variability_toml(calibration, "hpc-2024").find("\n# " + line), std::string::npos);
}

TEST(VariabilityToml, HasTheExponentsBesideTheMicrobatch)
{
    Calibration calibration;
    calibration.distributions.emplace_back().key = "microbatch";
    calibration.microbatch_exponent = {{1.1, 0.65}, {}};
    calibration.exponents = {{"forward-compute", 1, 0.65, 0.6, 0.7}};
    const std::string text = variability_toml(calibration, "hpc-2024");
    EXPECT_NE(text.find("# Exponent of the microbatch factor: \"forward-compute\", stage 1: 0.650 (0.600 to "
                        "0.700, 95 %)\n"),
              std::string::npos);
    const TomlFile file = parse_toml(text, "written.toml");
    Table root(file.root, file);
    const Variability variability = read_variability(root.section("variability", ""));
    EXPECT_EQ(variability.microbatch_exponent, (MicrobatchExponents{{1.1, 0.65}, {}}));
}

TEST(ReliabilityToml, AScenarioReadsItAsItIs)
{
    std::vector<Outage> outages;
    for (int i = 0; i < 40; ++i) {
        outages.push_back(
            {std::to_string(i % 7), i % 4 == 0 ? "link" : "GPU", 1000.0 * i * i, 1000.0 * i * i + 7200.0});
    }
    const FailureFit fit = fit_failures(outages, {100, 100.0 * 86'400.0});
    const Fault planned{.reason = FaultReason::planned_event, .of = {}, .count = 40, .first_line = 3};
    const TomlFile file =
        parse_toml(reliability_toml(fit, {planned}, {0.01, 4000.0, 0.5, true}, "list.csv"), "written.toml");
    Table root(file.root, file);
    const Reliability reliability =
        read_reliability(root.section("reliability", ""), Cluster{}, WorkloadTask::training);
    root.refuse_unknown_keys();
    ASSERT_EQ(reliability.causes.size(), 2U);
    EXPECT_EQ(reliability.causes[0].name, "GPU");
    EXPECT_NEAR(reliability.causes[0].rate.si * 86'400.0, 30.0 / (100.0 * 100.0), 1e-6);
    EXPECT_EQ(reliability.causes[0].of, RateOf::node);
    EXPECT_NEAR(reliability.causes[0].rate_cv, fit.causes[0].rate_cv, 0.01 * fit.causes[0].rate_cv);
    // No surer than a Poisson process.
    EXPECT_GT(reliability.causes[0].rate_cv, 1.0 / std::sqrt(30.0) - 0.02);
    EXPECT_NEAR(reliability.causes[0].repair.si, 7200.0, 1.0);
    EXPECT_NEAR(reliability.drift.cv, 0.01, 1e-9);
}

TEST(ReliabilityToml, ClustersAreOfTheNodesThatWereWatched)
{
    std::vector<Outage> outages;
    for (int i = 0; i < 100; ++i) {
        const double start = 10.0 * 86'400.0 * (i / 10) + i % 10;  // ten at once, every ten days
        outages.push_back({std::to_string(i % 7), "link", start, start + 7200.0});
    }
    const FailureFit fit = fit_failures(outages, {100, 100.0 * 86'400.0});
    const TomlFile file = parse_toml(reliability_toml(fit, {}, {}, "list.csv"), "written.toml");
    Table root(file.root, file);
    const GapDistribution gaps =
        read_reliability(root.section("reliability", ""), Cluster{}, WorkloadTask::training)
            .causes.front()
            .gaps;
    EXPECT_EQ(gaps.family, GapFamily::gamma);
    EXPECT_NEAR(gaps.cv, fit.causes.front().gap_cv, 0.01 * gaps.cv);
    EXPECT_EQ(gaps.nodes, 100);
}

}  // namespace
}  // namespace prismopt

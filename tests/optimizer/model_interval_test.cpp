#include "optimizer/model_interval.hpp"

#include "optimizer/check_model.hpp"
#include "optimizer/fit/least_squares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

/// The fit's constants with a covariance of their own.
FittedModel as_model(const Fit& fit)
{
    FittedModel model;
    for (const FitConstant& constant : fit.constants) {
        model.constants.push_back({constant.key, constant.sections});
    }
    model.covariance = fit.covariance;
    model.scatter = fit.scatter;
    return model;
}

/// Constants as the catalog has them now, independent and 10 % uncertain.
Fit uncertain(const std::vector<MeasuredRun>& runs)
{
    const Machines machines = Machines::of_catalog();
    Fit fit;
    fit.constants = fitted_constants(runs);
    std::erase_if(fit.constants,
                  [](const FitConstant& c) { return c.key != "gemm" && c.key != "efficiency" && c.key != "host"; });
    const std::size_t n = fit.constants.size();
    fit.covariance.assign(n * n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        fit.covariance[k * n + k] = 0.01;
        FitConstant& constant = fit.constants[k];
        const std::string& entry = constant.sections.front();
        constant.value = constant.file == "accelerators.toml" ? machines.accelerators.at(entry).efficiency.gemm
                         : constant.file == "links.toml"      ? machines.links.at(entry).efficiency
                         : constant.key == "gemm"             ? machines.stacks.at(entry).gemm
                                                              : machines.stacks.at(entry).host.si;
    }
    fit.scatter = {0.03, 0.04, 0.05};
    return fit;
}

/// Gradients by the catalog's entries of a cluster are those of the fit, which sets the constants in the catalog and builds the
/// cluster anew. Both are differences of 1e-3 downwards; where entries share a constant their values are the same but for the digits of
/// the file (3).
TEST(ModelInterval, HasTheDeviationOfTheFit)
{
    const std::vector<MeasuredRun> runs = shipped_runs().runs;
    const NoiseByProfile noise = noise_of(runs);
    const Fit fit = uncertain(runs);
    const FittedModel model = as_model(fit);
    const std::vector<double> expected =
        constants_deviations(fitted_rows(runs, std::vector<double>(runs.size(), 1.0)), fit, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const MeasuredRun& run = runs[i];
        const Setting setting{run.workload, run.phase, run.cluster, noise.at(run.variability), -1e3};
        const double deviation = constants_deviation(setting, run.plan, model);
        EXPECT_GT(deviation, 0.03) << run.row;  // products are most of a step
        EXPECT_NEAR(deviation / expected[i], 1.0, 0.01) << run.row;
        const ModelInterval interval = model_interval(setting, run.plan, model);
        EXPECT_TRUE(interval.fitted);
        EXPECT_NEAR(std::log(interval.high), 1.959964 * std::hypot(deviation, 0.03), 1e-9);
        EXPECT_NEAR(interval.low * interval.high, 1.0, 1e-12);
    }
}

/// A tier's constants are found by its numbers, whatever a scenario calls it.
TEST(ModelInterval, FindsLinksByTheirNumbers)
{
    Cluster cluster = shipped_runs().runs.front().cluster;
    const std::string link = cluster.tiers.front().name;
    cluster.tiers.front().name = "inside";
    const Cluster moved = scaled(cluster, {"efficiency", {link}}, 0.5);
    EXPECT_DOUBLE_EQ(moved.tiers.front().efficiency, 0.5 * cluster.tiers.front().efficiency);
    EXPECT_DOUBLE_EQ(moved.tiers.back().efficiency, cluster.tiers.back().efficiency);
}

/// Without a fit of the accelerator its declared error stands.
TEST(ModelInterval, IsTheDeclaredErrorWhereNothingWasFitted)
{
    MeasuredRun run = shipped_runs().runs.front();
    run.cluster.accelerator.name = "a chip of its own";
    run.cluster.accelerator.model_error = 0.2;
    const auto noise = noise_of({run});
    const Setting setting{run.workload, run.phase, run.cluster, noise.begin()->second, -1e3};
    const ModelInterval interval = model_interval(setting, run.plan, fitted_model());
    EXPECT_FALSE(interval.fitted);
    EXPECT_DOUBLE_EQ(interval.low, 0.8);
    EXPECT_DOUBLE_EQ(interval.high, 1.2);
}

/// Of 100 rows of which the constants explain a tenth of what is missing on the worst six, 95 % must be inside: the sixth decides.
TEST(Widening, PutsTheShareInside)
{
    std::vector<LeftOut> rows(100, {0.01, 0.05, 0.05, 1.0});
    for (std::size_t i = 0; i < 6; ++i) {
        const double deviations = 2.0 + static_cast<double>(i);
        rows[i].error = two_sided_95 * std::hypot(0.05 * deviations, 0.05);
    }
    EXPECT_NEAR(widening_of(rows), 4.0, 1e-9);  // five rows may stay outside; the least of the six needs 2 squared
    EXPECT_EQ(widening_of(std::vector<LeftOut>(10, {0.01, 0.05, 0.05, 1.0})), 1.0);
}

}  // namespace
}  // namespace prismopt

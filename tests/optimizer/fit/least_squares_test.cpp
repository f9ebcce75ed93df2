#include "optimizer/fit/least_squares.hpp"

#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/fit/catalog_writer.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace prismopt {
namespace {

/// Shipped runs on one accelerator, so that few constants play a part.
std::vector<MeasuredRun> runs_on_a100()
{
    std::vector<MeasuredRun> runs = shipped_runs().runs;
    std::erase_if(runs, [](const MeasuredRun& run) { return run.cluster.accelerator.name != "a100-sxm-80gb"; });
    return runs;
}

double value_of(const std::vector<FitConstant>& constants, const std::string& name)
{
    for (const FitConstant& constant : constants) {
        if (constant.name() == name) {
            return constant.value;
        }
    }
    return 0.0;
}

/// Times made with an efficiency 10 % below what is believed give it back; what the runs do not tell stays where it was.
TEST(FitConstants, FindsTheConstantThatMadeTheTimes)
{
    std::vector<MeasuredRun> runs = runs_on_a100();
    ASSERT_EQ(runs.size(), 8U);
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<double> one(runs.size(), 1.0);
    const std::vector<FitConstant> believed = fitted_constants(runs);
    std::vector<FitConstant> truth = believed;
    for (FitConstant& constant : truth) {
        constant.value *= constant.name() == "a100-sxm-80gb.gemm" ? 0.9 : 1.0;
    }
    const std::vector<double> times = predicted_times(fitted_rows(runs, one), truth, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].measured_s = times[i];
    }
    const std::vector<FittedRow> rows = fitted_rows(runs, one);
    const Fit fit = fit_constants(rows, believed, noise, 20);
    EXPECT_NEAR(value_of(fit.constants, "a100-sxm-80gb.gemm") / value_of(truth, "a100-sxm-80gb.gemm"), 1.0, 0.02);
    const std::vector<double> fitted = predicted_times(rows, fit.constants, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        EXPECT_NEAR(fitted[i] / times[i], 1.0, 0.01) << runs[i].row;
    }
    ASSERT_EQ(fit.covariance.size(), fit.constants.size() * fit.constants.size());
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        EXPECT_NEAR(std::sqrt(fit.covariance[k * fit.constants.size() + k]), fit.deviation[k], 1e-12);
    }
}

/// A constant that no run tells anything of follows its relative, else it stays as believed.
TEST(FitConstants, FollowTheirRelatives)
{
    const std::vector<MeasuredRun> runs = runs_on_a100();
    std::vector<FitConstant> believed = fitted_constants(runs);
    const FitConstant known =
        *std::find_if(believed.begin(), believed.end(), [](const FitConstant& c) { return c.name() == "a100-sxm-80gb.gemm"; });
    for (const char* group : {"gb200", "b200-sxm"}) {
        believed.push_back(known);
        believed.back().group = group;
        believed.back().sections = {group};
    }
    believed.back().relative = known.name();
    const Fit fit = fit_constants(fitted_rows(runs, std::vector<double>(runs.size(), 1.0)), believed, noise_of(runs), 20);
    const double fitted = value_of(fit.constants, known.name());
    EXPECT_GT(std::abs(fitted / known.value - 1.0), 0.05);
    EXPECT_NEAR(value_of(fit.constants, "b200-sxm.gemm") / fitted, 1.0, 1e-3);
    EXPECT_NEAR(value_of(fit.constants, "gb200.gemm") / known.value, 1.0, 1e-3);
}

/// A constant of another accelerator leaves a run's time as it is; one of its own does not.
TEST(FitConstants, ConcernTheRunsThatUseThem)
{
    const std::vector<MeasuredRun> runs = shipped_runs().runs;
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FittedRow> rows = fitted_rows(runs, std::vector<double>(runs.size(), 1.0));
    const std::vector<FitConstant> constants = fitted_constants(runs);
    const std::vector<double> before = predicted_times(rows, constants, noise);
    for (std::size_t k = 0; k < constants.size(); ++k) {
        std::vector<FitConstant> moved = constants;
        moved[k].value *= 0.9;
        const std::vector<double> after = predicted_times(rows, moved, noise);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (!constants[k].concerns(runs[i])) {
                EXPECT_EQ(after[i], before[i]) << constants[k].name() << ", " << runs[i].row;
            }
        }
    }
}

TEST(CatalogWriter, ReplacesTheLinesOfItsConstants)
{
    const TemporaryFolder folder;
    std::ofstream(folder.file("accelerators.toml"))
        << "[a.efficiency]\ngemm = 0.5   # old\n[b.efficiency]\ngemm = 0.5   # kept\n";
    std::ofstream(folder.file("links.toml")) << "[c]\nlatency = \"1 us\" # old\n";
    Fit fit;
    fit.constants = {{"accelerators.toml", "a", {"a"}, "gemm", 0.75, 0.3, 1.0},
                     {"links.toml", "c", {"c"}, "latency", 2.5e-6, 0.3, 1.0}};
    fit.deviation = {0.01, 0.2};
    fit.covariance = {1e-4, 0.0, 0.0, 0.04};
    fit.scatter = {0.05, 0.06, 0.12};
    write_catalog(folder.file(""), fit, {}, "2026-01-02", 0.05, 0.04, 4.0);
    const auto text = [&folder](const char* name) {
        std::ostringstream content;
        content << std::ifstream(folder.file(name)).rdbuf();
        return content.str();
    };
    EXPECT_NE(text("accelerators.toml").find("gemm = 0.75                         # fitted 2026-01-02 to 0 rows, +-1 %"),
              std::string::npos);
    EXPECT_NE(text("accelerators.toml").find("gemm = 0.5   # kept"), std::string::npos);
    EXPECT_NE(text("links.toml").find("latency = \"2.5 us\""), std::string::npos);
    EXPECT_NE(text("fit.toml").find("date = \"2026-01-02\""), std::string::npos);
    fit.constants[0].sections = {"nobody"};
    EXPECT_THROW(write_catalog(folder.file(""), fit, {}, "2026-01-02", 0.05, 0.04, 4.0), InputError);
}

}  // namespace
}  // namespace prismopt

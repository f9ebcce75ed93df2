#include "optimizer/fit/least_squares.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/sections/catalog.hpp"

#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/fit/catalog_writer.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace prismopt {
namespace {

/// Shipped runs on one accelerator, so that few constants play a part.
std::vector<MeasuredRun> runs_on_a100()
{
    std::vector<MeasuredRun> runs = shipped_runs().runs;
    std::erase_if(runs,
                  [](const MeasuredRun& run) { return run.cluster.accelerator.name != "a100-sxm-80gb"; });
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

void set_measured(std::vector<MeasuredRun>& runs, const std::vector<FitConstant>& truth)
{
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<double> one(runs.size(), 1.0);
    const std::vector<double> times = predicted_times(fitted_rows(runs, one), truth, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].measured_s = times[i];
    }
}

std::vector<FittedRow> rows_of(const std::vector<MeasuredRun>& runs)
{
    return fitted_rows(runs, std::vector<double>(runs.size(), 1.0));
}

/// Times made with shares 10 % below what is believed give it back: of the chip, and of its
/// stack by what is believed of that.
TEST(FitConstants, FindsTheConstantThatMadeTheTimes)
{
    std::vector<MeasuredRun> runs = runs_on_a100();
    ASSERT_EQ(runs.size(), 8U);
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FitConstant> believed = fitted_constants(runs);
    std::vector<FitConstant> truth = believed;
    for (FitConstant& constant : truth) {
        constant.value *= constant.name() == "ampere.gemm" ? 0.9 : 1.0;
    }
    set_measured(runs, truth);
    const std::vector<FittedRow> rows = rows_of(runs);
    const Fit fit = fit_constants(rows, believed, believed, noise, 20);
    const auto product = [](const std::vector<FitConstant>& constants) {
        return value_of(constants, "ampere.gemm") * value_of(constants, "megatron-2022.gemm");
    };
    EXPECT_NEAR(product(fit.constants) / product(truth), 1.0, 0.02);
    const std::vector<double> fitted = predicted_times(rows, fit.constants, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        EXPECT_NEAR(fitted[i] / runs[i].measured_s, 1.0, 0.01) << runs[i].row;
    }
    ASSERT_EQ(fit.covariance.size(), fit.constants.size() * fit.constants.size());
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        EXPECT_NEAR(std::sqrt(fit.covariance[k * fit.constants.size() + k]), fit.deviation[k], 1e-12);
    }
}

/// Names of stacks of the family fsdp, and of their mean.
bool is_of_fsdp(const std::string& name)
{
    return name.find("fsdp") != std::string::npos || name == "composer" || name == "nemo-automodel";
}

/// The shipped runs on A100 with other stacks, a source each. Times: what stacks of FSDP make
/// of matrix products is `factor`.
std::vector<MeasuredRun> runs_of_stacks(const std::vector<std::string>& stacks, double factor)
{
    std::vector<MeasuredRun> runs = runs_on_a100();
    const std::vector<MeasuredRun> shipped = runs;
    for (const std::string& stack : stacks) {
        for (MeasuredRun run : shipped) {
            run.source = stack;
            run.cluster.stack = catalog_stack(stack);
            runs.push_back(run);
        }
    }
    std::vector<FitConstant> truth = fitted_constants(runs);
    for (FitConstant& constant : truth) {
        constant.value *=
            constant.file == "stacks.toml" && constant.key == "gemm" && is_of_fsdp(constant.group) ? factor
                                                                                                   : 1.0;
    }
    set_measured(runs, truth);
    return runs;
}

constexpr double fsdp_factor = 0.85;

/// A stack without runs has what the others of its program have in the mean, and is
/// less well known than they are.
TEST(FitConstants, OfFewRunsAreThoseOfTheirFamily)
{
    std::vector<MeasuredRun> runs =
        runs_of_stacks({"composer", "nemo-automodel", "fsdp-compile"}, fsdp_factor);
    const std::vector<FitConstant> believed = fitted_constants(runs);
    const HierarchicalFit fitted = fit_hierarchy(rows_of(runs), believed, noise_of(runs), 20);
    const auto deviation = [&fitted](const std::string& name) {
        for (std::size_t k = 0; k < fitted.fit.constants.size(); ++k) {
            if (fitted.fit.constants[k].name() == name) {
                return fitted.fit.deviation[k];
            }
        }
        return 0.0;
    };
    double members = 1.0;
    for (const char* name : {"composer.gemm", "nemo-automodel.gemm", "fsdp-compile.gemm"}) {
        EXPECT_NEAR(value_of(fitted.fit.constants, name), fsdp_factor, 0.04) << name;
        members *= std::cbrt(value_of(fitted.fit.constants, name));
    }
    EXPECT_NEAR(value_of(fitted.fit.constants, "fsdp.gemm"), members, 0.02);
    EXPECT_NEAR(value_of(fitted.fit.constants, "other fsdp.gemm"),
                value_of(fitted.fit.constants, "fsdp.gemm"), 1e-3);
    EXPECT_GT(deviation("other fsdp.gemm"), deviation("fsdp.gemm"));
    EXPECT_GT(deviation("fsdp.gemm"), 0.0);
}

/// One run that says otherwise moves its stack, but not all the way: the others
/// of the program say what it is.
TEST(FitConstants, OfOneRunAreBetweenThatAndTheFamily)
{
    std::vector<MeasuredRun> runs =
        runs_of_stacks({"composer", "nemo-automodel", "fsdp-compile", "fsdp-compile-16bit"}, fsdp_factor);
    constexpr std::size_t runs_of_a_stack = 8;
    runs.resize(runs.size() - runs_of_a_stack + 1);
    constexpr double faster = 0.8;
    runs.back().measured_s *= faster;
    const HierarchicalFit fitted = fit_hierarchy(rows_of(runs), fitted_constants(runs), noise_of(runs), 20);
    const double ratio = value_of(fitted.fit.constants, "fsdp-compile-16bit.gemm") /
                         value_of(fitted.fit.constants, "fsdp.gemm");
    EXPECT_GT(ratio, 1.02);
    EXPECT_LT(ratio, 1.0 / faster - 0.02);
}

/// Where each stack has many runs, families change little: the fit is that of each stack alone.
TEST(FitConstants, OfManyRunsAreThoseOfThePlainFit)
{
    const std::vector<MeasuredRun> runs =
        runs_of_stacks({"composer", "nemo-automodel", "internevo"}, fsdp_factor);
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FitConstant> believed = fitted_constants(runs);
    std::vector<FitConstant> unshrunk = believed;
    for (FitConstant& constant : unshrunk) {
        constant.spread *= constant.spread_known ? 1.0 : 100.0;
    }
    const std::vector<FittedRow> rows = rows_of(runs);
    const std::vector<double> shrunk =
        predicted_times(rows, fit_hierarchy(rows, believed, noise, 20).fit.constants, noise);
    const std::vector<double> plain =
        predicted_times(rows, fit_constants(rows, unshrunk, unshrunk, noise, 40).constants, noise);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(shrunk[i] / plain[i], 1.0, 0.01)
            << rows[i].run.row << ", " << rows[i].run.cluster.stack.name;
    }
}

/// A run that was disturbed, half as slow again as it should be, moves no constant of its stack by much.
TEST(FitConstants, HardlyFollowADisturbedRun)
{
    std::vector<MeasuredRun> runs = runs_of_stacks({"composer", "nemo-automodel"}, fsdp_factor);
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FitConstant> believed = fitted_constants(runs);
    const HierarchicalFit clean = fit_hierarchy(rows_of(runs), believed, noise, 20);
    const std::vector<double> expected = predicted_times(rows_of(runs), clean.fit.constants, noise);
    runs[runs.size() - 3].measured_s *= 1.5;
    const HierarchicalFit disturbed = fit_hierarchy(rows_of(runs), believed, noise, 20);
    const std::vector<double> times = predicted_times(rows_of(runs), disturbed.fit.constants, noise);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        EXPECT_NEAR(times[i] / expected[i], 1.0, 0.02) << runs[i].row << ", " << runs[i].source;
    }
}

/// How much members of a family differ is found from those that have runs.
TEST(FitConstants, EstimateHowMuchMembersDiffer)
{
    std::vector<MeasuredRun> runs =
        runs_of_stacks({"composer", "nemo-automodel", "fsdp-compile", "fsdp-compile-16bit"}, fsdp_factor);
    const auto spread_of = [&](double log_distance) {
        std::vector<MeasuredRun> moved = runs;
        double sign = 1.0;
        for (MeasuredRun& run : moved) {
            sign = run.source == "composer" || run.source == "fsdp-compile" ? 1.0 : -1.0;
            run.measured_s *= is_of_fsdp(run.source) ? std::exp(sign * log_distance) : 1.0;
        }
        const HierarchicalFit fit =
            fit_hierarchy(rows_of(moved), fitted_constants(moved), noise_of(moved), 20);
        for (const FitConstant& constant : fit.believed) {
            if (constant.name() == "composer.gemm") {
                return constant.spread;
            }
        }
        return 0.0;
    };
    EXPECT_GT(spread_of(0.3), 1.5 * spread_of(0.0));
}

/// What is published of a constant holds in place of the mean of all, with a deviation of its own.
TEST(FitConstants, HaveWhatIsPublishedOfTheirFamily)
{
    MeasuredRun run = runs_on_a100().front();
    run.cluster.stack = catalog_stack("deepspeed-zero");
    run.workload = catalog_workload("llama3-8b");
    int found = 0;
    for (const FitConstant& constant : fitted_constants({run})) {
        if (constant.file == "stacks.toml" && constant.key == "attention" && !constant.is_mean()) {
            EXPECT_EQ(constant.group, "FlashAttention 2");
            EXPECT_EQ(constant.parent, "");
            EXPECT_EQ(constant.value, 0.75);
            EXPECT_EQ(constant.spread, 0.25);
            ++found;
        }
    }
    EXPECT_EQ(found, 1);
}

/// Constants are identified by their names, of which accelerators and stacks have some in common.
TEST(FitConstants, HaveNamesOfTheirOwnAndParentsBeforeThem)
{
    std::set<std::string> names;
    for (const FitConstant& constant : fitted_constants(shipped_runs().runs)) {
        EXPECT_TRUE(constant.parent.empty() || names.contains(constant.parent)) << constant.name();
        EXPECT_TRUE(names.insert(constant.name()).second) << constant.name();
        EXPECT_GT(constant.spread, 0.0) << constant.name();
    }
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
    fit.constants = {{"accelerators.toml", "a", {"a"}, "gemm", 0.75, 0.3, 1.0, "family.gemm"},
                     {"links.toml", "c", {"c"}, "latency", 2.5e-6, 0.3, 1.0}};
    fit.deviation = {0.01, 0.2};
    fit.covariance = {1e-4, 0.0, 0.0, 0.04};
    fit.scatter = {0.05, 0.06, 0.12, 0.12};
    fit.widening = {1.0, 2.0, 2.0, 2.0};
    const std::vector<HeldOutErrors> held_out{
        {"A source", "gpt", RunKind::hybrid, true, 3, {0.05, 1.0, 0.2}, {0.07, 0.667, 0.3}, -0.02}};
    write_catalog(folder.file(""), fit, {}, "2026-01-02", 0.05, 0.04, held_out, {});
    const auto text = [&folder](const char* name) {
        std::ostringstream content;
        content << std::ifstream(folder.file(name)).rdbuf();
        return content.str();
    };
    EXPECT_NE(text("accelerators.toml")
                  .find("gemm = 0.75                         # mean of family, fitted 2026-01-02, +-1 %"),
              std::string::npos);
    EXPECT_NE(text("accelerators.toml").find("gemm = 0.5   # kept"), std::string::npos);
    EXPECT_NE(text("links.toml").find("latency = \"2.5 us\""), std::string::npos);
    EXPECT_NE(text("fit.toml").find("date = \"2026-01-02\""), std::string::npos);
    EXPECT_NE(text("fit.toml").find("line = \"gpt\", kind = \"hybrid\", known = true, rows = 3"),
              std::string::npos);
    fit.constants[0].sections = {"nobody"};
    EXPECT_THROW(write_catalog(folder.file(""), fit, {}, "2026-01-02", 0.05, 0.04, {}, {}), InputError);
}

}  // namespace
}  // namespace prismopt

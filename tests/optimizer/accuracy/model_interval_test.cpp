#include "optimizer/accuracy/model_interval.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"

#include "io/scenario/reading/scaled_cluster.hpp"
#include "io/scenario/sections/sections.hpp"
#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/fit/held_out_accelerators.hpp"
#include "optimizer/fit/least_squares.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace prismopt {
namespace {

/// The fit's constants with a covariance of their own.
FittedModel as_model(const Fit& fit)
{
    FittedModel model;
    for (const FitConstant& constant : fit.constants) {
        model.constants.push_back({constant.key, constant.sections, 1});
    }
    model.covariance = fit.covariance;
    model.scatter = fit.scatter;
    model.widening.assign(run_kinds, 1.0);
    return model;
}

/// Constants as the catalog has them now, independent and 10 % uncertain.
Fit uncertain(const std::vector<MeasuredRun>& runs)
{
    const Machines machines = Machines::of_catalog();
    Fit fit;
    fit.constants = fitted_constants(runs);
    std::erase_if(fit.constants, [](const FitConstant& c) {
        return c.is_mean() || (c.key != "gemm" && c.key != "efficiency" && c.key != "host");
    });
    const std::size_t n = fit.constants.size();
    fit.covariance.assign(n * n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        fit.covariance[k * n + k] = 0.01;
        FitConstant& constant = fit.constants[k];
        const std::string& entry = constant.sections.front();
        constant.value = constant.file == "accelerators.toml"
                             ? machines.accelerators.at(entry).efficiency.gemm
                         : constant.file == "links.toml" ? machines.links.at(entry).efficiency
                         : constant.key == "gemm"        ? machines.stacks.at(entry).gemm
                                                         : machines.stacks.at(entry).host.si;
    }
    fit.scatter = {0.03, 0.04, 0.05, 0.05};
    return fit;
}

/// Gradients by the catalog's entries of a cluster are those of the fit, which sets the constants in the
/// catalog and builds the cluster anew. Both are differences of 1e-3 downwards; where entries share a
/// constant their values are the same but for the digits of the file (3).
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
        const Setting setting{run.workload, run.phase(), run.cluster, noise.at(run.variability), -1e3};
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

/// A scenario with other lines in [cluster] and in its node's tier.
Scenario scenario_with(const std::string& cluster, const std::string& node = "link = \"nvlink4\"",
                       const std::string& network = "gpt-22b")
{
    return parse_scenario(
        "name = \"interval\"\n[workload]\nmodel = \"" + network +
            "\"\n"
            "[[phase]]\ntokens = 1e12\nsequence_length = 2048\nglobal_batch = 64\n"
            "[cluster]\ngpus = 64\ngpu_price = \"2 USD/h\"\n" +
            cluster + "\n[[cluster.tier]]\nname = \"inside\"\ngroup = 8\n" + node +
            "\n[[cluster.tier]]\nname = \"outside\"\nlink = \"ib-ndr\"\n"
            "[variability]\nprofile = \"hpc-2024\"\n"
            "[reliability]\nnode_failure_rate = \"0 /day\"\nrestart = \"0 s\"\ncheckpoint_interval = \"1 "
            "h\"\n"
            "checkpoint_write = \"0 s\"\n"
            "[space]\ngpus = [64]\ntp = [8]\npp = [2]\n[objectives]\nminimise = [\"training_time_p99\"]\n",
        "interval.toml");
}

/// The noise has no part in it, and is that of the first scenario.
ModelInterval interval_of_scenario(const Scenario& scenario)
{
    static const NoiseTables noise = tables_of(scenario);
    const StudyModel model(scenario, noise);
    return model_interval(model.problem, parse_design("", scenario), fitted_model());
}

const std::string h100 = "accelerator = \"h100-sxm\"\nstack = \"megatron-bridge\"\n";

/// 20,300 nanoseconds are 20.3 microseconds, though their doubles differ in the last bit.
TEST(ModelInterval, NumbersOfTheCatalogInOtherUnitsAreItsNumbers)
{
    const NetworkTier link = catalog_link("nvlink4");
    const auto latency = [&](double factor, const char* unit) {
        return fmt::format("link = \"nvlink4\"\nlatency = \"{:.17g} {}\"", link.latency.si * factor, unit);
    };
    const ModelInterval same = interval_of_scenario(scenario_with(h100));
    for (const std::string& node : {latency(1e6, "us"), latency(1e9, "ns")}) {
        const ModelInterval interval = interval_of_scenario(scenario_with(h100, node));
        EXPECT_TRUE(interval.fitted) << node;
        EXPECT_NEAR(interval.high, same.high, 1e-9) << node;
    }
    EXPECT_FALSE(interval_of_scenario(scenario_with(h100, latency(1.01e6, "us"))).fitted);
    Cluster cluster = scenario_with(h100).cluster;
    cluster.tiers.front().latency.si *= 1.0 + 1e-15;
    EXPECT_EQ(unlike_catalog(cluster), 0.0);
}

/// Every key that accelerator_override has, with units where it needs them and what the catalog has.
std::map<std::string, std::pair<std::string, double>> overridable()
{
    const Accelerator a = catalog_accelerator("h100-sxm");
    return {{"peak_bf16", {" TFLOP/s", a.peak_bf16.si / 1e12}},
            {"peak_fp32", {" TFLOP/s", a.peak_fp32.si / 1e12}},
            {"peak_tf32", {" TFLOP/s", a.peak_tf32.si / 1e12}},
            {"peak_fp8", {" TFLOP/s", a.peak_fp8.si / 1e12}},
            {"peak_fp4", {" TFLOP/s", 4000.0}},
            {"memory", {" B", a.memory.si}},
            {"memory_reserved", {" B", a.memory_reserved.si}},
            {"memory_bandwidth", {" B/s", a.memory_bandwidth.si}},
            {"host_link", {" B/s", a.host_link.si}},
            {"host_memory_bandwidth", {" B/s", a.host_memory_bandwidth.si}},
            {"nvme_bandwidth", {" B/s", 1e9}},
            {"power", {" W", a.power.si}},
            {"energy.bf16", {" pJ/FLOP", 0.9}},
            {"energy.fp32", {" pJ/FLOP", 9.0}},
            {"energy.tf32", {" pJ/FLOP", 1.8}},
            {"energy.fp8", {" pJ/FLOP", 0.45}},
            {"energy.fp4", {" pJ/FLOP", 0.25}},
            {"energy.memory", {" pJ/bit", 5.0}},
            {"launch", {" s", a.launch.si}},
            {"sustained_clock", {"", a.sustained_clock}},
            {"multiprocessors", {"", a.multiprocessors}},
            {"model_error", {"", a.model_error}},
            {"efficiency.gemm", {"", a.efficiency.gemm}},
            {"softmax_columns", {"", a.softmax_columns}},
            {"efficiency.gemm_fp8", {"", a.efficiency.gemm_fp8}},
            {"efficiency.gemm_fp8_block", {"", a.efficiency.gemm_fp8_block}},
            {"efficiency.gemm_mxfp8", {"", 0.7}},
            {"efficiency.scan", {"", a.efficiency.scan}},
            {"efficiency.gemm_nvfp4", {"", 0.45}},
            {"efficiency.gemm_low", {"", a.efficiency.gemm_fp8}},
            {"efficiency.attention_latent", {"", a.efficiency.attention_latent}},
            {"efficiency.cast", {"", a.efficiency.cast}},
            {"efficiency.stream", {"", a.efficiency.stream}},
            {"efficiency.attention", {"", a.efficiency.attention}},
            {"efficiency.attention_backward", {"", a.efficiency.attention_backward}},
            {"efficiency.memory", {"", a.efficiency.memory}}};
}

Scenario overridden(const std::string& key, double value)
{
    const std::string unit = overridable().at(key).first;
    const std::string number =
        key == "multiprocessors" ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
    return scenario_with(fmt::format("{}accelerator_override.{} = {}", h100, key,
                                     unit.empty() ? number : fmt::format("\"{}{}\"", number, unit)));
}

TEST(ModelInterval, CasesHaveEveryKeyOfTheOverride)
{
    std::set<std::string> all;
    for (const KeyInfo& key : accelerator_fields().keys()) {
        const ValueShape& shape = key.shapes.front();
        if (shape.kind != ValueShape::Kind::section) {
            all.insert(key.key);
            continue;
        }
        for (const KeyInfo& share : shape.section().keys()) {
            all.insert(key.key + "." + share.key);
        }
    }
    std::set<std::string> cases;
    for (const auto& [key, unused] : overridable()) {
        cases.insert(key);
    }
    EXPECT_EQ(cases, all);
}

/// No number of an accelerator makes a prediction more certain, and the catalog's own changes nothing.
TEST(ModelInterval, IsNeverNarrowerWithAnOverride)
{
    const ModelInterval plain = interval_of_scenario(scenario_with(h100));
    EXPECT_TRUE(plain.fitted);
    for (const auto& [key, unit_and_value] : overridable()) {
        const double value = unit_and_value.second;
        const bool has = key != "peak_fp4" && key != "efficiency.gemm_nvfp4" &&
                         key != "efficiency.gemm_low" && key != "efficiency.gemm_mxfp8" &&
                         key != "nvme_bandwidth" && !key.starts_with("energy.");
        if (has) {
            const Scenario same = overridden(key, value);
            EXPECT_EQ(same.cluster.accelerator.name, "h100-sxm") << key;
            const ModelInterval own = interval_of_scenario(same);
            EXPECT_EQ(own.low, plain.low) << key;
            EXPECT_EQ(own.high, plain.high) << key;
            EXPECT_TRUE(own.fitted) << key;
        }
        for (const double factor : {0.25, 0.9, 0.9999, 1.0001, 1.1, 1.3}) {
            if (key.starts_with("efficiency.") && factor * value > 1.0) {
                continue;
            }
            const ModelInterval changed = interval_of_scenario(overridden(key, factor * value));
            EXPECT_LE(changed.low, plain.low) << key << " times " << factor;
            EXPECT_GE(changed.high, plain.high) << key << " times " << factor;
        }
    }
}

/// A chip described by its datasheet has the interval of accelerators that were held out of the fit, or the
/// error that it declares where that is wider.
TEST(ModelInterval, OfAnInventedAcceleratorIsThatOfThoseHeldOut)
{
    const FittedModel model = fitted_model();
    EXPECT_GT(model.unmeasured, 0.1);
    const ModelInterval twice = interval_of_scenario(overridden("peak_bf16", 2.0 * 989.4));
    EXPECT_FALSE(twice.fitted);
    EXPECT_GT(std::log(twice.high), two_sided_95 * std::hypot(model.unmeasured, model.scatter[0]));
    const ModelInterval ten_times = interval_of_scenario(overridden("peak_bf16", 9894.0));
    EXPECT_NEAR(std::log(ten_times.high), std::log(twice.high), 0.3);
    const ModelInterval never_measured = interval_of_scenario(scenario_with("accelerator = \"mi325x\""));
    EXPECT_FALSE(never_measured.fitted);
    EXPECT_GT(std::log(never_measured.high), two_sided_95 * std::hypot(model.unmeasured, model.scatter[0]));
    const ModelInterval declared = interval_of_scenario(overridden("model_error", 0.9));
    EXPECT_NEAR(declared.high, 1.9, 1e-6);
}

/// Of each accelerator of the catalog, for a dense network and for a mixture of experts.
class DeclaredAccelerators : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Networks, DeclaredAccelerators, testing::Values("gpt-22b", "mixtral-8x7b"));

TEST_P(DeclaredAccelerators, AreNeverMoreCertainThanMeasuredOnes)
{
    double widest_measured = 1.0;
    double narrowest_declared = std::numeric_limits<double>::infinity();
    const FittedModel model = fitted_model();
    for (const std::string& name : catalog_accelerators()) {
        const Accelerator accelerator = catalog_accelerator(name);
        std::string lines = fmt::format("accelerator = \"{}\"\nstack = \"megatron-bridge\"\n", name);
        lines += accelerator.power.si > 0.0 ? "" : "accelerator_override.power = \"500 W\"\n";
        lines += accelerator.memory_bandwidth.si > 0.0
                     ? ""
                     : "accelerator_override.memory_bandwidth = \"4 TB/s\"\n";
        const ModelInterval interval =
            interval_of_scenario(scenario_with(lines, "link = \"nvlink4\"", GetParam()));
        EXPECT_EQ(interval.fitted, rows_on(model, name) > 0) << name;
        if (interval.fitted) {
            widest_measured = std::max(widest_measured, interval.high);
        } else {
            narrowest_declared = std::min(narrowest_declared, interval.high);
        }
    }
    ASSERT_TRUE(std::isfinite(narrowest_declared));
    EXPECT_GE(narrowest_declared, widest_measured);
}

/// Software that a user describes is known no better than any of the program, whatever its numbers are;
/// neither are a library or a link.
TEST(OwnEntries, AreNeverMoreCertainThanTheProgrammes)
{
    double widest = 1.0;
    for (const std::string& stack : catalog_stacks()) {
        const std::string lines = fmt::format("accelerator = \"h100-sxm\"\nstack = \"{}\"\n", stack);
        widest = std::max(widest, interval_of_scenario(scenario_with(lines)).high);
    }
    Scenario own = scenario_with("accelerator = \"h100-sxm\"\nstack = \"megatron-bridge\"\n");
    const ModelInterval known = interval_of_scenario(own);
    own.cluster.stack.name = "ours";
    own.cluster.stack.own = true;
    EXPECT_GT(interval_of_scenario(own).high, widest);
    EXPECT_FALSE(interval_of_scenario(own).fitted);
    own.cluster.stack.own = false;
    own.cluster.library.own = true;
    EXPECT_GT(interval_of_scenario(own).high, known.high);
    EXPECT_FALSE(interval_of_scenario(own).fitted);
}

/// The text beside the interval says where it comes from.
TEST(ModelInterval, OfAModelErrorInTheScenarioIsNotFromMeasuredRuns)
{
    EXPECT_TRUE(interval_of_scenario(scenario_with(h100)).fitted);
    EXPECT_TRUE(interval_of_scenario(overridden("model_error", 1e-3)).fitted);  // the fit's own is wider
    EXPECT_FALSE(interval_of_scenario(overridden("model_error", 0.9)).fitted);
}

/// The same for links: by the entry with another number, and in numbers of one's own.
TEST(ModelInterval, IsNeverNarrowerWithOtherLinks)
{
    const ModelInterval plain = interval_of_scenario(scenario_with(h100));
    const NetworkTier link = catalog_link("nvlink4");
    std::string same = fmt::format("bandwidth = \"{} B/s\"\nefficiency = {}\nlatency = \"{} s\"\n",
                                   link.bandwidth.si, link.efficiency, link.latency.si);
    same += link.in_network > 0.0 ? fmt::format("in_network = {}\n", link.in_network) : "";
    same += link.point_to_point > 0.0 ? fmt::format("point_to_point = {}\n", link.point_to_point) : "";
    EXPECT_DOUBLE_EQ(interval_of_scenario(scenario_with(h100, same)).high, plain.high);
    for (const std::string& node :
         {std::string("link = \"nvlink4\"\nbandwidth = \"900 GB/s\""),
          std::string("link = \"nvlink4\"\nlatency = \"0 s\""),
          std::string("link = \"nvlink4\"\nefficiency = 0.99"),
          std::string("link = \"nvlink4\"\nin_network = 0.9"),
          std::string("link = \"nvlink4\"\npoint_to_point = 0.9"),
          std::string("bandwidth = \"5 TB/s\"\nefficiency = 1\nlatency = \"0 s\"")}) {
        const ModelInterval changed = interval_of_scenario(scenario_with(h100, node));
        EXPECT_LE(changed.low, plain.low) << node;
        EXPECT_GE(changed.high, plain.high) << node;
        EXPECT_FALSE(changed.fitted) << node;
    }
}

/// A link that nobody has measured may be half as fast as described.
TEST(ModelInterval, OfAnInventedLinkHasThatLinkAtHalfItsSpeed)
{
    const auto of_link = [](const char* bandwidth) {
        const Scenario scenario = scenario_with(
            h100, fmt::format("bandwidth = \"{}\"\nefficiency = 0.99\nlatency = \"1 us\"", bandwidth));
        const StudyModel model(scenario);
        const double step_s =
            std::get<NoiseFree>(Predictor(model.problem).bound(parse_design("", scenario))).step_s;
        return std::pair(step_s, interval_of_scenario(scenario));
    };
    const auto [fast_s, fast] = of_link("450 GB/s");
    const auto [slow_s, slow] = of_link("225 GB/s");
    EXPECT_GT(std::log(fast.high), two_sided_95 * std::log(slow_s / fast_s));
}

/// Of dense networks and mixtures of experts: most measured runs are in 16 bits.
TEST(ModelInterval, IsNeverNarrowerInFewerBits)
{
    for (const char* name : {"gpt-22b", "mixtral-8x7b"}) {
        const auto in = [&](const char* precision) {
            std::string text = scenario_with(h100).text;
            text.replace(text.find("\"gpt-22b\""), 9,
                         fmt::format("\"{}\"\nprecision = \"{}\"", name, precision));
            return interval_of_scenario(parse_scenario(text, "interval.toml"));
        };
        const ModelInterval bf16 = in("bf16");
        const ModelInterval fp8 = in("fp8");
        EXPECT_LE(fp8.low, bf16.low) << name;
        EXPECT_GE(fp8.high, bf16.high) << name;
    }
}

/// Ninety-five rows in a hundred, by weight.
TEST(HeldOutAccelerators, HaveADeviationThatHoldsTheShare)
{
    BorrowedShares pair;
    for (int i = 1; i <= 100; ++i) {
        pair.errors.push_back(0.0);
        pair.needed.push_back(0.01 * i);
        pair.weight.push_back(1.0);
    }
    EXPECT_DOUBLE_EQ(unmeasured_deviation({pair}), 0.95);
    pair.weight.front() = 1e6;
    EXPECT_DOUBLE_EQ(unmeasured_deviation({pair}), 0.01);
}

/// Of 100 rows of which the constants explain a tenth of what is missing on the worst six, 95 %
/// must be inside: the sixth decides.
TEST(Widening, PutsTheShareInside)
{
    std::vector<HeldOut> rows(100, {0.01, 0.05, 0.05, 1.0});
    for (std::size_t i = 0; i < 6; ++i) {
        const double deviations = 2.0 + static_cast<double>(i);
        rows[i].error = two_sided_95 * std::hypot(0.05 * deviations, 0.05);
    }
    // Five rows may stay outside; the least of the six needs 2 squared.
    EXPECT_NEAR(widening_of(rows), 4.0, 1e-9);
    EXPECT_EQ(widening_of(std::vector<HeldOut>(10, {0.01, 0.05, 0.05, 1.0})), 1.0);
}

}  // namespace
}  // namespace prismopt

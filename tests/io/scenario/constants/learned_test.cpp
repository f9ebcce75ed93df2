#include "io/scenario/constants/learned.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include "model/calibration/posterior/discrepancy.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

namespace prismopt {
namespace {

using testing::HasSubstr;

constexpr const char* network = "a \"network\"";

/// Name of the constant that an entry of the catalog shares with others, or has alone.
std::string constant_of(const std::string& entry, const std::string& key)
{
    for (const FittedConstant& constant : fitted_model().constants) {
        if (constant.key == key && std::count(constant.entries.begin(), constant.entries.end(), entry) > 0) {
            return name_of(constant);
        }
    }
    throw InputError(entry + "." + key + " is not fitted");
}

Learned learned_of(const Cluster& cluster)
{
    const std::string gemm = constant_of(cluster.accelerator.name, "gemm");
    Learned learned;
    learned.origins = {
        {"0.9", "2026-01-02T03:04:05Z", "first", "first.h5", "measured.csv", digest_of("measured"), 2},
        {"0.9", "2026-02-03T04:05:06Z", "second", "second.h5", "more.csv", digest_of("more"), 1}};
    learned.accelerator = cluster.accelerator.name;
    learned.stack = cluster.stack.name;
    learned.domain = cluster.gpus_per_node();
    learned.fit = fit_digest();
    learned.times = {{network, 1.25, 0.18, 0.03}};
    learned.constants = {{gemm, 0.5, 0.1, 0.05}};
    LearnedStep step;
    step.network = network;
    step.design = "tp=8";
    step.hardware = "node.bandwidth=900GB/s";
    step.sequence = 8192;
    step.global_batch = 2048;
    step.measured_s = 6.5;
    step.log_ratio = 0.125;
    step.deviation = 0.03;
    step.gradient = {{gemm, -0.5}, {constant_of(cluster.accelerator.name, "memory"), -0.25}};
    step.plan.tp = 8;
    step.plan.chunks = 2;
    step.plan.schedule = Schedule::interleaved;
    learned.steps = {step};
    learned.memory = {.mean = 0.01, .deviation = 0.02, .own = 0.05, .ran = {}, .failed = {}};
    learned.trials = {{network, "tp=8", true, 0.1},
                      {network, "tp=4", false, 0.2},
                      {network, "tp=2", true, std::numeric_limits<double>::quiet_NaN()}};
    return learned;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Scenario scenario_with(const TemporaryFolder& folder, const Learned& learned,
                       const std::string& key = "learned = \"own.toml\"")
{
    write(folder.file("own.toml"), learned_text(learned));
    const std::size_t cluster = good.find("[cluster]\n") + 10;
    write(folder.file("scenario.toml"), good.substr(0, cluster) + key + "\n" + good.substr(cluster));
    return read_scenario(folder.file("scenario.toml"));
}

std::string refusal(const std::function<void()>& of)
{
    try {
        of();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Learned, ItsTextIsReadBack)
{
    const Cluster cluster = parse_scenario(good, "good.toml").cluster;
    const Learned written = learned_of(cluster);
    const std::string text = learned_text(written);
    const Learned read = parse_learned(text, "own.toml");
    EXPECT_EQ(learned_text(read), text);
    EXPECT_EQ(read.digest, digest_of(text));
    EXPECT_EQ(traits_of(read.steps.front().plan), traits_of(written.steps.front().plan));
    EXPECT_EQ(read.steps.front().gradient, written.steps.front().gradient);
    EXPECT_EQ(read.memory.ran, std::vector<double>{0.1});
    EXPECT_EQ(read.memory.failed, std::vector<double>{0.2});
    ASSERT_EQ(read.trials.size(), 3U);
    EXPECT_EQ(read.trials[1].design, "tp=4");
    EXPECT_TRUE(std::isnan(read.trials[2].limit));
    std::string signed_zero = text;
    signed_zero.replace(signed_zero.find("mean = 0.01"), 11, "mean = -0.0");
    const std::string again = learned_text(parse_learned(signed_zero, "own.toml"));
    EXPECT_EQ(learned_text(parse_learned(again, "own.toml")), again);
    ASSERT_EQ(read.origins.size(), 2U);
    EXPECT_EQ(read.origins.back().study, "second");
    EXPECT_DOUBLE_EQ(read.time_of(network), 1.25);
    EXPECT_DOUBLE_EQ(read.time_of("another"), 1.0);
}

TEST(Learned, ScalesTheConstantsOfTheCluster)
{
    const TemporaryFolder folder;
    const Scenario plain = parse_scenario(good, "good.toml");
    Learned learned = learned_of(plain.cluster);
    const Scenario other_network = scenario_with(folder, learned);
    EXPECT_DOUBLE_EQ(other_network.cluster.accelerator.efficiency.gemm,
                     0.5 * plain.cluster.accelerator.efficiency.gemm);
    EXPECT_DOUBLE_EQ(other_network.cluster.tiers[0].latency.si, plain.cluster.tiers[0].latency.si);
    learned.times.front().name = plain.workload.name;
    const Scenario same_network = scenario_with(folder, learned);
    EXPECT_DOUBLE_EQ(same_network.cluster.tiers[0].latency.si, 1.25 * plain.cluster.tiers[0].latency.si);
    EXPECT_DOUBLE_EQ(same_network.cluster.accelerator.efficiency.gemm,
                     0.5 * plain.cluster.accelerator.efficiency.gemm / 1.25);
}

TEST(Learned, BecomesOneLineOfTheScenario)
{
    const TemporaryFolder folder;
    const Scenario scenario = scenario_with(folder, learned_of(parse_scenario(good, "good.toml").cluster));
    EXPECT_EQ(std::count(scenario.text.begin(), scenario.text.end(), '\n'),
              std::count(good.begin(), good.end(), '\n') + 1);
    // as from a results file, without the other file
    const Scenario again = parse_scenario(scenario.text, "stored.toml");
    EXPECT_EQ(again.learned.digest, scenario.learned.digest);
    EXPECT_EQ(again.cluster.accelerator, scenario.cluster.accelerator);
    EXPECT_EQ(with_learned_file(scenario.text, folder.file("scenario.toml")), scenario.text);
}

TEST(Learned, IsRefusedOnAnotherCluster)
{
    const TemporaryFolder folder;
    const Cluster cluster = parse_scenario(good, "good.toml").cluster;
    const auto message = [&](const auto& change) {
        Learned learned = learned_of(cluster);
        change(learned);
        return refusal([&] { scenario_with(folder, learned); });
    };
    EXPECT_EQ(message([](Learned&) {}), "");
    EXPECT_THAT(message([](Learned& l) { l.accelerator = "b200-sxm"; }),
                HasSubstr("accelerator is b200-sxm"));
    EXPECT_THAT(message([](Learned& l) { l.stack = "nanotron"; }), HasSubstr("software stack is nanotron"));
    EXPECT_THAT(message([](Learned& l) { l.domain = 72; }), HasSubstr("innermost tier of GPUs is 72"));
    EXPECT_THAT(message([](Learned& l) { l.fit = digest_of("older"); }),
                HasSubstr("another version of the catalog"));
    EXPECT_THAT(message([](Learned& l) { l.constants.front().name = "a100-sxm-80gb.speed"; }),
                HasSubstr("a100-sxm-80gb.speed"));
    EXPECT_THAT(message([](Learned& l) { l.constants.front().factor = -1.0; }), HasSubstr("own.toml:"));
    const Learned learned = learned_of(cluster);
    EXPECT_THAT(refusal([&] { scenario_with(folder, learned, "learned = \"missing.toml\""); }),
                HasSubstr("does not exist"));
    EXPECT_THAT(refusal([&] { parse_learned("version = 1\n", "own.toml"); }),
                AllOf(HasSubstr("own.toml:1"), HasSubstr("write the file again with prismopt learn --out")));
}

}  // namespace
}  // namespace prismopt

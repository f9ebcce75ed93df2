
#include "io/scenario/scenario.hpp"
#include "io/authoring/scenario_schema.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/date.hpp"
#include "tests/io/good_scenario.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace prismopt {
namespace {

using testing::ElementsAre;

TEST(Scenario, StartsOnADayInQuotesOrNot)
{
    EXPECT_FALSE(parse_scenario(good, "x.toml").start);
    for (const char* day : {"2027-01-15", "\"2027-01-15\""}) {
        const Scenario scenario =
            parse_scenario(with("seed = 7", std::string("seed = 7\nstart = ") + day), "x.toml");
        ASSERT_TRUE(scenario.start);
        EXPECT_EQ(date_text(*scenario.start), "2027-01-15");
    }
}

TEST(Scenario, TakesTokensWithSiSuffixes)
{
    for (const auto& [text, tokens] :
         {std::pair{"\"300B\"", 3e11}, std::pair{"\"300 G\"", 3e11}, std::pair{"\"15T\"", 15e12},
          std::pair{"\"15.6e12\"", 15.6e12}, std::pair{"15.6e12", 15.6e12}}) {
        EXPECT_DOUBLE_EQ(parse_scenario(with("3e11", text), "x.toml").phases.front().tokens, tokens) << text;
    }
}

TEST(Scenario, ReadsEverySection)
{
    const Scenario scenario = parse_scenario(good, "x.toml");
    EXPECT_EQ(scenario.name, "test");
    EXPECT_EQ(scenario.path, "x.toml");
    EXPECT_EQ(scenario.text, good);
    EXPECT_EQ(scenario.seed, 7u);
    EXPECT_EQ(scenario.workload.name, "gpt-22b");
    EXPECT_EQ(scenario.workload.layers(), 48);
    ASSERT_EQ(scenario.phases.size(), 1u);
    EXPECT_DOUBLE_EQ(scenario.phases[0].tokens, 3e11);
    EXPECT_EQ(scenario.phases[0].sequence, 2048);
    EXPECT_EQ(scenario.phases[0].global_batch, 512);
    EXPECT_EQ(scenario.cluster.accelerator.name, "a100-sxm-80gb");
    EXPECT_EQ(scenario.cluster.gpus, 64);
    EXPECT_DOUBLE_EQ(scenario.cluster.gpu_price.si, 0.001);
    ASSERT_EQ(scenario.cluster.tiers.size(), 2u);
    EXPECT_EQ(scenario.cluster.tiers[0].name, "node");
    EXPECT_EQ(scenario.cluster.tiers[0].group_gpus, 8);
    EXPECT_DOUBLE_EQ(scenario.cluster.tiers[0].bandwidth.si, 300e9);
    EXPECT_DOUBLE_EQ(scenario.cluster.tiers[0].oversubscription, 1.0);
    EXPECT_EQ(scenario.cluster.tiers[1].group_gpus, 64);
    EXPECT_DOUBLE_EQ(scenario.cluster.tiers[1].oversubscription, 2.0);
    EXPECT_DOUBLE_EQ(scenario.memory_limit.headroom, 0.05);
    EXPECT_DOUBLE_EQ(scenario.reliability.node_failure_rate.si, 1e-7);
    EXPECT_DOUBLE_EQ(scenario.reliability.restart.si, 600.0);
    EXPECT_DOUBLE_EQ(scenario.reliability.checkpoint_interval.si, 0.0);
    EXPECT_DOUBLE_EQ(scenario.reliability.checkpoint_write.si, 30.0);
    EXPECT_THAT(scenario.objectives, ElementsAre("training_time_p99", "cost"));
    ASSERT_EQ(scenario.search.rungs.size(), 2u);
    EXPECT_EQ(scenario.search.rungs[1].fleets, 256);
    EXPECT_EQ(scenario.search.confirm.fleets, 512);
    EXPECT_EQ(scenario.search.confirm.steps, 4);
    EXPECT_EQ(scenario.search.strategy, "auto");
}

TEST(Scenario, ReadsTheSpaceInOrder)
{
    const SpaceSettings space = parse_scenario(good, "x.toml").space;
    EXPECT_THAT(space.gpus, ElementsAre(16, 32, 48, 64));
    EXPECT_THAT(space.tp, ElementsAre(1, 2, 8));  // degrees ascend
    EXPECT_THAT(space.pp, ElementsAre(1, 2));
    EXPECT_THAT(space.v, ElementsAre(1));
    EXPECT_THAT(space.schedule, ElementsAre(Schedule::one_f_one_b, Schedule::interleaved));
    // Names stay as written.
    EXPECT_THAT(space.order, ElementsAre(PlacementOrder::tp_dp_pp, PlacementOrder::tp_pp_dp));
}

TEST(Scenario, DistributionsChangeTheProfile)
{
    const Variability variability = parse_scenario(good, "x.toml").variability;
    EXPECT_DOUBLE_EQ(std::get<Normal>(variability.gpu.family).cv, 0.016);  // the profile's
    EXPECT_DOUBLE_EQ(std::get<Gamma>(variability.node.family).cv, 0.01);
    EXPECT_DOUBLE_EQ(variability.node.slow.probability, 0.001);
    EXPECT_DOUBLE_EQ(variability.node.slow.excess, 0.5);
    EXPECT_DOUBLE_EQ(variability.node.cap, 5.0);
    EXPECT_EQ(variability.node.source, "our cluster");
    const Distribution& p2p = residual_distribution(variability, KernelClass::p2p);
    EXPECT_THAT(std::get<Empirical>(p2p.family).values, ElementsAre(1.0, 2.0, 3.5));
    EXPECT_EQ(p2p.source, "scenario");
    EXPECT_DOUBLE_EQ(std::get<LogNormal>(residual_distribution(variability, KernelClass::gemm).family).cv,
                     0.02);  // the profile's
}

/// The good scenario's distributions of kernels, with these in place of its own.
Variability with_residual(const std::string& distributions)
{
    return parse_scenario(with("p2p = { family = \"empirical\", values = [1.0, 2, 3.5] }", distributions),
                          "x.toml")
        .variability;
}

double cv_of(const Variability& variability, KernelClass kernel)
{
    return std::get<LogNormal>(residual_distribution(variability, kernel).family).cv;
}

/// Each class of kernels is a key, whose distribution is that of all within it, of the class that
/// varies as it does, and of no other.
TEST(Scenario, ReadsADistributionOfEachClassOfKernels)
{
    const Variability usual = with_residual("");
    for (const KernelClassRow& row : kernel_class_rows) {
        const Variability changed =
            with_residual(fmt::format("{} = {{ family = \"lognormal\", cv = 0.77 }}", row.name));
        for (const KernelClassRow& other : kernel_class_rows) {
            const bool follows = is_within(other.kernel, row.kernel) || other.varies_as == row.kernel;
            EXPECT_EQ(cv_of(changed, other.kernel), follows ? 0.77 : cv_of(usual, other.kernel))
                << row.name << ", " << other.name;
        }
        EXPECT_NE(scenario_schema().find(fmt::format("\"{}\"", row.name)), std::string::npos) << row.name;
    }
}

/// Whatever their order in the file.
TEST(Scenario, NarrowClassesGoBeforeWideOnes)
{
    const Variability v = with_residual(R"(sharded_all_gather = { family = "lognormal", cv = 0.4 }
tp_collective = { family = "lognormal", cv = 0.2 }
sharded_collective = { family = "lognormal", cv = 0.3 })");
    for (const KernelClassRow& row : kernel_class_rows) {
        const bool inside = is_within(row.kernel, KernelClass::tp_collective);
        const double expected = row.kernel == KernelClass::sharded_all_gather            ? 0.4
                                : is_within(row.kernel, KernelClass::sharded_collective) ? 0.3
                                : inside                                                 ? 0.2
                                                                                         : 0.0;
        if (inside) {
            EXPECT_EQ(cv_of(v, row.kernel), expected) << row.name;
        } else {
            EXPECT_EQ(cv_of(v, row.kernel), cv_of(with_residual(""), row.kernel)) << row.name;
        }
    }
}

/// The distribution of nodes, read from these keys.
Family node_family(const std::string& distribution)
{
    const std::string text = with(
        "family = \"gamma\", cv = 0.01, slow_probability = 0.001, slow_excess = 0.5, cap = 5, source = \"our "
        "cluster\"",
        distribution);
    return parse_scenario(text, "x.toml").variability.node.family;
}

TEST(Scenario, ReadsAllFamilies)
{
    EXPECT_TRUE(std::holds_alternative<Constant>(node_family("family = \"constant\"")));
    EXPECT_DOUBLE_EQ(std::get<Weibull>(node_family("family = \"weibull\", cv = 0.1")).cv, 0.1);

    const auto gamma =
        std::get<ShiftedGamma>(node_family("family = \"shifted-gamma\", cv = 0.1, shift = 0.8"));
    EXPECT_DOUBLE_EQ(gamma.cv, 0.1);
    EXPECT_DOUBLE_EQ(gamma.shift, 0.8);

    const auto student =
        std::get<StudentT>(node_family("family = \"student-t\", degrees_of_freedom = 1.5, scale = 0.03"));
    EXPECT_DOUBLE_EQ(student.degrees_of_freedom, 1.5);
    EXPECT_DOUBLE_EQ(student.scale, 0.03);

    const auto extreme =
        std::get<GeneralizedExtremeValue>(node_family("family = \"gev\", shape = -0.1, scale = 0.05"));
    EXPECT_DOUBLE_EQ(extreme.shape, -0.1);
    EXPECT_DOUBLE_EQ(extreme.scale, 0.05);

    const auto tail = std::get<ParetoTail>(
        node_family("family = \"pareto-tail\", core = { family = \"normal\", cv = 0.02 }, tail_probability "
                    "= 0.05, shape = 0.4, tail_scale = 0.1"));
    EXPECT_DOUBLE_EQ(std::get<Normal>(tail.core.components.at(0).family).cv, 0.02);
    EXPECT_DOUBLE_EQ(tail.core.components.at(0).weight, 1.0);
    EXPECT_DOUBLE_EQ(tail.probability, 0.05);
    EXPECT_DOUBLE_EQ(tail.shape, 0.4);
    EXPECT_DOUBLE_EQ(tail.scale, 0.1);

    const auto mixture =
        std::get<Mixture>(node_family("family = \"mixture\", parts = [{ weight = 0.9, family = \"gamma\", cv "
                                      "= 0.02 }, { weight = 0.1, at = 1.5, family = "
                                      "\"empirical\", values = [1, 2] }]"));
    ASSERT_EQ(mixture.components.size(), 2U);
    EXPECT_DOUBLE_EQ(mixture.components[0].weight, 0.9);
    EXPECT_DOUBLE_EQ(mixture.components[0].at, 1.0);
    EXPECT_DOUBLE_EQ(std::get<Gamma>(mixture.components[0].family).cv, 0.02);
    EXPECT_DOUBLE_EQ(mixture.components[1].at, 1.5);
    EXPECT_THAT(std::get<Empirical>(mixture.components[1].family).values, ElementsAre(1.0, 2.0));
}

TEST(Scenario, FieldsChangeTheCatalog)
{
    const Scenario workload =
        parse_scenario(with("gpt-22b\"", "gpt-22b\"\nlayers = 4\nattention = \"flash\""), "x.toml");
    EXPECT_EQ(workload.workload.layers(), 4);
    EXPECT_EQ(workload.workload.hidden, 6144);
    EXPECT_TRUE(workload.workload.fuses_attention());
    EXPECT_EQ(workload.workload.name, "gpt-22b (changed)");
    const Scenario memory = parse_scenario(
        with("gpus = 64",
             "gpus = 64\naccelerator_override = { memory = \"96 GB\", efficiency = { gemm = 0.5 } }"),
        "x");
    EXPECT_DOUBLE_EQ(memory.cluster.accelerator.memory.si, 96e9);
    EXPECT_DOUBLE_EQ(memory.cluster.accelerator.efficiency.gemm, 0.5);
    EXPECT_DOUBLE_EQ(memory.cluster.accelerator.efficiency.memory,
                     catalog_accelerator("a100-sxm-80gb").efficiency.memory);
    EXPECT_EQ(memory.cluster.accelerator.name, "a100-sxm-80gb (changed)");
    const Scenario link =
        parse_scenario(with("link = \"nvlink3\"", "link = \"nvlink3\"\nlatency = \"1 us\""), "x");
    EXPECT_DOUBLE_EQ(link.cluster.tiers[0].latency.si, 1e-6);
    EXPECT_DOUBLE_EQ(link.cluster.tiers[0].bandwidth.si, 300e9);
    const Scenario own = parse_scenario(
        with("link = \"nvlink3\"", "bandwidth = \"1 TB/s\"\nefficiency = 1\nlatency = \"0 s\""), "x");
    EXPECT_DOUBLE_EQ(own.cluster.tiers[0].bandwidth.si, 1e12);
}

TEST(Scenario, SeveralPhases)
{
    const Scenario scenario = parse_scenario(
        with("[cluster]",
             "[[phase]]\ntokens = 800_000_000_000\nsequence_length = 131072\nglobal_batch = 16\n\n[cluster]"),
        "x.toml");
    ASSERT_EQ(scenario.phases.size(), 2u);
    EXPECT_DOUBLE_EQ(scenario.phases[1].tokens, 8e11);
    EXPECT_EQ(scenario.phases[1].sequence, 131072);
}

TEST(Scenario, AllPublishedScenariosParse)
{
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(PRISMOPT_SOURCE_DIR "/jobs/scenarios")) {
        if (entry.path().extension() == ".toml") {
            EXPECT_NO_THROW(read_scenario(entry.path().string())) << entry.path();
            ++count;
        }
    }
    EXPECT_GE(count, 2);
}

TEST(Scenario, MainScenario)
{
    const Scenario scenario = read_scenario(PRISMOPT_SOURCE_DIR "/jobs/scenarios/llama3-405b-16k.toml");
    EXPECT_EQ(scenario.name, "llama3-405b-16k");
    EXPECT_THAT(scenario.space.gpus, ElementsAre(2048, 4096, 6144, 8192, 10240, 12288, 14336, 16384));
    EXPECT_EQ(scenario.cluster.tiers[1].group_gpus, 3072);
    EXPECT_EQ(scenario.cluster.tiers[2].group_gpus, 24576);
    EXPECT_DOUBLE_EQ(scenario.phases[0].sequence * static_cast<double>(scenario.phases[0].global_batch),
                     16777216.0);
    // The published interruptions.
    EXPECT_NEAR(scenario.reliability.node_failure_rate.si * 86400 * 54 * 2048, 419.0, 1.0);
}

TEST(Scenario, StackPrecisionAndExperts)
{
    std::string older = with("gpus = 64", "gpus = 64\nstack = \"megatron-deepspeed\"");
    EXPECT_THROW(parse_scenario(older, "x"), InputError);  // beside [software]
    const std::string section = "[software]\nname = \"reference\"\n";
    older.erase(older.find(section), section.size());
    const Scenario stack = parse_scenario(older, "x");
    const SoftwareStack chosen = catalog_stack("megatron-deepspeed");
    EXPECT_EQ(stack.cluster.stack.name, "megatron-deepspeed");
    EXPECT_DOUBLE_EQ(stack.cluster.accelerator.efficiency.gemm,
                     catalog_accelerator("a100-sxm-80gb").efficiency.gemm * chosen.gemm);
    const Scenario mixture = parse_scenario(
        with("gpt-22b\"",
             "gpt-22b\"\nprecision = \"tf32\"\nexperts = { count = 8, active = 2, feed_forward = 1024 }"),
        "x");
    EXPECT_EQ(mixture.workload.precision, Precision::tf32);
    EXPECT_TRUE(mixture.workload.is_moe());
    EXPECT_EQ(mixture.workload.find<ExpertsBlock>()->active, 2);
    EXPECT_EQ(mixture.workload.find<MlpBlock>(), nullptr);
    // Not on an A100.
    EXPECT_THROW(parse_scenario(with("gpt-22b\"", "gpt-22b\"\nprecision = \"fp8\""), "x"), InputError);
}

TEST(Scenario, ReadsFailuresByCause)
{
    const Scenario scenario = parse_scenario(
        with("node_failure_rate = \"8.64e-3 /day\"\nrestart = \"10 min\"\ncheckpoint_interval = \"0 "
             "s\"\ncheckpoint_write = \"30 s\"\nsource = \"assumption\"",
             R"(
checkpoint_interval = "optimal"
checkpoint_write = "4 min"
checkpoint_mode = "asynchronous"
snapshot = "5 s"
memory_checkpoints = { interval = "1 min", stall = "0.5 s" }
spares = 3
node_cv = 1.5
drift = { cv = 0.01, time = "2 day" }
recovery = "hot_spares"
switch_time = "90 s"
[[reliability.cause]]
name = "hardware"
rate = "6.50 per 1000 node-days"
gaps = "weibull"
gap_cv = 2.0
gap_nodes = 400
detection = "2 min"
restart = "8 min"
repair = "1 day"
repair_cv = 2.2
memory_kept = 0.8
[[reliability.cause]]
name = "GPU"
rate = "1 per 1000 GPU-days"
restart = "5 min"
[[reliability.cause]]
name = "maintenance"
rate = "1 per job-day"
gaps = "constant"
planned = true
restart = "10 min"
)"),
        "x.toml");
    const Reliability& r = scenario.reliability;
    ASSERT_EQ(r.causes.size(), 3U);
    EXPECT_DOUBLE_EQ(r.causes[0].rate.si, 6.5e-3 / 86400.0);
    EXPECT_EQ(r.causes[0].of, RateOf::node);
    EXPECT_EQ(r.causes[0].gaps.family, GapFamily::weibull);
    EXPECT_EQ(r.causes[0].gaps.cv, 2.0);
    EXPECT_EQ(r.causes[0].gaps.nodes, 400);
    EXPECT_EQ(r.causes[0].detection.si, 120.0);
    EXPECT_EQ(r.causes[0].repair.si, 86400.0);
    EXPECT_EQ(r.causes[0].memory_kept, 0.8);
    EXPECT_EQ(r.causes[1].of, RateOf::gpu);
    EXPECT_EQ(r.causes[2].of, RateOf::job);
    EXPECT_TRUE(r.causes[2].planned);
    EXPECT_EQ(r.interval_rule, IntervalRule::optimal);
    EXPECT_EQ(r.write, CheckpointWrite::asynchronous);
    EXPECT_EQ(r.snapshot.si, 5.0);
    EXPECT_EQ(r.memory.interval.si, 60.0);
    EXPECT_EQ(r.spares, 3);
    EXPECT_EQ(r.recovery, Recovery::hot_spares);
    EXPECT_EQ(r.switch_time.si, 90.0);
    EXPECT_EQ(r.node_cv, 1.5);
    EXPECT_EQ(r.drift.time.si, 2 * 86400.0);
}

TEST(Scenario, ReadsPowerDeadlineAndAxesOfTheRun)
{
    const Scenario plain = parse_scenario(good, "x.toml");
    EXPECT_EQ(plain.power.name, "us-hyperscale");
    EXPECT_EQ(plain.deadline.si, 0.0);
    const Scenario scenario =
        parse_scenario(with("[space]",
                            "[power]\nprofile = \"world-average\"\npue = 1.2\n[space]\n"
                            "checkpoint_interval = [\"1 h\", \"10 min\"]\nspares = [4, 0]"),
                       "x.toml");
    EXPECT_EQ(scenario.power.pue, 1.2);
    EXPECT_EQ(scenario.power.idle_share, 0.2);
    EXPECT_DOUBLE_EQ(scenario.power.carbon.si, 0.48 / 3.6e6);
    EXPECT_EQ(scenario.space.spares, (std::vector<int>{0, 4}));
    ASSERT_EQ(scenario.space.checkpoint_interval.size(), 2U);
    EXPECT_EQ(scenario.space.checkpoint_interval.front().si, 600.0);
    const Scenario late =
        parse_scenario(with("\"cost\"]", "\"miss_probability\"]\ndeadline = \"60 day\""), "x.toml");
    EXPECT_EQ(late.deadline.si, 60 * 86400.0);
}

TEST(Scenario, TakesTheListPriceWhereNoneIsGiven)
{
    EXPECT_DOUBLE_EQ(parse_scenario(with("gpu_price = \"3.60 USD/h\"", ""), "x.toml").cluster.gpu_price.si,
                     3.43 / 3600.0);
}

}  // namespace
}  // namespace prismopt

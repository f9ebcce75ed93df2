#include "optimizer/accuracy/possible_software.hpp"

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace prismopt {
namespace {

TEST(MixtureQuantile, OfOneComponentIsNormal)
{
    const std::array one{NormalComponent{0.7, 0.2, 0.1}};
    EXPECT_NEAR(mixture_quantile(one, 0.975), 0.2 + 0.1 * two_sided_95, 1e-8);  // of seven digits
    EXPECT_NEAR(mixture_quantile(one, 0.5), 0.2, 1e-9);
}

/// Far apart, a quantile is that of one component, at the probability that the others leave it.
TEST(MixtureQuantile, OfComponentsThatDoNotOverlap)
{
    const std::array components{NormalComponent{0.75, 0.0, 0.01}, NormalComponent{0.25, 5.0, 0.01}};
    EXPECT_NEAR(mixture_quantile(components, 0.375), 0.0, 1e-6);
    EXPECT_NEAR(mixture_quantile(components, 0.875), 5.0, 1e-6);
}

TEST(DrawnSoftware, IsAsFrequentAsItsWeight)
{
    std::vector<PossibleSoftware> possible(3);
    possible[0].weight = 0.5;
    possible[1].weight = 0.3;
    possible[2].weight = 0.2;
    constexpr std::size_t draws = 1024;
    std::array<double, 3> count{};
    for (std::size_t d = 0; d < draws; ++d) {
        count[drawn_software(possible, d)] += 1.0;
    }
    for (std::size_t k = 0; k < possible.size(); ++k) {
        EXPECT_NEAR(count[k] / draws, possible[k].weight, 4.0 / draws) << k;  // a sequence of low discrepancy
    }
}

Scenario mixture_with(const std::string& software)
{
    return parse_scenario(
        "name = \"x\"\n[workload]\nmodel = \"qwen3-30b-a3b\"\n[[phase]]\ntokens = 1e12\nsequence_length = "
        "4096\n"
        "global_batch = 1024\n" +
            software +
            "[cluster]\naccelerator = \"h100-sxm\"\ngpus = 64\n[[cluster.tier]]\nname = \"node\"\nlink = "
            "\"nvlink4\"\n"
            "group = 8\n[[cluster.tier]]\nname = \"cluster\"\nlink = \"ib-ndr\"\n[memory]\nheadroom = 0.0\n"
            "[variability]\nprofile = \"hpc-2024\"\n[reliability]\nnode_failure_rate = \"6e-3 "
            "/day\"\nrestart = "
            "\"10 min\"\ncheckpoint_interval = \"0 s\"\ncheckpoint_write = \"30 s\"\n[space]\ngpus = [64]\n"
            "[objectives]\nminimise = [\"step_time_p50\"]\n",
        "x.toml");
}

/// What named software takes lies inside the interval of a scenario that does not
/// name it; that is wider than each.
TEST(ModelInterval, WithoutSoftwareCoversWhatItMayBe)
{
    const std::string design = "gpus=64 tp=1 pp=1 ep=8 recompute=full";
    const auto step_and_interval = [&](const Scenario& scenario) {
        const StudyModel model(scenario);
        const ParallelPlan plan = parse_design(design, scenario);
        const auto step = log_noise_free_step(setting_of(model.problem, model.problem.phases.front()), plan);
        return std::pair(std::exp(step.value()), model_interval(model.problem, plan, fitted_model()));
    };
    const Scenario unnamed = mixture_with("");
    const auto [assumed, interval] = step_and_interval(unnamed);
    ASSERT_GT(unnamed.cluster.possible.size(), 2U);
    EXPECT_LT(interval.software_low, interval.software_high);
    for (const PossibleSoftware& software : unnamed.cluster.possible) {
        const auto [step, own] =
            step_and_interval(mixture_with("[software]\nname = \"" + software.software.name +
                                           "\"\nrelease = \"" + software.software.release + "\"\n"));
        const double ratio = step / assumed;
        EXPECT_GE(ratio, 0.999 * interval.software_low) << software.software.text();
        EXPECT_LE(ratio, 1.001 * interval.software_high) << software.software.text();
        EXPECT_TRUE(software.weight < 0.1 || interval.holds(ratio))
            << software.software.text() << ' ' << ratio;
        EXPECT_EQ(own.software_low, 1.0);
        EXPECT_EQ(own.software_high, 1.0);
    }
}

}  // namespace
}  // namespace prismopt

#include "optimizer/study/host_wait.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/api/predict.hpp"
#include "optimizer/study/study_model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>

namespace prismopt {
namespace {

/// Experts of 768 columns: kernels of a few microseconds.
Scenario small_experts(const std::string& accelerator, const std::string& software)
{
    return parse_scenario(
        "name = \"experts\"\n[workload]\nmodel = \"qwen3-30b-a3b\"\n[[phase]]\ntokens = 1e9\nsequence_length "
        "= "
        "4096\nglobal_batch = 32\n[software]\n" +
            software + "\n[cluster]\naccelerator = \"" + accelerator +
            "\"\ngpus = 8\n[[cluster.tier]]\nname = \"node\"\nlink = \"nvlink5\"\n[variability]\nprofile = "
            "\"hpc-2024\"\n[reliability]\nrestart = \"10 min\"\ncheckpoint_interval = \"0 "
            "s\"\ncheckpoint_write = \"30 "
            "s\"\nnode_failure_rate = \"0.01 /day\"\n[space]\ngpus = [8]\ntp = [1]\npp = [1]\nep = "
            "[8]\nmicrobatch = "
            "[1]\n[objectives]\nminimise = [\"step_time_p99\"]\n",
        "experts.toml");
}

std::string note_of(const Scenario& scenario, const std::string& more = "")
{
    return host_wait_text(StudyModel(scenario).problem,
                          plan_with(scenario, "gpus=8 tp=1 pp=1 ep=8 mb=1 " + more).plan);
}

const std::string bridge = "name = \"megatron-bridge\"\nrelease = \"26.04\"";

/// The note says what waiting costs and which key helps; with that key there is none.
TEST(HostWait, IsReportedWithTheKeyThatShortensIt)
{
    const Scenario scenario = small_experts("b200-sxm", bridge);
    const std::string note = note_of(scenario);
    EXPECT_NE(note.find("waits for its launches"), std::string::npos) << note;
    EXPECT_NE(note.find("cuda_graphs = [[\"attn\", \"moe_router\""), std::string::npos) << note;
    EXPECT_EQ(note_of(scenario, "cuda_graphs=attn+moe_router"), "");
}

/// Whatever it waits for, a plan with updates on hosts names the assumption about them.
TEST(HostWait, NamesTheAssumptionOfUpdatesOnHosts)
{
    const Scenario scenario = small_experts("b200-sxm", bridge);
    const StudyModel model(scenario);
    const Problem& problem = model.problem;
    ParallelPlan plan = plan_with(scenario, "gpus=8 tp=1 pp=1 ep=8 mb=1").plan;
    EXPECT_EQ(host_text(problem, plan), host_wait_text(problem, plan));
    plan.offload = Offload::optimizer;
    EXPECT_NE(host_text(problem, plan).find(host_update_words), std::string::npos);
    plan.offload = Offload::activations;
    EXPECT_EQ(host_text(problem, plan).find(host_update_words), std::string::npos);
}

/// Neither where the host takes no time, nor where kernels are those of an accelerator before Blackwell.
TEST(HostWait, IsNotReportedWhereItDoesNotMatter)
{
    EXPECT_EQ(note_of(small_experts("b200-sxm", "name = \"reference\"")), "");
    EXPECT_EQ(note_of(small_experts("h100-sxm", bridge)), "");
}

/// The share in predictions is that of the class of kernels: without them the step is shorter by it.
TEST(HostWait, IsAShareOfTheStep)
{
    const Scenario scenario = small_experts("b200-sxm", bridge);
    const StudyModel model(scenario);
    const ParallelPlan plan = plan_with(scenario, "gpus=8 tp=1 pp=1 ep=8 mb=1").plan;
    const auto step_of = [&plan](const Problem& problem) {
        PlanCompiler compiler(setting_of(problem, problem.phases.front()));
        return noise_free_step(
            std::get<CompiledPlan>(compiler.compile(plan, CompileFor::noise_free_step)).graph);
    };
    const NoiseFreeStep with = step_of(model.problem);
    Problem free = model.problem;
    free.cluster.stack.host = Seconds{0.0};
    free.cluster.stack.host_native = Seconds{0.0};
    const NoiseFreeStep without = step_of(free);
    EXPECT_GT(with.shares.host, 0.05);
    EXPECT_EQ(without.shares.host, 0.0);
    // Parameters are gathered, and gradients reduced, beside longer passes:
    // what they expose then may be less.
    EXPECT_LE(without.step_s, with.step_s * (1.0 - with.shares.host) * 1.05);
    constexpr double rounded = std::numeric_limits<float>::epsilon();  // Exchange::seconds
    EXPECT_GE(without.step_s, with.step_s * (1.0 - with.shares.host) * (1.0 - rounded));
}

}  // namespace
}  // namespace prismopt

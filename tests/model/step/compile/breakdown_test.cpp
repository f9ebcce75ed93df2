#include "model/step/compile/breakdown.hpp"

#include "model/network/call_times.hpp"
#include "model/network/passes.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/step_components.hpp"
#include "tests/support/random_plans.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <variant>

namespace prismopt {
namespace {

/// Of graphs, which have single precision.
constexpr double single_precision_of_graph = 2e-5;

/// A plan with its breakdown.
struct PlanBreakdown {
    CompiledPlan compiled;
    std::vector<StageBreakdown> stages;
};

PlanBreakdown breakdown_of(const Problem& problem, const ParallelPlan& plan)
{
    const Setting setting = setting_of(problem, problem.phases.front());
    PlanCompiler compiler(setting);
    PlanBreakdown result{std::get<CompiledPlan>(compiler.compile(plan)), {}};
    result.stages = breakdown(result.compiled, plan, setting);
    return result;
}

template <class Check>
void for_random_plans(Check&& check)
{
    for (const bool mixture : {false, true}) {
        const Problem problem = problem_for_random_plans(mixture);
        for (const ParallelPlan& plan : random_plans(problem, 60, 7)) {
            SCOPED_TRACE(text_of(plan));
            check(problem, plan, breakdown_of(problem, plan));
        }
    }
}

TEST(Breakdown, WorkIsWhatTheGraphIsBusyWith)
{
    for_random_plans([](const Problem&, const ParallelPlan&, const PlanBreakdown& of) {
        const ExecutionGraph& graph = of.compiled.graph;
        const std::vector<double> busy = MeanRun(graph, -1, 1.0).busy();
        for (int stage = 0; stage < graph.stages(); ++stage) {
            double inside_s = 0.0;
            for (const KernelTime& kernel : of.stages[stage].kernels) {
                EXPECT_GE(kernel.seconds, 0.0);
                EXPECT_LE(kernel.again_s, kernel.seconds);
                inside_s += kernel.seconds;
            }
            for (const MessageTime& message : of.stages[stage].messages) {
                EXPECT_GE(message.hidden_s, 0.0);
                inside_s += component_of(message.kind) == StepComponent::data ? 0.0 : message.exposed_s;
            }
            EXPECT_NEAR(inside_s, busy[stage], single_precision_of_graph * busy[stage]);
        }
    });
}

TEST(Breakdown, ComponentsSumToTheStep)
{
    for_random_plans([](const Problem&, const ParallelPlan&, const PlanBreakdown& of) {
        const NoiseFreeStep step = noise_free_step(of.compiled.graph);
        for (const StageBreakdown& stage : of.stages) {
            EXPECT_GE(stage.waiting_s, -single_precision_of_graph * step.step_s);
            EXPECT_NEAR(stage.step_s(), step.step_s, single_precision_of_graph * step.step_s);
            const StepComponents components = step_components(stage);
            EXPECT_NEAR(std::accumulate(components.begin(), components.end(), 0.0), step.step_s,
                        single_precision_of_graph * step.step_s);
        }
    });
}

TEST(Breakdown, BlocksHoldTheActivations)
{
    for_random_plans([](const Problem&, const ParallelPlan&, const PlanBreakdown& of) {
        for (const StageBreakdown& stage : of.stages) {
            double bytes = 0.0;
            for (const BlockBytes& block : stage.activations) {
                bytes += block.bytes;
            }
            EXPECT_NEAR(bytes, stage.memory.activations.si, 1e-6 * stage.memory.activations.si);
        }
    });
}

/// A pass through the layers once more, and nothing else.
TEST(Breakdown, FullRecomputeIsTheForwardPassAgain)
{
    const Problem problem = problem_for_random_plans(false);
    ParallelPlan plan = plan_of(2, 2, 4);
    plan.recompute = Recompute::full;
    const PlanBreakdown of = breakdown_of(problem, plan);
    const ExecutionGraph& graph = of.compiled.graph;
    const double passes = graph.program->op_count[graph.distribution_at(0, Pass::forward)];
    double layers_s = 0.0;
    double again_s = 0.0;
    for (const KernelTime& kernel : of.stages.front().kernels) {
        again_s += kernel.again_s;
        EXPECT_TRUE(kernel.block != "embedding" || kernel.again_s == 0.0);
    }
    PlanCompiler compiler(setting_of(problem, problem.phases.front()));
    const Network network = network_of(problem.workload);
    const Calls forward = forward_calls(network.kinds.front(), compiler.shape_of(plan));
    const CallTimes times(problem.workload.precision, problem.cluster, LayerGroups{});
    for (const AnyCall& call : forward.list()) {
        if (const auto* kernel = std::get_if<KernelCall>(&call)) {
            layers_s += times.of(*kernel).si;
        }
    }
    const int layers = of.compiled.chunks.front().layers;
    // the first kernel of the backward pass with the last one of the forward pass
    constexpr double fused = 1e-3;
    EXPECT_NEAR(again_s, passes * layers * layers_s, fused * again_s);
}

}  // namespace
}  // namespace prismopt

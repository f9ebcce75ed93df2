#include "model/plan_rules.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace prismopt {
namespace {

/// All that a plan's time, memory and cost are made of, in all phases: graphs without noise, what serves each
/// stage, memory, spares. Empty where it does not fit.
std::string made_of(const ParallelPlan& plan, const Problem& problem)
{
    std::ostringstream all;
    all.precision(17);
    for (const Phase& phase : problem.phases) {
        const ParallelPlan own = plan_in_phase(plan, phase);
        PlanCompiler compiler(
            {problem.workload, phase, problem.cluster, problem.noise, problem.memory_limit});
        const auto compiled = compiler.compile(own, CompileFor::noise_free_step);
        if (std::holds_alternative<Infeasible>(compiled)) {
            return {};
        }
        const auto& [graph, chunks, stages, memory, held] = std::get<CompiledPlan>(compiled);
        all << own.gpus() << ' ' << own.dp << ' ' << own.tp << ' ' << own.cp << ' '
            << (own.gradient_gpus() > 1 ? int(graph.dp_overlap) : 0) << ' ' << memory.total().si << ' ';
        for (const ProgramOp& op : graph.program->ops) {
            const OpDistribution& distribution = graph.distribution_of(op);
            all << op.stage << ' ' << op.chunk << ' ' << op.microbatch << ' ' << int(op.pass) << ' '
                << distribution.compute_s << ' ' << distribution.communication_s << ' '
                << distribution.transfer_s << ' ';
        }
        for (const auto* exchanges : {&graph.reduction, &graph.gathering}) {
            for (const Exchange& exchange : *exchanges) {
                all << exchange.seconds << ' ' << exchange.beside << ' ' << exchange.cover_s << ' ';
            }
            all << '/';
        }
        for (const auto* times : {&graph.optimizer_s, &graph.ahead_s, &graph.node}) {
            for (const float time : *times) {
                all << time << ' ';
            }
            all << '/';
        }
        // GPUs of a node are equal: which of them serves what makes no difference.
        for (int replica = 0; replica < own.dp; ++replica) {
            for (int stage = 0; stage < own.pp; ++stage) {
                all << graph.placement.gpu(replica, stage) / problem.cluster.gpus_per_node() << ' ';
            }
        }
    }
    all << plan.checkpoint_interval.si << ' ' << plan.spares;
    return all.str();
}

struct Kinds {
    std::map<std::string, std::string> allowed;  // [what it is made of]: a plan
    std::map<std::string, std::string> all;
};

/// What the plans that a space allows are made of, and what those are of that stand the rules.
Kinds kinds_of(const Scenario& scenario)
{
    const StudyModel model(scenario);
    const Space& space = model.designs.space();
    Kinds kinds;
    for (std::uint64_t index = 0; index < space.size(); ++index) {
        const Point point = space.point(index);
        const ParallelPlan plan = model.designs.plan(point);
        if (plan.gpus() != scenario.space.gpus[point.front()] || structural_problem(plan, scenario)) {
            continue;
        }
        const std::string made = made_of(plan, model.problem);
        if (made.empty()) {
            continue;
        }
        kinds.all.insert({made, design_text(plan)});
        if (!space.allows_all(point)) {
            continue;
        }
        const auto [first, is_new] = kinds.allowed.insert({made, design_text(plan)});
        EXPECT_TRUE(is_new) << design_text(plan) << "\n is " << first->second;
    }
    return kinds;
}

/// By brute force: of names that make the same step, memory and cost a space keeps one.
TEST(SamePlans, AreInASpaceOnce)
{
    for (const char* space : {R"(gpus = [2, 4, 8, 12]
tp = [1, 2]
pp = [1, 2, 3, 4]
v = [1, 2]
microbatch = [1, 2]
schedule = ["interleaved", "zb_h1", "1f1b", "gpipe"]
group = [2, 4, 8, 3]
split = ["slots", "layers"]
post_validation = ["off", "on"]
order = ["tp-dp-pp", "tp-pp-dp"]
)",
                              R"(gpus = [4, 12]
tp = [1, 2]
pp = [1, 2]
cp = [1, 2]
schedule = ["1f1b"]
recompute = ["none", "selective", "full"]
recomputed_layers = [3, 0, 2]
sharding = ["none", "zero1", "zero2", "zero3"]
dp_overlap = ["off", "on"]
tp_overlap = ["off", "on"]
context_exchange = ["ring", "all-gather"]
offload = ["none", "activations"]
)"}) {
        Scenario scenario = tiny_scenario(space);
        // Copies to the host that take longer than a pass would make choices inside the pass equal.
        scenario.cluster.accelerator.host_link = scenario.cluster.accelerator.host_link * 100.0;
        const Kinds kinds = kinds_of(scenario);
        EXPECT_GT(kinds.allowed.size(), 100U);
        for (const auto& [made, design] : kinds.all) {
            EXPECT_TRUE(kinds.allowed.contains(made)) << design << " is gone with all of its names";
        }
    }
}

}  // namespace
}  // namespace prismopt

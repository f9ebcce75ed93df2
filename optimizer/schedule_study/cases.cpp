#include "optimizer/schedule_study/cases.hpp"

#include "model/distribution/distribution.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/sampler.hpp"
#include "optimizer/schedule_study/gpt_on_a100.hpp"

#include <array>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr int stages = 8;
constexpr int draws = 4096;
constexpr double cap = 20.0;  // of every factor, against its mean

/// Only transfers vary beside the ops: lognormal of cv 0.3, as in the catalog's profiles.
Variability transfers_only()
{
    Variability variability;
    variability.residual[static_cast<std::size_t>(KernelClass::p2p)] = Law{LogNormal{0.3}, {}, cap, "study"};
    return variability;
}

NoiseTables noise_tables()
{
    constexpr std::array widths{1};
    return build_noise_tables(transfers_only(), widths);
}

/// All ops lognormal with this cv around their means.
void set_residuals(ExecutionGraph& graph, double cv)
{
    const LawQuantile law(Law{cv > 0.0 ? Family{LogNormal{cv}} : Family{Constant{}}, {}, cap, "study"});
    const auto standard = [&law, cv](double p, bool upper) { return cv > 0.0 ? (law(p, upper) - 1.0) / cv : 0.0; };
    graph.shapes = {std::make_shared<const StandardLaw>(standard, StandardLaw::node_probabilities())};
    for (OpLaw& op : graph.law) {
        op.compute = {op.compute_s, static_cast<float>(cv), 0};
        op.communication = {op.communication_s, 0.0F, 0};
    }
}

}  // namespace

std::vector<StudiedSchedule> studied_schedules()
{
    std::vector<StudiedSchedule> list;
    const auto add = [&list](Schedule schedule, int chunks, PostValidation post_validation) {
        ParallelPlan plan;
        plan.pp = stages;
        plan.microbatch = 3;
        plan.split = LayerSplit::slots;
        plan.schedule = schedule;
        plan.chunks = chunks;
        plan.post_validation = post_validation;
        list.push_back({std::string(name(schedule)) + (post_validation == PostValidation::on ? " +pv" : ""), plan});
    };
    const auto flush = PostValidation::off;
    add(Schedule::gpipe, 1, flush);
    add(Schedule::one_f_one_b, 1, flush);
    add(Schedule::interleaved, 2, flush);
    add(Schedule::dualpipe, 2, flush);
    add(Schedule::dualpipe_v, 2, flush);
    for (const PostValidation post_validation : {flush, PostValidation::on}) {
        add(Schedule::zb_h1, 1, post_validation);
        add(Schedule::zb_h2, 1, post_validation);
        add(Schedule::zb_v, 2, post_validation);
        add(Schedule::v_half, 2, post_validation);
        add(Schedule::v_min, 2, post_validation);
    }
    return list;
}

ScheduleStudy::ScheduleStudy() : noise_(noise_tables())
{
    constexpr int layers = 30;
    constexpr int sequences = 96;  // 32 microbatches of 3
    const Scenario read = gpt_on_a100({.layers = layers,
                                       .hidden = 4096,
                                       .heads = 32,
                                       .attention = "flash",
                                       .global_batch = sequences,
                                       .stack = "",
                                       .node = 1,
                                       .stages = stages});
    workload_ = read.workload;
    phase_ = read.phases.front();
    cluster_ = read.cluster;
}

CompiledPlan ScheduleStudy::compiled(const ParallelPlan& plan)
{
    constexpr double no_memory_limit = -1e3;
    PlanCompiler compiler({workload_, phase_, cluster_, noise_, no_memory_limit});
    auto result = compiler.compile(plan);
    if (const auto* refusal = std::get_if<Infeasible>(&result)) {
        throw std::logic_error("the plan of the study is infeasible: " + refusal->detail);
    }
    return std::get<CompiledPlan>(std::move(result));
}

StudiedStep ScheduleStudy::step(const ParallelPlan& plan, const StudiedCase& changed)
{
    ExecutionGraph graph = compiled(plan).graph;
    for (int part = 0; part < graph.stages() * graph.chunks(); ++part) {
        for (int pass = 0; pass < graph.passes(); ++pass) {
            OpLaw& law = graph.law[graph.law_at(part, static_cast<Pass>(pass))];
            law.transfer_s += law.transfer_s > 0.0F ? static_cast<float>(changed.latency.si) : 0.0F;
            law.compute_s *= part / graph.chunks() == slowed_stage ? static_cast<float>(changed.slow_factor) : 1.0F;
        }
    }
    if (!graph.ahead_s.empty()) {
        graph.ahead_s = idle_before(graph);
    }
    set_residuals(graph, changed.residual_cv);
    StudiedStep result;
    result.draws = sample_steps(graph, noise_, {0, draws, 1}, {.seed = 1, .purpose = Purpose::confirm});
    const Clusters clusters{1, block_fleets};
    const auto quantile = [&](double p) { return quantile_estimate(result.draws, clusters, p, Confidence{}); };
    result.p50 = quantile(0.50);
    result.p95 = quantile(0.95);
    result.p99 = quantile(0.99);
    result.mean = mean_estimate(result.draws, clusters, Confidence{}).value;
    return result;
}

double ScheduleStudy::activation_bytes(const ParallelPlan& plan) { return compiled(plan).memory.activations.si; }

double ScheduleStudy::work_s()
{
    const ExecutionGraph graph = compiled(studied_schedules().front().plan).graph;
    double most = 0.0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        most = std::max(most, static_cast<double>(graph.law[graph.law_at(stage, Pass::forward)].compute_s) +
                                  static_cast<double>(graph.law[graph.law_at(stage, Pass::backward)].compute_s));
    }
    return graph.program->shape.microbatches * most;
}

}  // namespace prismopt

#include "tests/benchmarks/jobs.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace prismopt::bench {

namespace {

constexpr std::array widths{1, 2, 4, 8};

/// Large enough a memory that every plan of the benchmark fits: what is timed does not depend on it.
Problem roomy_problem(int stages, int microbatches, const Variability& variability)
{
    Problem problem = example_problem(variability, microbatches, widths);
    problem.workload = example_workload(std::max(problem.workload.layers(), stages));
    problem.cluster.accelerator.memory = Bytes{1e15};
    return problem;
}

}  // namespace

PipelineJob::PipelineJob(int stages, int microbatches, const Variability& variability)
    : problem_(roomy_problem(stages, microbatches, variability))
{
}

PlanCompiler PipelineJob::compiler() const
{
    return PlanCompiler({problem_.workload, problem_.phases.front(), problem_.cluster, problem_.noise});
}

ParallelPlan PipelineJob::plan() const
{
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = problem_.workload.layers();
    return plan;
}

ExecutionGraph PipelineJob::graph() const
{
    PlanCompiler compile = compiler();
    return std::get<CompiledPlan>(compile.compile(plan())).graph;
}

std::vector<ExecutionGraph> PipelineJob::candidates(std::size_t count) const
{
    std::vector<ExecutionGraph> kinds;
    PlanCompiler compile = compiler();
    for (const int tp : {2, 4, 8}) {
        for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
            for (const SequenceParallel sequence_parallel : {SequenceParallel::on, SequenceParallel::off}) {
                ParallelPlan kind = plan();
                kind.tp = tp;
                kind.recompute = recompute;
                kind.sequence_parallel = sequence_parallel;
                kinds.push_back(std::get<CompiledPlan>(compile.compile(kind)).graph);
            }
        }
    }
    std::vector<ExecutionGraph> graphs;
    for (std::size_t i = 0; i < count; ++i) {
        graphs.push_back(kinds[i % kinds.size()]);
    }
    return graphs;
}

std::vector<ExecutionGraph> PipelineJob::candidates_of_one_distribution(std::size_t count) const
{
    PlanCompiler compile = compiler();
    ParallelPlan kind = plan();
    kind.tp = 1;
    ExecutionGraph graph = std::get<CompiledPlan>(compile.compile(kind)).graph;
    for (OpDistribution& distribution : graph.distribution) {
        distribution.compute.shape = graph.distribution.front().compute.shape;
        distribution.communication = {};
        distribution.communication_s = 0.0F;
    }
    return std::vector<ExecutionGraph>(count, graph);
}

Variability residuals_only()
{
    Variability variability;
    for (const KernelClass kind : {KernelClass::gemm, KernelClass::attention, KernelClass::elementwise}) {
        variability.residual[static_cast<std::size_t>(kind)] =
            Distribution{LogNormal{0.05}, {}, 20.0, "benchmark"};
    }
    variability.residual[static_cast<std::size_t>(KernelClass::p2p)] =
        Distribution{LogNormal{0.30}, {}, 20.0, "benchmark"};
    return variability;
}

std::vector<const ExecutionGraph*> pointers(const std::vector<ExecutionGraph>& graphs)
{
    std::vector<const ExecutionGraph*> list;
    for (const ExecutionGraph& graph : graphs) {
        list.push_back(&graph);
    }
    return list;
}

double scalar_steps(const ExecutionGraph& graph, int draws, bool every_factor)
{
    std::mt19937_64 engine(1);
    struct LogNormalOf {
        double mean;
        double deviation;
        explicit LogNormalOf(double cv)
            : mean(-0.5 * std::log1p(cv * cv)), deviation(std::sqrt(std::log1p(cv * cv)))
        {
        }
        double operator()(std::mt19937_64& e) const
        {
            return std::lognormal_distribution<double>(mean, deviation)(e);
        }
    };
    const LogNormalOf compute_residual(0.03);
    const LogNormalOf collective_residual(0.10);
    const LogNormalOf transfer_residual(0.30);
    const LogNormalOf gpu(0.02);
    const LogNormalOf small(0.01);
    const LogNormalOf sequence(0.03);
    const LogNormalOf congestion(0.10);
    std::vector<double> stage_factor(graph.stages(), 1.0);
    std::vector<double> microbatch(graph.program->shape.microbatches, 1.0);
    std::vector<double> slot(graph.program->slots);
    std::vector<double> stage_end;
    double network = 1.0;
    double sum = 0.0;
    for (int draw = 0; draw < draws; ++draw) {
        if (every_factor) {
            const double common = small(engine) * small(engine);
            network = congestion(engine);
            for (double& factor : stage_factor) {
                factor = 0.0;
                for (int member = 0; member < graph.placement.tp; ++member) {
                    factor = std::max(factor, gpu(engine));
                }
                factor *= small(engine) * small(engine) * common;  // node, stage
            }
            for (double& factor : microbatch) {
                factor = sequence(engine);
            }
        }
        stage_end.assign(graph.stages(), 0.0);
        for (const ProgramOp& op : graph.program->ops) {
            const OpDistribution& distribution = graph.distribution_of(op);
            double start = stage_end[op.stage];
            if (op.in != Program::start) {
                const double transfer =
                    static_cast<double>(distribution.transfer_s) * network * transfer_residual(engine);
                start = std::max(start, slot[op.in] + transfer);
            }
            double duration = static_cast<double>(distribution.compute_s) * stage_factor[op.stage] *
                              microbatch[op.microbatch] * compute_residual(engine);
            if (distribution.communication_s > 0.0F) {
                duration +=
                    static_cast<double>(distribution.communication_s) * network * collective_residual(engine);
            }
            stage_end[op.stage] = start + duration;
            slot[op.out] = stage_end[op.stage];
        }
        sum += *std::max_element(stage_end.begin(), stage_end.end()) / draws;
    }
    return sum;
}

}  // namespace prismopt::bench

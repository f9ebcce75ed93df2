/// What `calibrate` writes of a job, and the model draws from it, against the job's own steps.

#include "io/scenario/sections/sections.hpp"
#include "io/traces/calibration_toml.hpp"
#include "model/step/sample/sampler.hpp"
#include "tests/support/draw_statistics.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/synthetic_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace prismopt {
namespace {

Variability written_by(const Trace& trace, int stages)
{
    const TomlFile file = parse_toml(variability_toml(calibrate(trace), "hpc-2024"), "written.toml");
    Table root(file.root, file);
    Variability v = read_variability(root.section("variability", ""));
    v.node = Distribution{};  // the profile's, of clusters: the trace is of one job on its GPUs
    v.site = Distribution{};
    if (stages == 1) {
        // One collective per step does not show it: all of it is in dp_collective.
        v.common_communication = Distribution{};
    }
    return v;
}

/// The job's pipeline; each of its operations is a hundred kernels.
std::vector<double> drawn(const SyntheticJob& job, const Variability& variability, int fleets)
{
    constexpr int kernels = 100;
    const NoiseTables tables = build_noise_tables(variability, std::array{1});
    ExecutionGraph graph =
        empty_graph({Schedule::gpipe, job.stages, job.microbatches, 1}, DataParallelOverlap::off);
    graph.placement.stages = job.stages;
    graph.placement.replicas = job.replicas;
    graph.placement.replica_stride = job.stages;
    graph.group = tables.group_factor(1, 0.0);
    ChainDistributions chains(tables.residual, tables.node_probability, tables.operation);
    std::map<Pass, PassCost> costs;
    for (const auto& [pass, seconds] : {std::pair{Pass::forward, 0.05}, {Pass::backward, 0.1}}) {
        costs[pass].segments = {Segment(kernels, Kernel{KernelClass::gemm, seconds / kernels})};
        costs[pass].compute_s = seconds;
    }
    for (int stage = 0; stage < job.stages; ++stage) {
        for (const auto& [pass, cost] : costs) {
            const ComposedDuration& duration = chains.compose({cost, 1}, 1).compute;
            graph.shapes.push_back(duration.shape);
            OpDistribution& distribution = graph.distribution[graph.distribution_at(stage, pass)];
            distribution.compute_s = static_cast<float>(cost.compute_s);
            distribution.compute = {static_cast<float>(duration.mean_s), static_cast<float>(duration.cv),
                                    static_cast<int>(graph.shapes.size()) - 1};
            const bool fed = pass == Pass::forward ? stage > 0 : stage + 1 < job.stages;
            distribution.transfer_s = fed ? 0.002F : 0.0F;
        }
        graph.first_slot[stage] = static_cast<std::uint16_t>(stage);
        graph.reduction[stage] = {0.05F};
        graph.optimizer_s[stage] = 0.01F;
    }
    return sorted(
        sample_steps(graph, tables, {0, fleets, 1}, {.seed = 3, .replicas_simulated = job.replicas}));
}

std::vector<double> measured(const Trace& trace)
{
    std::vector<double> seconds;
    for (const TraceStepTime& step : step_times(trace)) {
        seconds.push_back(step.seconds);
    }
    return sorted(std::move(seconds));
}

/// How far the quantiles lie above the median, which is what distributions say of a step. Before operations
/// had a distribution of their own, what they vary by was written as that of each kernel, of which a
/// hundred average out: a tenth of this.
TEST(WrittenDistributions, DrawnAreAsWideAsTheJob)
{
    const auto of = [&](const char* variation, auto set) {
        SyntheticJob changed;
        changed.steps = 2000;
        changed.stages = 1;  // no transfers, which block both ends there and not in the model
        set(changed);
        const Trace trace = SyntheticTrace(changed, 5).next();
        const std::vector<double> truth = measured(trace);
        const std::vector<double> found = drawn(changed, written_by(trace, changed.stages), 32'768);
        for (const double p : {0.05, 0.95, 0.99}) {
            const auto width = [p](const std::vector<double>& steps) {
                return sorted_quantile(steps, p) / sorted_quantile(steps, 0.5) - 1.0;
            };
            // Three standard errors of both together. Of 2,000 normal steps the excess of p99 over the
            // median is known to 3.7 % (p95: 3.4 %), of 32,768 draws to 0.9 %, and the spread of a
            // distribution of 2,000 steps to 1.6 %: 4.1 %.
            EXPECT_NEAR(width(found) / width(truth), 1.0, 0.125) << variation << ", p " << p;
            RecordProperty(std::string(variation) + ", p" + std::to_string(p),
                           std::to_string(width(found)) + " of " + std::to_string(width(truth)));
        }
    };
    of("operations 20 %", [](SyntheticJob& j) { j.residual = 0.2; });
    of("operations 3 %, steps 1 %", [](SyntheticJob& j) {
        j.residual = 0.03;
        j.step = 0.01;
    });
    of("all, of two stages", [](SyntheticJob& j) {
        j.stages = 2;
        j.residual = 0.03;
        j.step = 0.01;
        j.stage = 0.02;
        j.microbatch = 0.05;
        j.communication = 0.1;
    });
}

}  // namespace
}  // namespace prismopt

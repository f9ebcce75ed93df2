#include "model/step/graph/critical_paths.hpp"

#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace prismopt {

namespace {

/// Where nodes are known: one replica of each kind, the slowest kinds first.
std::vector<int> unlike_replicas(const ExecutionGraph& graph)
{
    constexpr std::size_t most = 16;
    std::map<std::vector<double>, int> kinds;  // factors by stage: a replica
    for (int replica = 0; !graph.node.empty() && replica < graph.placement.replicas; ++replica) {
        std::vector<double> factors;
        for (int stage = 0; stage < graph.stages(); ++stage) {
            factors.push_back(graph.mean_factor(replica, stage));
        }
        kinds.try_emplace(std::move(factors), replica);
    }
    std::vector<std::pair<double, int>> sums;
    for (const auto& [factors, replica] : kinds) {
        sums.emplace_back(-std::accumulate(factors.begin(), factors.end(), 0.0), replica);
    }
    std::sort(sums.begin(), sums.end());
    sums.resize(std::min(most, sums.size()));
    std::vector<int> replicas;
    std::transform(sums.begin(), sums.end(), std::back_inserter(replicas),
                   [](const auto& kind) { return kind.second; });
    return replicas;
}

/// Each stage in turn slowed by about a rare slow GPU's factor; then as known nodes work.
std::vector<MeanRun> slowed_runs(const ExecutionGraph& graph)
{
    constexpr double slowness = 1.15;
    constexpr int no_stage = -1;
    std::vector<MeanRun> runs;
    for (int stage = no_stage; stage < graph.stages(); ++stage) {
        runs.emplace_back(graph, stage, slowness);
    }
    for (const int replica : unlike_replicas(graph)) {
        runs.emplace_back(graph, no_stage, 1.0, replica);
    }
    return runs;
}

}  // namespace

std::vector<CriticalPath> critical_paths(const ExecutionGraph& graph)
{
    constexpr auto none = static_cast<std::size_t>(-1);
    const std::vector<ProgramOp>& ops = graph.program->ops;
    const bool overlapped = graph.dp_overlap == DataParallelOverlap::on;
    std::vector<CriticalPath> paths;
    std::vector<std::size_t> before(ops.size());  // the op that decided an op's start
    std::vector<bool> fed(ops.size());
    for (MeanRun& run : slowed_runs(graph)) {
        std::vector<std::size_t> last(graph.stages(), none);  // latest op of a stage
        // Op that the stage's last collectives waited for.
        std::vector<std::size_t> into_gradients(graph.stages(), none);
        std::vector<std::vector<int>> reduced(graph.stages());  // parts reduced since
        std::vector<double> gradients(graph.stages(), 0.0);
        std::vector<std::size_t> in_slot(graph.program->slots, none);
        run.run([&](std::size_t i, const ProgramOp& op, double, double end, bool by_input) {
            before[i] = by_input ? in_slot[op.in] : last[op.stage];
            fed[i] = by_input;
            last[op.stage] = i;
            in_slot[op.out] = i;
            if (op.last_of_chunk) {
                if (!overlapped || end > gradients[op.stage]) {
                    into_gradients[op.stage] = i;
                    if (overlapped) {
                        reduced[op.stage].clear();
                    }
                }
                reduced[op.stage].push_back(static_cast<int>(op.stage_chunk));
                gradients[op.stage] = run.gradients_end(op.stage);
            }
        });
        int end_stage = 0;
        for (int stage = 1; stage < graph.stages(); ++stage) {
            if (run.step_end(stage) > run.step_end(end_stage)) {
                end_stage = stage;
            }
        }
        CriticalPath path;
        path.compute_s.assign(graph.stages(), 0.0F);
        path.ahead_s = graph.ahead_s.empty() ? 0.0F : graph.ahead_s[end_stage];
        path.reduced_chunks = reduced[end_stage];
        std::vector<double> compute(graph.stages(), 0.0);
        double communication = 0.0;
        std::size_t i = overlapped ? into_gradients[end_stage] : last[end_stage];
        for (; i != none; i = before[i]) {
            const OpDistribution& distribution = graph.distribution_of(ops[i]);
            compute[ops[i].stage] += static_cast<double>(distribution.compute.mean_s);
            communication += static_cast<double>(distribution.communication_s) +
                             (fed[i] ? static_cast<double>(distribution.transfer_s) : 0.0);
            // Only a path's first op can have waited for parameters alone: nothing else decided its start.
            path.gathered_chunk =
                ops[i].first_of_chunk && before[i] == none ? static_cast<int>(ops[i].stage_chunk) : -1;
        }
        std::transform(compute.begin(), compute.end(), path.compute_s.begin(),
                       [](double s) { return static_cast<float>(s); });
        path.communication_s = static_cast<float>(communication);
        paths.push_back(std::move(path));
    }
    return paths;
}

}  // namespace prismopt

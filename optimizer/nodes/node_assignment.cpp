#include "optimizer/nodes/node_assignment.hpp"

#include "model/base/estimate.hpp"
#include "optimizer/nodes/assignment_bound.hpp"
#include "optimizer/nodes/assignment_guide.hpp"

#include <algorithm>
#include <set>

namespace prismopt {

namespace {

/// Nodes of a replica, where they are neighbours; else all nodes of the job.
int block_of(const Placement& at, int places)
{
    const int gpus = at.stages * at.tp;
    const bool together = at.buildings == 1 && at.stage_stride == 1 && gpus % at.gpus_per_node == 0;
    return together ? gpus / at.gpus_per_node : places;
}

}  // namespace

NodeAssignment best_nodes(const ExecutionGraph& graph, const NoiseTables& noise,
                          std::span<const float> factors, std::span<const std::vector<float>> starts,
                          const DrawRange& range, const SamplerOptions& sampler,
                          const AssignmentOptions& options)
{
    const std::set<float> distinct(factors.begin(), factors.end());
    const std::vector<float> kinds(distinct.begin(), distinct.end());
    const auto kind_of = [&kinds](float factor) {
        return static_cast<int>(std::lower_bound(kinds.begin(), kinds.end(), factor) - kinds.begin());
    };
    const auto nodes_of = [&kinds](std::span<const int> assignment) {
        std::vector<float> nodes;
        std::transform(assignment.begin(), assignment.end(), std::back_inserter(nodes),
                       [&](int kind) { return kinds[kind]; });
        return nodes;
    };
    AssignmentProblem problem;
    problem.positions = static_cast<int>(graph.node.size());
    problem.block = block_of(graph.placement, problem.positions);
    problem.stock.assign(kinds.size(), 0);
    for (const float factor : factors) {
        ++problem.stock[kind_of(factor)];
    }
    const NodesJudge p99_of = [&](std::span<const std::vector<float>> nodes) {
        std::vector<ExecutionGraph> graphs(nodes.size(), graph);
        std::vector<const ExecutionGraph*> pointers;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            graphs[i].node = nodes[i];
            pointers.push_back(&graphs[i]);
        }
        std::vector<double> p99;
        const Clusters clusters{static_cast<std::size_t>(range.steps),
                                static_cast<std::size_t>(block_fleets) * range.steps};
        for (const auto& draws : sample_steps(pointers, noise, range, sampler)) {
            p99.push_back(quantile_estimate(draws, clusters, 0.99, Confidence{}).value);
        }
        return p99;
    };
    problem.judge = [&](std::span<const Assignment> assignments) {
        std::vector<std::vector<float>> nodes;
        std::transform(assignments.begin(), assignments.end(), std::back_inserter(nodes), nodes_of);
        return p99_of(nodes);
    };
    AssignmentGuide guide(graph, kinds.front());
    problem.guide = [&](std::span<const int> block) { return guide(nodes_of(block)); };
    std::vector<float> fast(factors.begin(), factors.end());
    std::sort(fast.begin(), fast.end());
    fast.resize(graph.node.size());
    constexpr std::size_t most_for_bound = 256;
    problem.floor =
        assignment_bound(graph.placement, fast, p99_of, std::min(most_for_bound, options.most_judged / 4));
    std::vector<Assignment> first;
    for (const std::vector<float>& start : starts) {
        Assignment& assignment = first.emplace_back();
        std::transform(start.begin(), start.end(), std::back_inserter(assignment), kind_of);
    }
    const AssignmentResult found = best_assignment(problem, first, options);
    // If all replicas are equal, the bound has a sampling error of its own.
    const double bound = found.exact ? found.least : std::min(found.least, problem.floor);
    return {nodes_of(found.best), found.least, bound, found.most, found.exact, found.cut, found.judged};
}

}  // namespace prismopt

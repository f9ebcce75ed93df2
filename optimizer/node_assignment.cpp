#include "optimizer/node_assignment.hpp"

#include "model/estimate.hpp"

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

NodeAssignment best_nodes(const ExecutionGraph& graph, const NoiseTables& noise, std::span<const float> factors,
                          std::span<const std::vector<float>> starts, const DrawRange& range, const SamplerOptions& sampler,
                          const SeatingOptions& options)
{
    const std::set<float> distinct(factors.begin(), factors.end());
    const std::vector<float> kinds(distinct.begin(), distinct.end());
    const auto kind_of = [&kinds](float factor) {
        return static_cast<int>(std::lower_bound(kinds.begin(), kinds.end(), factor) - kinds.begin());
    };
    const auto nodes_of = [&kinds](const Seating& seating) {
        std::vector<float> nodes;
        std::transform(seating.begin(), seating.end(), std::back_inserter(nodes), [&](int kind) { return kinds[kind]; });
        return nodes;
    };
    SeatingProblem problem;
    problem.seats = static_cast<int>(graph.node.size());
    problem.block = block_of(graph.placement, problem.seats);
    problem.stock.assign(kinds.size(), 0);
    for (const float factor : factors) {
        ++problem.stock[kind_of(factor)];
    }
    problem.judge = [&](std::span<const Seating> seatings) {
        std::vector<ExecutionGraph> graphs;
        for (const Seating& seating : seatings) {
            graphs.push_back(graph);
            graphs.back().node = nodes_of(seating);
        }
        std::vector<const ExecutionGraph*> pointers;
        std::transform(graphs.begin(), graphs.end(), std::back_inserter(pointers), [](const ExecutionGraph& g) { return &g; });
        std::vector<double> p99;
        const Clusters clusters{static_cast<std::size_t>(range.steps), static_cast<std::size_t>(block_fleets) * range.steps};
        for (const auto& draws : sample_steps(pointers, noise, range, sampler)) {
            p99.push_back(quantile_estimate(draws, clusters, 0.99, Confidence{}).value);
        }
        return p99;
    };
    std::vector<Seating> first;
    for (const std::vector<float>& start : starts) {
        Seating& seating = first.emplace_back();
        std::transform(start.begin(), start.end(), std::back_inserter(seating), kind_of);
    }
    const SeatingResult found = best_seating(problem, first, options);
    return {nodes_of(found.best), found.least, found.most, found.exact, found.judged};
}

}  // namespace prismopt

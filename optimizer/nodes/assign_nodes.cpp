#include "optimizer/nodes/assign_nodes.hpp"

#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/predictor.hpp"
#include "optimizer/nodes/node_assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace prismopt {

namespace {

ExecutionGraph graph_on(const Problem& problem, ParallelPlan plan, NodeOrder order)
{
    plan.node_order = order;
    PlanCompiler compiler(setting_of(problem, problem.phases.front()));
    return std::get<CompiledPlan>(compiler.compile(plan)).graph;
}

/// Nodes from the fastest to the slowest; of equal ones the first listed first.
std::vector<int> by_speed(const std::vector<double>& factors)
{
    std::vector<int> nodes(factors.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) { return factors[a] < factors[b]; });
    return nodes;
}

/// The places' factors, those that are not in the stock replaced by the remainder of it.
std::vector<float> with_only(const std::vector<float>& stock, std::vector<float> nodes)
{
    std::multiset<float> left(stock.begin(), stock.end());
    std::vector<float*> replaced;
    for (float& node : nodes) {
        const auto same = left.find(node);
        if (same == left.end()) {
            replaced.push_back(&node);
        } else {
            left.erase(same);
        }
    }
    auto next = left.begin();
    for (float* node : replaced) {
        *node = *next++;
    }
    return nodes;
}

// Seconds to minutes of two cores, by counting: the same search on every machine.
constexpr std::size_t work_of_judging = 60'000'000'000;  // ops and terms of paths that are drawn
constexpr std::size_t work_of_guide = 2'000'000'000;     // ops

/// As many judgements of an assignment as the work allows; a batch or two at least.
std::size_t affordable(const ExecutionGraph& graph, const DrawRange& range, const SamplerOptions& sampler,
                       std::size_t most)
{
    const std::size_t stages = graph.stages();
    const std::size_t ops =
        graph.program->ops.size() * std::min(sampler.replicas_simulated, graph.placement.replicas);
    // of all replicas, by a path for each stage
    const std::size_t ranked = graph.placement.replicas * stages * (stages + 1);
    const std::size_t work = static_cast<std::size_t>(range.fleets) * range.steps * (ops + ranked);
    return std::clamp<std::size_t>(work_of_judging / work, 128, most);
}

}  // namespace

AssignedNodes assign_nodes(const Problem& problem, const ParallelPlan& plan, const DrawRange& range,
                           const SamplerOptions& sampler)
{
    ParallelPlan here = plan_in_phase(plan, problem.phases.front());
    const std::vector<double>& factors = problem.cluster.node_factors;
    const ExecutionGraph given = graph_on(problem, here, here.node_order);
    // A step gets no shorter when one of its nodes is slower, so none need sit while a faster one does not.
    std::vector<int> able = by_speed(factors);
    const std::vector<int> standing(able.begin() + static_cast<std::ptrdiff_t>(given.node.size()),
                                    able.end());
    able.resize(given.node.size());
    std::vector<float> stock;
    std::transform(able.begin(), able.end(), std::back_inserter(stock),
                   [&](int node) { return static_cast<float>(factors[node]); });

    std::vector<std::vector<float>> starts{with_only(stock, given.node)};
    here.spares = static_cast<int>(standing.size());
    for (const NodeOrder order :
         {NodeOrder::packed, NodeOrder::spread, NodeOrder::first_stage, NodeOrder::last_stage}) {
        starts.push_back(graph_on(problem, here, order).node);
    }
    AssignmentOptions moves;
    moves.seed = sampler.seed;
    const std::size_t usual = moves.most_judged;
    moves.most_judged = affordable(given, range, sampler, usual);
    moves.guided = std::min(moves.guided, work_of_guide / given.program->ops.size());
    const NodeAssignment found = best_nodes(given, problem.noise, stock, starts, range, sampler, moves);

    AssignedNodes result;
    result.exact = found.exact;
    result.cut = found.cut;
    result.work_limits = moves.most_judged < usual;
    result.judged = found.judged;
    result.least_p99_s = found.p99_s;
    result.worst_p99_s = found.worst_p99_s;
    result.bound_p99_s = found.bound_s;
    const Clusters clusters{static_cast<std::size_t>(range.steps),
                            static_cast<std::size_t>(block_fleets) * range.steps};
    result.given_p99_s =
        quantile_estimate(sample_steps(given, problem.noise, range, sampler), clusters, 0.99, Confidence{})
            .value;
    for (std::size_t place = 0; place < found.node.size(); ++place) {
        const auto at = std::find_if(able.begin(), able.end(), [&](int node) {
            return static_cast<float>(factors[node]) == found.node[place];
        });
        const int gpu = static_cast<int>(place) * problem.cluster.gpus_per_node();
        const Placement::Position position = given.placement.position(gpu / given.placement.tp);
        result.positions.push_back({gpu, *at, factors[*at], position.replica, position.stage});
        result.factors.push_back(factors[*at]);
        able.erase(at);
    }
    std::transform(standing.begin(), standing.end(), std::back_inserter(result.factors),
                   [&](int node) { return factors[node]; });
    return result;
}

std::string assignment_csv(const std::vector<NodePosition>& positions)
{
    std::string text = "first_gpu,node,factor,replica,stage\n";
    for (const NodePosition& position : positions) {
        text += fmt::format("{},{},{},{},{}\n", position.first_gpu, position.node, position.factor,
                            position.replica, position.stage);
    }
    return text;
}

}  // namespace prismopt

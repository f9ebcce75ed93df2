#include "optimizer/seat_nodes.hpp"

#include "model/phase_plan.hpp"
#include "model/step/node_order.hpp"
#include "optimizer/node_assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace prismopt {

namespace {

ExecutionGraph graph_on(const Problem& problem, ParallelPlan plan, NodeOrder order)
{
    plan.node_order = order;
    PlanCompiler compiler(
        {problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_headroom, problem.orders});
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

}  // namespace

SeatedNodes seat_nodes(const Problem& problem, const ParallelPlan& whole, const DrawRange& range, const SamplerOptions& sampler)
{
    const ParallelPlan plan = plan_in_phase(whole, problem.phases.front());
    const std::vector<double>& factors = problem.cluster.node_factors;
    std::vector<int> able = by_speed(factors);
    std::vector<int> standing(able.end() - std::max(plan.spares, 0), able.end());
    able.resize(able.size() - standing.size());
    std::vector<float> stock;
    std::transform(able.begin(), able.end(), std::back_inserter(stock),
                   [&](int node) { return static_cast<float>(factors[node]); });

    const ExecutionGraph given = graph_on(problem, plan, plan.node_order);
    std::vector<std::vector<float>> starts;
    for (const NodeOrder order :
         {NodeOrder::as_listed, NodeOrder::packed, NodeOrder::spread, NodeOrder::first_stage, NodeOrder::last_stage}) {
        starts.push_back(graph_on(problem, plan, order).node);
    }
    SeatingOptions moves;
    moves.seed = sampler.seed;
    const NodeAssignment found = best_nodes(given, problem.noise, stock, starts, range, sampler, moves);

    SeatedNodes result;
    result.exact = found.exact;
    result.judged = found.judged;
    result.least_p99_s = found.p99_s;
    const Clusters clusters{static_cast<std::size_t>(range.steps), static_cast<std::size_t>(block_fleets) * range.steps};
    result.given_p99_s =
        quantile_estimate(sample_steps(given, problem.noise, range, sampler), clusters, 0.99, Confidence{}).value;
    for (std::size_t place = 0; place < found.node.size(); ++place) {
        const auto at = std::find_if(able.begin(), able.end(),
                                     [&](int node) { return static_cast<float>(factors[node]) == found.node[place]; });
        const int gpu = static_cast<int>(place) * problem.cluster.gpus_per_node();
        const Placement::Seat seat = given.placement.seat(gpu / given.placement.tp);
        result.seats.push_back({gpu, *at, factors[*at], seat.replica, seat.stage});
        result.factors.push_back(factors[*at]);
        able.erase(at);
    }
    for (const std::vector<int>& left : {able, standing}) {
        for (const int node : left) {
            result.factors.push_back(factors[node]);
        }
    }
    return result;
}

std::string seats_csv(const std::vector<NodeSeat>& seats)
{
    std::string text = "first_gpu,node,factor,replica,stage\n";
    for (const NodeSeat& seat : seats) {
        text += fmt::format("{},{},{},{},{}\n", seat.first_gpu, seat.node, seat.factor, seat.replica, seat.stage);
    }
    return text;
}

}  // namespace prismopt

#include "model/plan/node_order.hpp"

#include "model/base/random.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

namespace prismopt {

namespace {

/// Places with the smallest keys have the slowest nodes.
std::tuple<int, int, int> key(NodeOrder order, const Placement& at, int place)
{
    const int first_group = place * at.gpus_per_node / at.tp;
    const Placement::Position position = at.position(first_group);
    switch (order) {
        case NodeOrder::packed: return {position.replica, position.stage, place};
        case NodeOrder::spread:
            return {(position.stage + at.stages - position.replica % at.stages) % at.stages, position.replica,
                    place};
        case NodeOrder::first_stage: return {position.stage, position.replica, place};
        case NodeOrder::last_stage: return {-position.stage, position.replica, place};
        case NodeOrder::as_listed: break;
    }
    return {place, 0, 0};
}

}  // namespace

int nodes_used(const ParallelPlan& plan, const Cluster& cluster)
{
    return (plan.gpus() + cluster.gpus_per_node() - 1) / cluster.gpus_per_node();
}

int standing_by(const ParallelPlan& plan) { return std::max(plan.spares, 0); }

std::optional<Infeasible> node_problem(const ParallelPlan& plan, const Cluster& cluster)
{
    if (plan.node_order != NodeOrder::as_listed && !cluster.nodes_listed()) {
        return Infeasible{Conflict::no_known_nodes, {{FactKey::node_order, plan.node_order}}};
    }
    const int used = nodes_used(plan, cluster);
    const int held = used + standing_by(plan);
    if (plan.spares > 0 && held > cluster.nodes()) {
        return Infeasible{.conflict = Conflict::spares_and_nodes,
                          .facts = {{FactKey::used_nodes, used},
                                    {FactKey::spares, plan.spares},
                                    {FactKey::nodes, cluster.nodes()}},
                          .miss = static_cast<double>(held - cluster.nodes())};
    }
    return std::nullopt;
}

std::vector<int> nodes_in_order(const ParallelPlan& plan, const Cluster& cluster)
{
    std::vector<double> factor = cluster.node_factors;
    std::replace(factor.begin(), factor.end(), Cluster::drawn_node, 1.0);
    const auto slower = [&factor](int a, int b) { return factor[a] > factor[b]; };
    std::vector<int> nodes(factor.size());
    std::iota(nodes.rbegin(), nodes.rend(), 0);  // of equal ones the last listed stand by
    std::stable_sort(nodes.begin(), nodes.end(), slower);
    nodes.erase(nodes.begin(), nodes.begin() + standing_by(plan));
    std::sort(nodes.begin(), nodes.end());
    nodes.resize(nodes_used(plan, cluster));
    if (plan.node_order == NodeOrder::as_listed) {
        return nodes;
    }
    const Placement at = place(plan, cluster);
    std::vector<int> places(nodes.size());
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(),
              [&](int a, int b) { return key(plan.node_order, at, a) < key(plan.node_order, at, b); });
    std::stable_sort(nodes.begin(), nodes.end(), slower);
    std::vector<int> result(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        result[places[i]] = nodes[i];
    }
    return result;
}

}  // namespace prismopt

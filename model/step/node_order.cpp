#include "model/step/node_order.hpp"

#include "model/noise/variability.hpp"
#include "model/random.hpp"

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
    const Placement::Seat seat = at.seat(first_group);
    switch (order) {
        case NodeOrder::packed: return {seat.replica, seat.stage, place};
        case NodeOrder::spread: return {(seat.stage + at.stages - seat.replica % at.stages) % at.stages, seat.replica, place};
        case NodeOrder::first_stage: return {seat.stage, seat.replica, place};
        case NodeOrder::last_stage: return {-seat.stage, seat.replica, place};
        case NodeOrder::as_listed: break;
    }
    return {place, 0, 0};
}

/// Uniform in (0, 1).
double uniform(std::uint32_t word) { return (static_cast<double>(word) + 0.5) / 4294967296.0; }

}  // namespace

int nodes_used(const ParallelPlan& plan, const Cluster& cluster)
{
    return (plan.gpus() + cluster.gpus_per_node() - 1) / cluster.gpus_per_node();
}

int standing_by(const ParallelPlan& plan) { return std::max(plan.spares, 0); }

std::optional<Infeasible> node_problem(const ParallelPlan& plan, const Cluster& cluster)
{
    if (plan.node_order != NodeOrder::as_listed && !cluster.nodes_listed()) {
        return Infeasible{
            Reason::no_known_nodes,
            "node_order=" + std::string(name(plan.node_order)) + " needs slow_nodes of the cluster, or --nodes FILE", 0.0};
    }
    const int used = nodes_used(plan, cluster);
    const int held = used + standing_by(plan);
    if (plan.spares > 0 && held > cluster.nodes()) {
        return Infeasible{Reason::spares_and_nodes,
                          std::to_string(used) + " nodes at work and " + std::to_string(plan.spares) + " spares of " +
                              std::to_string(cluster.nodes()) + "; keep fewer spares or use fewer GPUs",
                          static_cast<double>(held - cluster.nodes())};
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

std::vector<double> drawn_node_factors(const Variability& variability, const Cluster& cluster, std::uint64_t seed)
{
    constexpr std::uint32_t fleet = 0;
    constexpr std::uint32_t whom = step_replica(0, shared_by_replicas);
    const LawQuantile gpu(variability.gpu);
    const LawQuantile node(variability.node);
    const auto draw = [&](const LawQuantile& law, std::uint32_t thing, Stream stream) {
        const double u = uniform(philox(seed, {fleet, whom, thing / 4, use(stream, Purpose::search)})[thing % 4]);
        return u < 0.5 ? law(u, false) : law(1.0 - u, true);
    };
    std::vector<double> factors;
    for (int n = 0; n < cluster.nodes(); ++n) {
        double slowest = 0.0;
        for (int g = 0; g < cluster.gpus_per_node(); ++g) {
            slowest = std::max(slowest, draw(gpu, static_cast<std::uint32_t>(n * cluster.gpus_per_node() + g), Stream::gpu));
        }
        factors.push_back(slowest * draw(node, static_cast<std::uint32_t>(n), Stream::node));
    }
    return factors;
}

}  // namespace prismopt

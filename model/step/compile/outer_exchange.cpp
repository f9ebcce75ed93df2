#include "model/step/compile/outer_exchange.hpp"

#include "model/hardware/collective.hpp"
#include "model/plan/placement.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr double difference_bytes = 4.0;  // of a parameter, as sent
// Bytes per parameter. Differences: reads outer and inner parameters, writes one (12). Update:
// reads difference, outer parameters and momentum, writes momentum, outer parameters, and the
// inner ones in 32 and 16 bits (26).
constexpr double update_traffic = 12.0 + 26.0;
constexpr double offloaded_traffic = 2.0 * outer_state_bytes;  // states come and go over the link of the host

}  // namespace

double outer_exchange_time(const Parameters& trained, const ParallelPlan& plan, const ExchangeGroups& inside,
                           const Cluster& cluster)
{
    const Groups across{group_of({buildings_of(plan, cluster), cluster.building_gpus()}, cluster)};
    const auto time = [&](Collective kind, double parameters, const Groups& groups) {
        return (slowest_collective(kind, Bytes{difference_bytes * parameters}, groups, cluster) /
                cluster.speed.of(class_of(ProcessGroup::data, kind)))
            .si;
    };
    const double dense_share = trained.dense() / size_of(inside.data);
    const double expert_share = trained.expert / size_of(inside.expert_data);
    const double shares = dense_share + expert_share;
    double seconds = time(Collective::all_reduce, shares, across) +
                     (Bytes{update_traffic * shares} / cluster.accelerator.memory_bandwidth).si;
    if (updates_on_host(plan.offload)) {
        seconds += (Bytes{offloaded_traffic * shares} / cluster.accelerator.host_link).si;
    }
    if (plan.sharding == Sharding::none) {
        seconds += time(Collective::all_gather, trained.dense(), inside.data) +
                   time(Collective::all_gather, trained.expert, inside.expert_data);
    }
    return seconds;
}

}  // namespace prismopt

#include "model/step/compile/data_parallel.hpp"

#include "model/hardware/collective.hpp"

#include <algorithm>

namespace prismopt {

namespace {

Exchange beside(double compute_s, const ExchangeTime& time, int buckets)
{
    if (time.seconds == 0.0) {
        return {};
    }
    return {static_cast<float>(time.seconds), static_cast<float>(1.0 - 1.0 / std::max(1, buckets)),
            static_cast<float>(compute_s), static_cast<float>(time.all_reduce)};
}

}  // namespace

DataParallel::DataParallel(const ParallelPlan& plan, const ExchangeGroups& groups, const Cluster& cluster,
                           const OptimizerSettings& optimizer)
    : plan_(plan), cluster_(cluster),
      gradient_message_(optimizer.message_bytes(cluster.stack.gradient_bytes)),
      parameter_message_(optimizer.parameter_bytes()), groups_(groups)
{
    crosses_circuits_ =
        std::any_of(cluster.tiers.begin(), cluster.tiers.begin() + static_cast<std::ptrdiff_t>(tier()) + 1,
                    [](const NetworkTier& t) { return t.circuit(); });
}

ExchangeTime DataParallel::time(Collective kind, double bytes_per_parameter, const Parameters& own,
                                int layers) const
{
    const double buckets =
        std::max(1, layers) * (kind == Collective::all_gather ? cluster_.stack.messages : 1.0);
    const auto time_of = [&](Collective collective, double parameters, const Groups& groups) {
        return slowest_collective(collective, Bytes{bytes_per_parameter * parameters / buckets}, groups,
                                  cluster_) /
               cluster_.speed.of(class_of(ProcessGroup::data, collective));
    };
    const Seconds experts = time_of(kind, own.expert, groups_.expert_data);
    if (kind == Collective::all_gather || size_of(groups_.sharded) == size_of(groups_.data)) {
        return {buckets * (time_of(kind, own.dense(), groups_.sharded) + experts).si,
                kind == Collective::all_reduce ? 1.0 : 0.0};
    }
    // Hybrid: reduced and split within the sharding group, and the shards summed between the groups.
    const Seconds scattered = time_of(Collective::reduce_scatter, own.dense(), groups_.sharded);
    const Seconds summed =
        time_of(Collective::all_reduce, own.dense() / size_of(groups_.sharded), groups_.between_shards);
    const Seconds all = scattered + summed + experts;
    return {buckets * all.si, all.si > 0.0 ? summed / all : 0.0};
}

Exchange DataParallel::in_buckets(Collective kind, double bytes_per_parameter, const Parameters& own,
                                  int layers, double compute_s) const
{
    Exchange best = beside(compute_s, time(kind, bytes_per_parameter, own, layers), layers);
    for (int buckets = layers / 2; crosses_circuits_ && buckets >= 1; buckets /= 2) {
        const Exchange other = beside(compute_s, time(kind, bytes_per_parameter, own, buckets), buckets);
        if (other.exposed() < best.exposed()) {
            best = other;
        }
    }
    return best;
}

/// Messages of a pass have their links for themselves.
double DataParallel::time_beside(const ChunkPass& pass) const
{
    const bool between_nodes = leave_nodes(groups_.data, cluster_);
    return std::max(0.0, pass.compute_s() + pass.communication_s() - pass.messages_s(between_nodes));
}

Exchange DataParallel::reduction(const Parameters& own, const ChunkPass& backward, int layers,
                                 bool last) const
{
    const auto kind = plan_.sharding == Sharding::none ? Collective::all_reduce : Collective::reduce_scatter;
    if (shards_gradients(plan_.sharding)) {
        const ExchangeTime all = time(kind, gradient_message_, own, layers);
        return {.seconds = static_cast<float>(all.seconds / std::max(1, layers)),
                .all_reduce = static_cast<float>(all.all_reduce)};
    }
    const bool overlapped = plan_.dp_overlap == DataParallelOverlap::on && last;
    const double compute_s = overlapped ? time_beside(backward) : 0.0;
    return in_buckets(kind, gradient_message_, own, layers, compute_s);
}

Exchange DataParallel::gathering(const Parameters& own, const ChunkPass& forward, int layers) const
{
    if (plan_.sharding == Sharding::none) {
        return {};
    }
    if (gathers_in_passes(plan_.sharding, cluster_.stack.gathers_once)) {
        return {static_cast<float>(time(Collective::all_gather, parameter_message_, own, layers).seconds /
                                   std::max(1, layers))};
    }
    const bool overlapped = plan_.dp_overlap == DataParallelOverlap::on;
    const double compute_s = overlapped ? time_beside(forward) : 0.0;
    return in_buckets(Collective::all_gather, parameter_message_, own, layers, compute_s);
}

std::size_t DataParallel::tier() const
{
    std::size_t tier = 0;
    for (const Group& group : groups_.data) {
        tier = std::max(tier, tier_around(group));
    }
    return tier;
}

double DataParallel::updated(const Parameters& own) const
{
    if (plan_.sharding == Sharding::none) {
        return own.all;
    }
    return own.dense() / size_of(groups_.sharded) + own.expert / size_of(groups_.expert_data);
}

}  // namespace prismopt

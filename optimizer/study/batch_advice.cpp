#include "optimizer/study/batch_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace prismopt {

namespace {

/// The nearer to `given` of two proposals; zero: none.
std::int64_t nearer(std::int64_t given, std::int64_t a, std::int64_t b)
{
    if (a == 0 || b == 0) {
        return std::max(a, b);
    }
    return std::abs(b - given) < std::abs(a - given) ? b : a;
}

std::int64_t nearest_multiple(std::int64_t value, std::int64_t unit)
{
    return std::max<std::int64_t>(1, (value + unit / 2) / unit) * unit;
}

/// Calls visit() for the products of degrees that divide a replica's work.
template <class Visit>
void for_replica_sizes(const SpaceSettings& space, Visit&& visit)
{
    for (const int tp : space.tp) {
        for (const int pp : space.pp) {
            for (const int cp : space.cp) {
                visit(static_cast<std::int64_t>(tp) * pp * cp);
            }
        }
    }
}

/// Sequences at once of all combinations of degrees that divide a number of GPUs.
std::vector<std::int64_t> all_sequences_at_once(const SpaceSettings& space)
{
    std::vector<std::int64_t> all;
    for_replica_sizes(space, [&](std::int64_t replica) {
        for (const int gpus : space.gpus) {
            for (const int microbatch : space.microbatch) {
                if (gpus % replica == 0) {
                    all.push_back(gpus / replica * microbatch);
                }
            }
        }
    });
    return all;
}

/// The batch near the given one that most combinations divide, and of several the nearest; zero: none.
std::int64_t divisible_batch(const SpaceSettings& space, std::int64_t batch)
{
    const std::vector<std::int64_t> all = all_sequences_at_once(space);
    std::int64_t best = 0;
    std::ptrdiff_t most = 0;
    for (const std::int64_t at_once : all) {
        const std::int64_t proposed = nearest_multiple(batch, at_once);
        const auto divided =
            std::count_if(all.begin(), all.end(), [=](std::int64_t other) { return proposed % other == 0; });
        if (divided > most) {
            most = divided;
            best = proposed;
        } else if (divided == most) {
            best = nearer(batch, best, proposed);
        }
    }
    return best;
}

/// The nearest number of GPUs among which some combination divides the batch; zero: none.
std::int64_t dividing_gpus(const Scenario& scenario, std::int64_t batch, std::int64_t gpus)
{
    std::int64_t best = 0;
    for_replica_sizes(scenario.space, [&](std::int64_t replica) {
        const std::int64_t most_replicas = std::min<std::int64_t>(batch, scenario.cluster.gpus / replica);
        for (const int microbatch : scenario.space.microbatch) {
            for (std::int64_t replicas = 1; replicas <= most_replicas; ++replicas) {
                if (batch % (replicas * microbatch) == 0) {
                    best = nearer(gpus, best, replicas * replica);
                }
            }
        }
    });
    return best;
}

}  // namespace

std::string batch_advice(const Scenario& scenario)
{
    const SpaceSettings& space = scenario.space;
    if (!scenario.served.empty() || scenario.phases.size() != 1 || !space.global_batch.empty() ||
        space.gpus.empty()) {
        return "";
    }
    const int batch = scenario.phases.front().global_batch;
    const std::int64_t other_batch = divisible_batch(space, batch);
    const std::int64_t other_gpus = dividing_gpus(scenario, batch, space.gpus.front());
    std::string text = other_batch > 0 ? fmt::format("global_batch = {}", other_batch) : "";
    if (other_gpus > 0) {
        text += fmt::format("{}gpus = {} in [space]", text.empty() ? "" : ", or ", other_gpus);
    }
    return text;
}

}  // namespace prismopt

#include "model/calibration/trace/predicted_steps.hpp"

#include "model/base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace prismopt {

namespace {

/// Words for one thing of one draw.
std::array<std::uint32_t, 4> words_of(std::uint64_t seed, int draw, std::uint32_t which)
{
    return philox(seed,
                  {static_cast<std::uint32_t>(draw), 0, which, use(Stream::calibration, Purpose::search)});
}

std::size_t below(std::uint32_t word, std::size_t count)
{
    return static_cast<std::size_t>((static_cast<std::uint64_t>(word) * count) >> 32);
}

/// Counterparts of the compute slots in other replicas.
class Donors {
public:
    Donors(const Trace& trace, const StepGraph& graph, const ComputeEffects& of_compute)
    {
        std::map<std::array<int, 3>, std::size_t> place_of;  // stage, kind, sequence
        std::vector<int> replicas;
        for (const TraceWorker& worker : trace.workers) {
            replicas.push_back(worker.dp);
        }
        std::sort(replicas.begin(), replicas.end());
        replicas.erase(std::unique(replicas.begin(), replicas.end()), replicas.end());
        count_ = replicas.size();
        for (std::size_t k = 0; k < of_compute.slots.size(); ++k) {
            const StepSlot& s = graph.slots[static_cast<std::size_t>(of_compute.slots[k])];
            const TraceWorker who = trace.workers[static_cast<std::size_t>(s.worker)];
            const auto place =
                place_of.emplace(std::array{who.stage, s.kind, s.sequence}, place_of.size()).first->second;
            if (table_.size() <= place) {
                table_.emplace_back(count_, -1);
            }
            const auto replica = static_cast<std::size_t>(
                std::lower_bound(replicas.begin(), replicas.end(), who.dp) - replicas.begin());
            table_[place][replica] = static_cast<int>(k);
            place_.push_back(place);
        }
    }

    std::size_t replicas() const { return count_; }
    /// The counterpart of compute slot k in a replica; itself where that has none.
    std::size_t of(std::size_t k, std::size_t replica) const
    {
        const int found = table_[place_[k]][replica];
        return found < 0 ? k : static_cast<std::size_t>(found);
    }

private:
    std::size_t count_ = 0;
    std::vector<std::size_t> place_;
    std::vector<std::vector<int>> table_;  // [place][replica]
};

}  // namespace

std::vector<double> predicted_steps(const Trace& trace, const StepGraph& graph,
                                    const ComputeEffects& of_compute, const PredictOptions& options)
{
    const std::size_t steps = graph.steps.size();
    const Donors donors(trace, graph, of_compute);
    std::vector<float> gaps(graph.slots.size());
    std::vector<float> durations(graph.slots.size());
    std::vector<double> times;
    for (int draw = 0; draw < options.draws && steps > 0; ++draw) {
        // Each measured step equally often.
        const std::size_t t =
            static_cast<std::size_t>(draw) * steps / static_cast<std::size_t>(options.draws);
        for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
            gaps[slot] = graph.gap(slot, t);
            durations[slot] = graph.duration(slot, t);
        }
        for (std::size_t k = 0; k < of_compute.slots.size(); ++k) {
            const StepSlot& s = graph.slots[static_cast<std::size_t>(of_compute.slots[k])];
            const int dp = trace.workers[static_cast<std::size_t>(s.worker)].dp;
            const std::uint32_t microbatch =
                of_compute.replicas_together ? 0 : static_cast<std::uint32_t>(s.microbatch);
            const auto word =
                words_of(options.seed, draw, (static_cast<std::uint32_t>(dp) << 16) + microbatch);
            const std::size_t donor =
                donors.of(k, below(word[0], donors.replicas())) * steps + below(word[1], steps);
            durations[static_cast<std::size_t>(of_compute.slots[k])] =
                std::exp(of_compute.place[k] + of_compute.step[t] + of_compute.rest[donor]);
        }
        times.push_back(replay(graph, gaps, durations));
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace prismopt

#pragma once

/// Randomness by identity: a number is a function of whom it is for, never of who computes it or when.
///
/// Generator: Philox4x32-10 (Salmon et al., SC11, "Parallel random numbers: as easy as 1, 2, 3"), keyed by the seed. The
/// 128-bit counter names the event; the four output words serve the uses that share an event.

#include <array>
#include <cstdint>

namespace prismopt {

/// All uses of random numbers in the program. Two uses never share an entry, so independence is checked by reading this.
enum class Stream : std::uint8_t {
    gpu,             // spatial factor of a tensor parallel group of GPUs, by fleet
    node,            // spatial factor of a node, by fleet
    site,            // spatial factor of the whole fleet
    common,          // step-common regimes: word 0 compute, word 1 communication
    stage,           // by step, replica and stage
    microbatch,      // by step, replica and microbatch
    residual,        // by op (replica: its place among those simulated): word 0 compute, 1 collectives inside, 2 transfer to it
    dp_collective,   // by step and chunk: word 0 reduce-scatter or all-reduce, word 1 all-gather
    other_replicas,  // replicas whose step is not simulated op by op
    failure,  // gaps between failures, by history, part of the run and failure; kind 1 + cause: first gap of the causes after the first
    strata,        // by block of fleets: how a stratified stream deals its strata out; kind: the stream
    strategy,      // choices of a search strategy; fleet: the choice, event: its number
    repair,        // by history, part of the run and failure: word 0 repair time, word 1 whether copies in memory are left
    node_rate,     // sum of the nodes' failure rates, by fleet
    failing_node,  // whose failure it is, by history and failure
    drift,         // of the speed of a whole run, by fleet
    tier,          // regime of a network tier, by step; event: four tiers
    calibration    // donors of measured durations, by draw and microbatch
};

/// Draws for choosing never meet draws for reporting: the front is re-estimated on `confirm`.
enum class Purpose : std::uint8_t { search, confirm };

/// Bit layout of the counter: | fleet 32 | step 16, replica 16 | event 32 | stream 8, purpose 8, kind 16 |.
struct Counter {
    std::uint32_t fleet = 0;
    std::uint32_t step_replica = 0;
    std::uint32_t event = 0;
    std::uint32_t use = 0;
};

/// Replica index of events that all replicas share.
inline constexpr std::uint32_t shared_by_replicas = 0xFFFF;

constexpr std::uint32_t step_replica(std::uint32_t step, std::uint32_t replica) { return (step << 16) | replica; }
constexpr std::uint32_t use(Stream stream, Purpose purpose, std::uint32_t kind = 0)
{
    return (static_cast<std::uint32_t>(stream) << 24) | (static_cast<std::uint32_t>(purpose) << 16) | kind;
}

/// Four 32-bit words for one event.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, const Counter& counter);

/// Draws that are computed side by side: the inner, vectorised dimension of the sampler.
inline constexpr int lanes = 64;

template <class T>
struct alignas(64) Lanes {
    T at[lanes];
};
using Words = Lanes<std::uint32_t>;

/// Latin hypercube within a block of 64 fleets: the same word with its top six bits replaced, so that the 64 lanes of a block
/// fall into 64 strata of equal probability. `key`, equal for all lanes of the block, picks the bijection of lanes and strata; its
/// offset is uniform, so each lane's word stays uniform and independent of its words for other events: estimates stay unbiased.
/// McKay, Beckman, Conover, Technometrics 21 (1979) 239-245.
constexpr std::uint32_t stratified(std::uint32_t word, std::uint32_t key, std::uint32_t lane)
{
    const std::uint32_t odd = 2 * (key >> 6) + 1;
    const std::uint32_t stratum = (((lane ^ (key >> 12)) * odd) + key) % lanes;
    return (stratum << 26) | (word >> 6);
}

/// philox() for 64 counters that share `event` and `use`; bit for bit the same numbers. words[w].at[lane].
void philox_lanes(std::uint64_t seed, const Words& fleet, const Words& step_replica, std::uint32_t event, std::uint32_t use,
                  std::array<Words, 4>& words);

/// philox() for 64 fleets that share all but the fleet: what the first two rounds make of the shared parts is computed once, and
/// what the first makes of the fleets once for all events. Bit for bit the same numbers.
class FleetPhilox {
public:
    FleetPhilox() = default;
    FleetPhilox(std::uint64_t seed, const Words& fleet);

    void draw(std::uint32_t step_replica, std::uint32_t event, std::uint32_t use, std::array<Words, 4>& words) const;

private:
    std::uint64_t seed_ = 0;
    Lanes<std::uint64_t> high_{};  // halves of the fleet times the first multiplier
    Lanes<std::uint64_t> low_{};
};

}  // namespace prismopt

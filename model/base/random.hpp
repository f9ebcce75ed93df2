#pragma once

/// Random numbers keyed by event: a number is a function of its event, whatever rank
/// or thread computes it, and when.
///
/// Generator: Philox4x32-10 (Salmon et al., SC11, "Parallel random numbers: as easy as 1, 2, 3"), keyed
/// by the seed. The 128-bit counter names the event; up to four uses share the four output words of an
/// event. docs/methods/sampling.md.

#include <array>
#include <cstdint>

namespace prismopt {

/// All uses of random numbers in the program. Two uses never share an entry, so their draws are independent.
enum class Stream : std::uint8_t {
    gpu,         // spatial factor of a tensor-parallel group of GPUs, by fleet
    node,        // spatial factor of a node, by fleet
    site,        // spatial factor of the whole fleet
    common,      // per-step factors: word 0 compute, word 1 communication
    stage,       // by step, replica and stage
    microbatch,  // by step, replica and microbatch
    // by op (replica: its rank among those simulated): word 0 compute, 1 collectives inside, 2 transfer to it
    residual,
    dp_collective,   // by step and chunk: word 0 reduce-scatter or all-reduce, word 1 all-gather
    other_replicas,  // replicas that are not simulated op by op
    // gaps between failures, by history, part and failure;
    // kind 1 + cause: first gaps of causes after the first
    failure,
    strata,    // by block of fleets: assignment of a stratified stream's strata; kind: the stream
    strategy,  // choices of a search strategy; fleet: the choice, event: its number
    // by history, part of the run and failure: word 0 repair time, word 1 whether copies in memory survive
    repair,
    // sum of the nodes' failure rates, by fleet; kind 1 + cause: what is not known of the cause's rate
    node_rate,
    failing_node,  // the node of a failure, by history and failure
    drift,         // of the speed of a whole run, by fleet
    tier,          // per-step factor of a network tier; event: four tiers
    calibration,   // donors of measured durations, by draw and microbatch
    posterior,  // constants, discrepancies and noise of measurements; fleet: the draw, event: which of them
    rounding,   // stochastic rounding; fleet: row, step and replica: column / 4, event: tile, kind: tensor
    tensors,    // elements of random tensors; fleet: row, step and replica: column, kind: tensor
    lengths,    // of the samples of a microbatch, by step, replica and microbatch
    data_order  // order of the samples of a data set; fleet: the epoch, event: the place
};

/// Purpose of draws. Draws for choosing are never used for reporting: the Pareto front is re-estimated
/// on `confirm`. An exact search chooses incumbents on `scout`, takes their upper limits on `limits`,
/// and draws all others on `search`.
enum class Purpose : std::uint8_t { search, confirm, scout, limits };

/// Counter of the generator. Bit layout: | fleet 32 | step 16, replica 16 | event 32 |
/// stream 8, purpose 8, kind 16 |.
struct Counter {
    std::uint32_t fleet = 0;
    std::uint32_t step_replica = 0;
    std::uint32_t event = 0;
    std::uint32_t use = 0;
};

/// Replica index of events that all replicas share.
inline constexpr std::uint32_t shared_by_replicas = 0xFFFF;

constexpr std::uint32_t step_replica(std::uint32_t step, std::uint32_t replica)
{
    return (step << 16) | replica;
}
constexpr std::uint32_t use(Stream stream, Purpose purpose, std::uint32_t kind = 0)
{
    return (static_cast<std::uint32_t>(stream) << 24) | (static_cast<std::uint32_t>(purpose) << 16) | kind;
}

/// Returns four 32-bit words for one event.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, const Counter& counter);

/// Number of draws computed side by side: the inner, vectorised dimension of the sampler.
inline constexpr int lanes = 64;

template <class T>
struct alignas(64) Lanes {
    T at[lanes];
};
using Words = Lanes<std::uint32_t>;
using Ints = Lanes<std::int32_t>;
using Floats = Lanes<float>;

/// Stratifies a word over a block of 64 fleets (Latin hypercube; McKay, Beckman, Conover, Technometrics
/// 21 (1979) 239-245): replaces its top six bits, so that the 64 lanes of a block fall into 64 strata of
/// equal probability. `key`, equal for all lanes of the block, picks the bijection of lanes and strata;
/// its offset is uniform, so each lane's word stays uniform and independent of its words for other
/// events, and estimates stay unbiased.
constexpr std::uint32_t stratified(std::uint32_t word, std::uint32_t key, std::uint32_t lane)
{
    const std::uint32_t odd = 2 * (key >> 6) + 1;
    const std::uint32_t stratum = (((lane ^ (key >> 12)) * odd) + key) % lanes;
    return (stratum << 26) | (word >> 6);
}

/// Computes philox() for 64 counters that share `event` and `use`, with the same bits: words[w].at[lane].
void philox_lanes(std::uint64_t seed, const Words& fleet, const Words& step_replica, std::uint32_t event,
                  std::uint32_t use, std::array<Words, 4>& words);

/// Philox for 64 fleets whose counters differ in the fleet only. The parts of the first two rounds that do
/// not depend on the fleet are computed once per event, and the first round's part of the fleets once for all
/// events. Same bits as philox().
class FleetPhilox {
public:
    FleetPhilox() = default;
    FleetPhilox(std::uint64_t seed, const Words& fleet);

    void draw(std::uint32_t step_replica, std::uint32_t event, std::uint32_t use,
              std::array<Words, 4>& words) const;

private:
    std::uint64_t seed_ = 0;
    Lanes<std::uint64_t> high_{};  // halves of a fleet's number times the first multiplier
    Lanes<std::uint64_t> low_{};
};

}  // namespace prismopt

#pragma once

/// Draws of one step of 64 fleets that plans share: factors of GPUs, nodes, stages and microbatches,
/// and collectives between replicas.

#include "model/distribution/noise_tables.hpp"
#include "model/step/sample/lane_kernels.hpp"
#include "model/step/sample/sampler.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace prismopt {

/// Largest extents of the plans of a lot, and the keys that the plans share.
struct LotExtent {
    int stages = 1;
    int replicas = 1;
    int nodes = 1;
    int microbatches = 1;
    bool groups_vary = false;               // some plan's tensor-parallel groups vary
    bool knows_nodes = false;               // some plan's nodes have known factors
    bool exchanges = false;                 // some plan has collectives of gradients or parameters
    bool all_reduces = false;               // all-reduces among them
    bool ranks_replicas = false;            // some plan with uncoupled replicas simulates only a part of them
    std::vector<std::uint16_t> first_slot;  // [part]

    /// Adds a plan with the same keys to the lot.
    void cover(const LotExtent& plan);
};

/// One step of 64 fleets: all draws that plans share, except those of the ops. Made once per lot and
/// thread. Tables and options must outlive it; threads share them.
class BlockStep {
public:
    BlockStep(const NoiseTables& noise, const SamplerOptions& options, LotExtent extent);

    /// Draws step `step` of the block of fleets from `first_fleet`.
    void begin(int first_fleet, int step);

    const Floats& stage_factor(int replica, int stage) const
    {
        return stage_[static_cast<std::size_t>(replica) * extent_.stages + stage];
    }

    /// Returns the number of powers of the microbatch factor that passes differ in.
    std::size_t microbatch_powers() const
    {
        return std::max<std::size_t>(1, noise.microbatch_powers.tables.size());
    }
    /// Draws the factors of the microbatches of one replica, or of a replica per lane. `out`:
    /// [power * microbatches + microbatch].
    void draw_microbatches(std::uint32_t replica, std::span<Floats> out) const;
    void draw_microbatches(const Ints& replica, std::span<Floats> out) const;
    /// Draws four words for the lengths in four microbatches of one replica, or of a replica
    /// per lane. `event`: which four.
    void draw_lengths(std::uint32_t replica, std::uint32_t event, std::array<Words, 4>& words) const;
    void draw_lengths(const Ints& replica, std::uint32_t event, std::array<Words, 4>& words) const;
    /// Draws four words, not stratified, for an event of one replica or of all (who: step_replica()).
    void draw(std::uint32_t who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;

    const NoiseTables& noise;
    const SamplerOptions& options;
    bool factors_vary;  // some factor of fleets, steps, stages or microbatches varies
    std::uint32_t step = 0;
    Words fleet;
    FleetPhilox philox;
    Floats compute;                  // per-step factor of compute, times the factor of the whole fleet
    Floats communication;            // per-step factor of communication
    std::vector<Words> group_words;  // [group]: for the persistent factor of a tensor-parallel group
    std::vector<Floats> node;        // [node]: its persistent factor
    // [replica]; empty if no plan ranks replicas or the factor is constant
    std::vector<Floats> mean_microbatch;
    std::vector<Floats> reduce_scatter;  // [part]: factor of the collective, times `communication`
    std::vector<Floats> all_reduce;      // [part]; empty if no plan has any
    std::vector<Floats> all_gather;      // [part]
    std::vector<Floats> regime;          // [tier]: per-step factors; empty if none varies

    /// Returns the factors of transfers, by the tier that they cross.
    const Floats* transfers() const { return regime.empty() ? &communication : transfer_.data(); }

private:
    /// As draw(), for an event that is stratified over the block.
    void draw_strata(std::uint32_t who, std::uint32_t event, Stream stream,
                     std::array<Words, 4>& words) const;
    void draw_strata(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const;
    Words in_step(const Ints& replica) const;
    template <class Draw>
    void lookup_microbatches(std::span<const QuantileTable> powers, std::span<Floats> out, Draw&& draw) const;
    std::span<const QuantileTable> power_tables() const;
    void draw_common();
    void draw_tiers();
    void draw_persistent();
    void draw_stages();
    void draw_mean_microbatches();
    void draw_collectives();

    LotExtent extent_;
    std::uint32_t block_ = 0;
    std::vector<Floats> transfer_;  // [tier]: its per-step factor times that of all communication
    std::vector<Floats> stage_;     // [replica * stages + stage]; empty if the factor is constant
};

}  // namespace prismopt

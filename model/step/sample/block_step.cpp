#include "model/step/sample/block_step.hpp"

#include <algorithm>

namespace prismopt {

namespace {

void fill(Words& row, std::uint32_t value) { std::fill_n(row.at, lanes, value); }

std::uint32_t strata_of(Stream stream, Purpose purpose)
{
    return use(Stream::strata, purpose, static_cast<std::uint32_t>(stream));
}

bool factors_of_steps_vary(const NoiseTables& noise)
{
    return noise.node_varies || noise.stage_varies || noise.microbatch_varies || !noise.site.constant() ||
           !noise.common_compute.constant() || !noise.common_communication.constant() || !noise.tier.empty();
}

}  // namespace

void LotExtent::cover(const LotExtent& plan)
{
    stages = std::max(stages, plan.stages);
    replicas = std::max(replicas, plan.replicas);
    nodes = std::max(nodes, plan.nodes);
    microbatches = std::max(microbatches, plan.microbatches);
    groups_vary = groups_vary || plan.groups_vary;
    knows_nodes = knows_nodes || plan.knows_nodes;
    exchanges = exchanges || plan.exchanges;
    all_reduces = all_reduces || plan.all_reduces;
    ranks_replicas = ranks_replicas || plan.ranks_replicas;
    first_slot = plan.first_slot;
}

BlockStep::BlockStep(const NoiseTables& noise_tables, const SamplerOptions& sampler_options, LotExtent extent)
    : noise(noise_tables), options(sampler_options),
      factors_vary(extent.groups_vary || extent.knows_nodes || factors_of_steps_vary(noise_tables)),
      group_words(extent.groups_vary ? (static_cast<std::size_t>(extent.stages) * extent.replicas + 3) / 4 * 4
                                     : 0),
      node(noise.node_varies ? extent.nodes : 0),
      mean_microbatch(extent.ranks_replicas && noise.microbatch_varies ? extent.replicas : 0),
      reduce_scatter(extent.first_slot.size()), all_reduce(extent.all_reduces ? extent.first_slot.size() : 0),
      all_gather(extent.first_slot.size()), regime(noise.tier.size()), extent_(std::move(extent)),
      transfer_(noise.tier.size()),
      stage_(noise.stage_varies ? static_cast<std::size_t>(extent_.stages) * extent_.replicas : 0)
{
}

void BlockStep::begin(int first_fleet, int step_index)
{
    step = static_cast<std::uint32_t>(step_index);
    for (int l = 0; l < lanes; ++l) {
        fleet.at[l] = static_cast<std::uint32_t>(first_fleet + l);
    }
    philox = FleetPhilox(options.seed, fleet);
    block_ = static_cast<std::uint32_t>(first_fleet / lanes);
    draw_common();
    draw_tiers();
    draw_persistent();
    draw_stages();
    draw_mean_microbatches();
    if (extent_.exchanges) {
        draw_collectives();
    }
}

void BlockStep::draw(std::uint32_t who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    philox.draw(who, event, use(stream, options.purpose), words);
}

void BlockStep::draw_strata(std::uint32_t who, std::uint32_t event, Stream stream,
                            std::array<Words, 4>& words) const
{
    draw(who, event, stream, words);
    if (options.sampling == Sampling::stratified) {
        const auto keys =
            prismopt::philox(options.seed, {block_, who, event, strata_of(stream, options.purpose)});
        for (std::size_t w = 0; w < words.size(); ++w) {
            stratify(keys[w], words[w]);
        }
    }
}

void BlockStep::draw_strata(const Words& who, std::uint32_t event, Stream stream,
                            std::array<Words, 4>& words) const
{
    philox_lanes(options.seed, fleet, who, event, use(stream, options.purpose), words);
    if (options.sampling == Sampling::stratified) {
        Words block;
        fill(block, block_);
        std::array<Words, 4> keys;
        philox_lanes(options.seed, block, who, event, strata_of(stream, options.purpose), keys);
        for (std::size_t w = 0; w < words.size(); ++w) {
            stratify(keys[w], words[w]);
        }
    }
}

void BlockStep::draw_common()
{
    std::array<Words, 4> words;
    draw_strata(step_replica(step, shared_by_replicas), 0, Stream::common, words);
    lookup(noise.common_compute, words[0], compute);
    lookup(noise.common_communication, words[1], communication);
    draw_strata(step_replica(0, shared_by_replicas), 0, Stream::site, words);
    multiply_by(noise.site, words[0], compute);
}

void BlockStep::draw_tiers()
{
    std::array<Words, 4> words;
    for (std::size_t t = 0; t < regime.size(); ++t) {
        if (t % 4 == 0) {
            draw_strata(step_replica(step, shared_by_replicas), static_cast<std::uint32_t>(t / 4),
                        Stream::tier, words);
        }
        lookup(noise.tier[t], words[t % 4], regime[t]);
        transfer_[t] = communication;
        multiply(regime[t], transfer_[t]);
    }
}

/// Four neighbouring groups, or nodes, share one call of the generator.
void BlockStep::draw_persistent()
{
    constexpr std::uint32_t persistent = step_replica(0, shared_by_replicas);
    std::array<Words, 4> words;
    for (std::size_t group = 0; group < group_words.size(); group += 4) {
        draw(persistent, static_cast<std::uint32_t>(group / 4), Stream::gpu, words);
        std::copy(words.begin(), words.end(), group_words.begin() + static_cast<std::ptrdiff_t>(group));
    }
    for (std::size_t n = 0; n < node.size(); ++n) {
        if (n % 4 == 0) {
            draw(persistent, static_cast<std::uint32_t>(n / 4), Stream::node, words);
        }
        lookup(noise.node, words[n % 4], node[n]);
    }
}

void BlockStep::draw_stages()
{
    std::array<Words, 4> words;
    for (std::size_t at = 0; at < stage_.size(); ++at) {
        const auto stage = static_cast<std::uint32_t>(at % extent_.stages);
        if (stage % 4 == 0) {
            draw_strata(step_replica(step, static_cast<std::uint32_t>(at / extent_.stages)), stage / 4,
                        Stream::stage, words);
        }
        lookup(noise.stage, words[stage % 4], stage_[at]);
    }
}

template <class Draw>
void BlockStep::lookup_microbatches(std::span<const QuantileTable> powers, std::span<Floats> out,
                                    Draw&& draw) const
{
    std::array<Words, 4> words;
    const std::size_t microbatches = out.size() / powers.size();
    for (std::size_t mb = 0; mb < microbatches; ++mb) {
        if (mb % 4 == 0) {
            draw(static_cast<std::uint32_t>(mb / 4), words);
        }
        for (std::size_t power = 0; power < powers.size(); ++power) {
            lookup(powers[power], words[mb % 4], out[power * microbatches + mb]);
        }
    }
}

std::span<const QuantileTable> BlockStep::power_tables() const
{
    const std::vector<QuantileTable>& tables = noise.microbatch_powers.tables;
    return tables.empty() ? std::span(&noise.microbatch, 1) : std::span(tables);
}

void BlockStep::draw_microbatches(std::uint32_t replica, std::span<Floats> out) const
{
    lookup_microbatches(power_tables(), out, [&](std::uint32_t event, std::array<Words, 4>& words) {
        draw_strata(step_replica(step, replica), event, Stream::microbatch, words);
    });
}

Words BlockStep::in_step(const Ints& replica) const
{
    Words who;
    for (int l = 0; l < lanes; ++l) {
        who.at[l] = step_replica(step, static_cast<std::uint32_t>(replica.at[l]));
    }
    return who;
}

void BlockStep::draw_lengths(std::uint32_t replica, std::uint32_t event, std::array<Words, 4>& words) const
{
    draw_strata(step_replica(step, replica), event, Stream::lengths, words);
}

void BlockStep::draw_lengths(const Ints& replica, std::uint32_t event, std::array<Words, 4>& words) const
{
    draw_strata(in_step(replica), event, Stream::lengths, words);
}

void BlockStep::draw_microbatches(const Ints& replica, std::span<Floats> out) const
{
    const Words who = in_step(replica);
    lookup_microbatches(power_tables(), out, [&](std::uint32_t event, std::array<Words, 4>& words) {
        draw_strata(who, event, Stream::microbatch, words);
    });
}

/// A path visits nearly all microbatches: it is slowed by the mean of their factors.
void BlockStep::draw_mean_microbatches()
{
    std::vector<Floats> factors(mean_microbatch.empty() ? 0 : extent_.microbatches);
    for (std::size_t replica = 0; replica < mean_microbatch.size(); ++replica) {
        const std::uint32_t who = step_replica(step, static_cast<std::uint32_t>(replica));
        lookup_microbatches(std::span(&noise.microbatch, 1), factors,
                            [&](std::uint32_t event, std::array<Words, 4>& words) {
                                draw_strata(who, event, Stream::microbatch, words);
                            });
        Floats& mean = mean_microbatch[replica];
        mean = Floats{};
        for (const Floats& factor : factors) {
            add(factor, mean);
        }
        for (float& m : mean.at) {
            m /= static_cast<float>(factors.size());
        }
    }
}

/// Collectives over the replicas: one draw each, the same for all of them. What reduces gradients is one
/// draw, be it a reduce-scatter or an all-reduce.
void BlockStep::draw_collectives()
{
    std::array<Words, 4> words;
    for (std::size_t stage_chunk = 0; stage_chunk < extent_.first_slot.size(); ++stage_chunk) {
        draw(step_replica(step, shared_by_replicas), extent_.first_slot[stage_chunk], Stream::dp_collective,
             words);
        scaled_draw(1.0F, noise.dp_reduce_scatter, words[0], communication, reduce_scatter[stage_chunk]);
        scaled_draw(1.0F, noise.dp_all_gather, words[1], communication, all_gather[stage_chunk]);
        if (extent_.all_reduces) {
            scaled_draw(1.0F, noise.dp_all_reduce, words[0], communication, all_reduce[stage_chunk]);
        }
    }
}

}  // namespace prismopt

#include "model/step/block_step.hpp"

#include <algorithm>

namespace prismopt {

namespace {

void fill(Words& row, std::uint32_t value) { std::fill_n(row.at, lanes, value); }

}  // namespace

BlockStep::BlockStep(const NoiseTables& noise_tables, const SamplerOptions& sampler_options, LotExtent extent)
    : noise(noise_tables), options(sampler_options),
      group_words((static_cast<std::size_t>(extent.stages) * extent.replicas + 3) / 4 * 4),
      node(noise.node_varies ? extent.nodes : 0),
      mean_microbatch(extent.ranks_replicas && noise.microbatch_varies ? extent.replicas : 0),
      reduce_scatter(extent.first_slot.size()), all_gather(extent.first_slot.size()), extent_(std::move(extent)),
      stage_(noise.stage_varies ? static_cast<std::size_t>(extent_.stages) * extent_.replicas : 0)
{
}

void BlockStep::begin(int first_fleet, int step_index)
{
    step = static_cast<std::uint32_t>(step_index);
    for (int l = 0; l < lanes; ++l) {
        fleet.at[l] = static_cast<std::uint32_t>(first_fleet + l);
    }
    fill(block_, static_cast<std::uint32_t>(first_fleet / lanes));
    draw_common();
    draw_persistent();
    draw_stages();
    draw_mean_microbatches();
    draw_collectives();
}

void BlockStep::draw(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    philox_lanes(options.seed, fleet, who, event, use(stream, options.purpose), words);
}

void BlockStep::draw_shared(std::uint32_t step_index, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    Words who;
    fill(who, step_replica(step_index, shared_by_replicas));
    draw(who, event, stream, words);
}

void BlockStep::draw_strata(const Words& who, std::uint32_t event, Stream stream, std::array<Words, 4>& words) const
{
    draw(who, event, stream, words);
    if (options.sampling == Sampling::plain) {
        return;
    }
    std::array<Words, 4> keys;
    philox_lanes(options.seed, block_, who, event, use(Stream::strata, options.purpose, static_cast<std::uint32_t>(stream)),
                 keys);
    for (std::size_t w = 0; w < words.size(); ++w) {
        stratify(keys[w], words[w]);
    }
}

void BlockStep::draw_common()
{
    std::array<Words, 4> words;
    Words who;
    fill(who, step_replica(step, shared_by_replicas));
    draw_strata(who, 0, Stream::common, words);
    look_up(noise.common_compute, words[0], compute);
    look_up(noise.common_communication, words[1], communication);
    fill(who, step_replica(0, shared_by_replicas));
    draw_strata(who, 0, Stream::site, words);
    multiply_by(noise.site, words[0], compute);
}

/// Four neighbouring groups, or nodes, share one call of the generator.
void BlockStep::draw_persistent()
{
    std::array<Words, 4> words;
    for (std::size_t group = 0; group < group_words.size(); group += 4) {
        draw_shared(0, static_cast<std::uint32_t>(group / 4), Stream::gpu, words);
        std::copy(words.begin(), words.end(), group_words.begin() + static_cast<std::ptrdiff_t>(group));
    }
    for (std::size_t n = 0; n < node.size(); ++n) {
        if (n % 4 == 0) {
            draw_shared(0, static_cast<std::uint32_t>(n / 4), Stream::node, words);
        }
        look_up(noise.node, words[n % 4], node[n]);
    }
}

void BlockStep::draw_stages()
{
    std::array<Words, 4> words;
    Words who;
    for (std::size_t at = 0; at < stage_.size(); ++at) {
        const auto stage = static_cast<std::uint32_t>(at % extent_.stages);
        if (stage % 4 == 0) {
            fill(who, step_replica(step, static_cast<std::uint32_t>(at / extent_.stages)));
            draw_strata(who, stage / 4, Stream::stage, words);
        }
        look_up(noise.stage, words[stage % 4], stage_[at]);
    }
}

void BlockStep::draw_microbatches(const Words& who, std::span<Floats> out) const
{
    std::array<Words, 4> words;
    for (std::size_t mb = 0; mb < out.size(); ++mb) {
        if (mb % 4 == 0) {
            draw_strata(who, static_cast<std::uint32_t>(mb / 4), Stream::microbatch, words);
        }
        look_up(noise.microbatch, words[mb % 4], out[mb]);
    }
}

/// A path visits nearly all microbatches: it is slowed by the mean of their factors.
void BlockStep::draw_mean_microbatches()
{
    std::vector<Floats> factors(mean_microbatch.empty() ? 0 : extent_.microbatches);
    Words who;
    for (std::size_t replica = 0; replica < mean_microbatch.size(); ++replica) {
        fill(who, step_replica(step, static_cast<std::uint32_t>(replica)));
        draw_microbatches(who, factors);
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

/// Collectives over the replicas: one draw each, the same for all of them.
void BlockStep::draw_collectives()
{
    std::array<Words, 4> words;
    for (std::size_t part = 0; part < extent_.first_slot.size(); ++part) {
        draw_shared(step, extent_.first_slot[part], Stream::dp_collective, words);
        scaled_draw(1.0F, noise.dp_collective, words[0], communication, reduce_scatter[part]);
        scaled_draw(1.0F, noise.dp_collective, words[1], communication, all_gather[part]);
    }
}

}  // namespace prismopt

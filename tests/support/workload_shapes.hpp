#pragma once

/// Published shapes and the hardware of plain numbers that tests of costs and memory share.

#include "tests/support/neighbouring_groups.hpp"

#include "model/hardware/hardware.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/transformer.hpp"

namespace prismopt {

/// GPT of Korthikanti et al., arXiv 2205.05198, table 3: multi-head plain attention,
/// GELU, dropout, f = 4h, V = 51,200.
inline Transformer gpt(int layers, int hidden, int heads)
{
    Transformer w;
    w.layers = layers;
    w.hidden = hidden;
    w.heads = heads;
    w.kv_heads = heads;
    w.feed_forward = 4 * hidden;
    w.vocabulary = 51200;
    w.attention = AttentionKernel::plain;
    w.tied_embedding = true;
    w.dropout = true;
    return w;
}

/// Llama 3, arXiv 2407.21783, table 3: 8 key and value heads, gated units, 128,256 tokens.
inline Transformer llama(int layers, int hidden, int heads, int feed_forward)
{
    Transformer w;
    w.layers = layers;
    w.hidden = hidden;
    w.heads = heads;
    w.kv_heads = 8;
    w.feed_forward = feed_forward;
    w.vocabulary = 128256;
    w.activation = Activation::swiglu;
    w.normalisation = Normalisation::rms_norm;
    return w;
}

inline Network network_of(const Transformer& transformer) { return network_of(workload_of(transformer)); }

inline LayerCosts layer_costs(const Transformer& transformer, const LayerShape& shape, const Cluster& cluster)
{
    return layer_costs(network_of(transformer), transformer.precision, shape, cluster);
}

inline double parameters_of(const Workload& workload) { return parameters_of(network_of(workload)); }
inline double parameters_of(const Transformer& transformer)
{
    return parameters_of(workload_of(transformer));
}

/// Changes a decoder by the keys that describe it whole.
template <class Change>
void change_decoder(Workload& workload, Change&& change)
{
    Transformer transformer = transformer_of(workload).value();
    change(transformer);
    workload = workload_of(transformer);
}

/// One node of 8 GPUs at 300 GB/s; launches, memory traffic and latency cost next to
/// nothing, so products and bytes show.
inline Cluster products_only()
{
    Cluster c;
    c.accelerator.peak_bf16 = FlopsPerSecond{100e12};
    c.accelerator.multiprocessors = 100;
    c.accelerator.memory_bandwidth = BytesPerSecond{1e20};
    c.accelerator.efficiency = {1.0, 1.0, 1.0, 1.0};
    c.gpus = 8;
    c.tiers = {{"node", 8, BytesPerSecond{300e9}, 1.0, Seconds{0.0}, 1.0}};
    return c;
}

}  // namespace prismopt

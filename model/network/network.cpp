#include "model/network/network.hpp"

#include "model/network/passes.hpp"

namespace prismopt {

namespace {

LayerShape whole(int sequence)
{
    LayerShape shape;
    shape.sequence = sequence;
    return shape;
}

}  // namespace

Network network_of(const Workload& w)
{
    const Residual stream{static_cast<double>(w.hidden), w.normalisation, w.dropout, w.biases()};
    const bool latent = w.latent.query_rank > 0;
    const Attention attention{.heads = static_cast<double>(w.heads),
                              .key_heads = static_cast<double>(latent ? w.heads : w.kv_heads),
                              .key_size = static_cast<double>(latent ? w.latent.plain + w.latent.rotary : w.head_size()),
                              .value_size = static_cast<double>(latent ? w.latent.value : w.head_size()),
                              .causal = w.causal,
                              .kernel = w.attention};
    const Block attending =
        latent ? latent_attention_block(stream, w.latent, attention) : attention_block(stream, attention, !w.learned_positions());
    const auto layer = [&](const char* name, const Block& block) {
        LayerKind kind{name, stream.hidden, attending};
        kind.operators.insert(kind.operators.end(), block.begin(), block.end());
        return kind;
    };
    Network network;
    const auto kind_of = [&network](const char* name, auto&& made) {
        std::size_t kind = 0;
        while (kind < network.kinds.size() && network.kinds[kind].name != name) {
            ++kind;
        }
        if (kind == network.kinds.size()) {
            network.kinds.push_back(made());
        }
        return static_cast<int>(kind);
    };
    const Experts& e = w.experts;
    const Routing routing{static_cast<double>(e.count), static_cast<double>(e.active), e.imbalance, e.capacity};
    for (int at = 0; at < w.layers; ++at) {
        network.layers.push_back(
            w.has_experts(at)
                ? kind_of("mixture",
                          [&] {
                              return layer("mixture", experts_block(stream, routing, e.feed_forward, e.shared, w.activation));
                          })
                : kind_of("dense", [&] { return layer("dense", mlp_block(stream, w.feed_forward, w.activation)); }));
    }
    network.embedding = {"embedding", stream.hidden, embedding_block(stream, w.vocabulary)};
    network.head = {"head", stream.hidden, head_block(stream, w.vocabulary, w.tied_embedding)};
    return network;
}

Parameters parameters_of(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape);
    Parameters sum;
    for (const Operator& part : kind.operators) {
        sum += parameters_of(part, extent);
    }
    return sum;
}

double parameters_of(const Network& network)
{
    double sum = 0.0;
    network.for_kinds([&](const LayerKind& kind, int count) {
        const Parameters own = parameters_of(kind, whole(1));
        sum += count * (own.all - own.tied);
    });
    return sum;
}

double model_flops_per_sequence(const Network& network, int sequence)
{
    double sum = 0.0;
    const LayerShape shape = whole(sequence);
    network.for_kinds([&](const LayerKind& kind, int count) {
        sum += count * (forward_calls(kind, shape).needed_flops() + backward_calls(kind, shape, Gradients::both).needed_flops());
    });
    return sum;
}

}  // namespace prismopt

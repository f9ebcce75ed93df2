#include "model/network/transformer.hpp"

#include <algorithm>
#include <type_traits>

namespace prismopt {

namespace {

BlockDescription attention_of(const Transformer& t)
{
    if (t.latent.key_value_rank > 0) {
        return LatentAttentionBlock{.heads = t.heads,
                                    .query_rank = t.latent.query_rank,
                                    .key_value_rank = t.latent.key_value_rank,
                                    .rotary = t.latent.rotary,
                                    .plain = t.latent.plain,
                                    .value = t.latent.value,
                                    .causal = t.causal,
                                    .kernel = t.attention};
    }
    const bool gpt = t.activation == Activation::gelu;
    return AttentionBlock{.heads = t.heads,
                          .kv_heads = t.kv_heads,
                          .head = t.head,
                          .causal = t.causal,
                          .kernel = t.attention,
                          .positions = gpt ? Positions::none : Positions::rotary,
                          .bias = gpt ? Biases::all : Biases::none};
}

}  // namespace

Workload workload_of(const Transformer& t)
{
    Workload w;
    copy_common_keys(t, w);
    const bool gpt = t.activation == Activation::gelu;
    const BlockDescription attention = attention_of(t);
    const auto kind = [&](const std::string& name, const BlockDescription& block) {
        for (std::size_t k = 0; k < w.kinds.size(); ++k) {
            if (w.kinds[k].name == name) {
                return static_cast<int>(k);
            }
        }
        w.kinds.push_back({.name = name, .blocks = {attention, block}});
        return static_cast<int>(w.kinds.size()) - 1;
    };
    const Experts& e = t.experts;
    for (int layer = 0; layer < t.layers; ++layer) {
        const int own = t.has_experts(layer) ? kind("moe", ExpertsBlock{.count = e.count,
                                                                        .active = e.active,
                                                                        .inner = e.feed_forward,
                                                                        .shared = e.shared,
                                                                        .activation = t.activation,
                                                                        .bias = gpt,
                                                                        .imbalance = e.imbalance,
                                                                        .capacity = e.capacity,
                                                                        .node_limit = e.node_limit,
                                                                        .weights = e.weights})
                                             : kind("dense", MlpBlock{t.feed_forward, t.activation, gpt});
        if (w.sequence.empty() || w.sequence.back().kind != own) {
            w.sequence.push_back({own, 1});
        } else {
            ++w.sequence.back().count;
        }
    }
    return w;
}

std::optional<Decoder> decoder_of(const Workload& w)
{
    Decoder d;
    for (const LayerDescription& kind : w.kinds) {
        if (kind.blocks.size() != 2 || kind.parallel || kind.hidden > 0 || kind.tokens != 1.0) {
            return std::nullopt;
        }
        const auto set = [&kind](auto& member, std::size_t place) {
            const auto* own = std::get_if<std::decay_t<decltype(*member)>>(&kind.blocks[place]);
            if (own != nullptr) {
                member = own;
            }
            return own != nullptr;
        };
        if (!(set(d.attention, 0) || set(d.latent, 0)) || !(set(d.mlp, 1) || set(d.experts, 1))) {
            return std::nullopt;
        }
        d.equal_layers = d.equal_layers && kind.blocks[0] == w.kinds[0].blocks[0];
    }
    for (const LayerRun& run : w.sequence) {
        d.has_experts.insert(d.has_experts.end(), run.count,
                             std::holds_alternative<ExpertsBlock>(w.kinds[run.kind].blocks[1]));
    }
    return w.kinds.empty() ? std::nullopt : std::optional(d);
}

std::pair<int, int> Decoder::pattern() const
{
    const auto first = std::find(has_experts.begin(), has_experts.end(), true);
    const auto second = first == has_experts.end() ? first : std::find(first + 1, has_experts.end(), true);
    const int every = second == has_experts.end() ? 1 : static_cast<int>(second - first);
    return {static_cast<int>(first - has_experts.begin()) - (every - 1), every};
}

std::optional<Transformer> transformer_of(const Workload& w)
{
    const auto d = decoder_of(w);
    if (!d || !d->equal_layers) {
        return std::nullopt;
    }
    Transformer t;
    copy_common_keys(w, t);
    t.layers = w.layers();
    if (d->attention != nullptr) {
        const AttentionBlock& a = *d->attention;
        t.heads = a.heads;
        t.kv_heads = a.key_heads();
        t.head = a.head;
        t.causal = a.causal;
    } else {
        const LatentAttentionBlock& l = *d->latent;
        t.heads = t.kv_heads = l.heads;
        t.causal = l.causal;
        t.latent = {l.query_rank, l.key_value_rank, l.rotary, l.plain, l.value};
    }
    t.attention = d->kernel();
    t.activation = d->activation();
    t.feed_forward = d->mlp != nullptr ? d->mlp->inner : d->experts->inner;
    if (const ExpertsBlock* e = d->experts) {
        const auto [dense, every] = d->pattern();
        t.experts = {e->count, e->active,    e->inner,    e->shared,     dense,
                     every,    e->imbalance, e->capacity, e->node_limit, e->weights};
    }
    // Whatever else the description says is lost on the way there and back.
    Workload described = w;
    described.prediction.clear();
    described.predictions = 0;
    return workload_of(t) == described ? std::optional(t) : std::nullopt;
}

}  // namespace prismopt

#include "model/network/layer_activations.hpp"

namespace prismopt {

namespace {

// Saved per score element without recompute: softmax output, dropout mask, dropout output (Korthikanti et al., eq. 1: 5as^2b).
constexpr double plain_scores_saved = 5.0;

}  // namespace

double LayerActivations::recomputable(bool mixture) const
{
    return w_.attention == AttentionKernel::plain
               ? plain_scores_saved * size_.scores
               : size_.width * (2.0 * 2.0 * size_.activation() / size_.outside_split + 2.0 * inner_elements(mixture));
}

double LayerActivations::inner_elements(bool mixture) const
{
    const Experts& e = w_.experts;
    return mixture ? size_.tokens / size_.tp * (e.active * e.imbalance * e.feed_forward + e.shared) : size_.tokens * size_.inner;
}

double LayerActivations::saved(bool mixture) const
{
    const double a = size_.activation();
    const double t = size_.tokens;
    const double outside_bytes = (4.0 * 2.0 * size_.width * a + (w_.dropout ? 2.0 * a : 0.0)) / size_.outside_split;
    const double latent = w_.latent.query_rank > 0 ? 2.0 * t * (w_.latent.query_rank + w_.latent.key_value_rank) : 0.0;
    const double attention_bytes = 2.0 * t * (size_.query + size_.key + size_.value + size_.output) + latent;
    const double inner = inner_elements(mixture);
    const double mlp_bytes = 2.0 * (size_.columns_of(inner) + inner);
    const double permuted = mixture ? 2.0 * 2.0 * a / size_.tp * w_.experts.active * w_.experts.imbalance : 0.0;
    const double scores = w_.attention == AttentionKernel::plain ? plain_scores_saved * size_.scores : 0.0;
    return outside_bytes + size_.width * (attention_bytes + mlp_bytes + permuted) + scores;
}

double LayerActivations::held(bool mixture) const
{
    const double split = size_.activation() / size_.outside_split;
    const double t = size_.tokens;
    const double inner = inner_elements(mixture);
    const double routed = mixture ? 2.0 * size_.activation() / size_.tp * w_.experts.active * w_.experts.imbalance : 2.0 * split;
    return 2.0 * size_.width *
           (2.0 * split + t * (size_.output + size_.query + size_.key + size_.value) + routed + inner + size_.columns_of(inner));
}

}  // namespace prismopt

#include "model/network/layer_sizes.hpp"

#include "model/hardware/kernel_time.hpp"

#include <algorithm>

namespace prismopt {

LayerSizes::LayerSizes(const Workload& w, const LayerShape& shape)
    : tokens(static_cast<double>(shape.microbatch) * shape.sequence / shape.cp), hidden(w.hidden),
      inner(static_cast<double>(w.feed_forward) / shape.tp), tp(shape.tp), scores(tokens * shape.sequence * w.heads / shape.tp),
      outside_split(shape.sequence_parallel ? tp : 1.0), gate(w.gated() ? 2.0 : 1.0),
      width(operand_bytes(w.precision) > 2.0 ? 2.0 : 1.0)
{
    const double heads = static_cast<double>(w.heads) / shape.tp;
    const double groups = std::max(1.0, static_cast<double>(w.kv_heads) / shape.tp);
    const bool latent = w.latent.query_rank > 0;
    const double key_size = latent ? w.latent.plain + w.latent.rotary : w.head_size();
    const double value_size = latent ? w.latent.value : w.head_size();
    query = heads * key_size;
    key = (latent ? heads : groups) * key_size;
    value = (latent ? heads : groups) * value_size;
    output = heads * value_size;
    attention_work = 2.0 * tokens * shape.sequence * heads * (key_size + value_size) *
                     (w.causal && w.attention == AttentionKernel::flash ? 0.5 : 1.0);
}

}  // namespace prismopt

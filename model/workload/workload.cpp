#include "model/workload/workload.hpp"

namespace prismopt {

double Workload::attention_parameters() const
{
    const double h = hidden;
    const double norms = normalisation == Normalisation::layer_norm ? 4.0 * h : 2.0 * h;
    if (latent.query_rank > 0) {
        const double key = latent.plain + latent.rotary;
        return h * latent.query_rank + latent.query_rank * heads * key + h * (latent.key_value_rank + latent.rotary) +
               latent.key_value_rank * static_cast<double>(heads) * (latent.plain + latent.value) +
               static_cast<double>(heads) * latent.value * h + norms;
    }
    const double q = static_cast<double>(heads) * head_size();
    const double kv = static_cast<double>(kv_heads) * head_size();
    // GELU networks of the GPT family carry biases, the others do not.
    const double biases = activation == Activation::gelu ? q + 2.0 * kv + h : 0.0;
    return 2.0 * h * q + 2.0 * h * kv + norms + biases;
}

double Workload::mlp_parameters(double inner) const
{
    const double biases = activation == Activation::gelu ? inner + hidden : 0.0;
    return (gated() ? 3.0 : 2.0) * hidden * inner + biases;
}

double Workload::shared_parameters() const
{
    return static_cast<double>(hidden) * experts.count + (experts.shared > 0 ? mlp_parameters(experts.shared) : 0.0);
}

double Workload::layer_parameters() const { return attention_parameters() + mlp_parameters(feed_forward); }

double Workload::parameters() const
{
    const double embedding = static_cast<double>(vocabulary) * hidden;
    const double mixtures = expert_layers() * (shared_parameters() + experts.count * mlp_parameters(experts.feed_forward));
    return layers * attention_parameters() + (layers - expert_layers()) * mlp_parameters(feed_forward) + mixtures +
           (tied_embedding ? 1.0 : 2.0) * embedding;
}

}  // namespace prismopt

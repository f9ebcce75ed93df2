#include "model/network/workload.hpp"

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

double model_flops_per_sequence(const Workload& workload, int sequence)
{
    const double s = sequence;
    const double h = workload.hidden;
    const Experts& e = workload.experts;
    const auto matrices = [&](double inner) { return (workload.gated() ? 3.0 : 2.0) * h * inner; };
    const double mixtures = workload.expert_layers();
    double attention = 0.0;  // weights of the products of one layer
    double head = 0.0;       // of a query-key and a weighting product, columns of all heads
    if (workload.latent.query_rank > 0) {
        const LatentAttention& l = workload.latent;
        const double key = l.plain + l.rotary;
        attention = h * l.query_rank + l.query_rank * workload.heads * key + h * (l.key_value_rank + l.rotary) +
                    l.key_value_rank * static_cast<double>(workload.heads) * (l.plain + l.value) +
                    static_cast<double>(workload.heads) * l.value * h;
        head = workload.heads * (key + l.value);
    } else {
        const double query = static_cast<double>(workload.heads) * workload.head_size();
        attention = 2.0 * h * query + 2.0 * h * workload.kv_heads * workload.head_size();
        head = 2.0 * query;
    }
    const double weights = workload.layers * attention + (workload.layers - mixtures) * matrices(workload.feed_forward) +
                           mixtures * (h * e.count + matrices(e.shared) + e.active * matrices(e.feed_forward)) +
                           h * workload.vocabulary;
    const double scores = 2.0 * s * s * head * (workload.causal && workload.attention == AttentionKernel::flash ? 0.5 : 1.0);
    return 3.0 * (2.0 * s * weights + workload.layers * scores);
}

}  // namespace prismopt

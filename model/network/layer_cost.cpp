#include "model/network/layer_cost.hpp"

#include "model/network/expert_cost.hpp"
#include "model/network/layer_activations.hpp"
#include "model/network/part_times.hpp"
#include "model/network/vocabulary_cost.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr double rotary_traffic = 4.0;  // bytes a 16-bit element: read, write
// Plain attention, bytes per score element: product writes (2), masked softmax reads and writes (4), dropout reads, writes
// and stores its mask (5), second product reads (2).
constexpr double plain_scores_forward = 13.0;
// Backward: gradient of the second product writes (2) and reads probabilities (2), dropout (2 + 1 + 2), softmax reads two
// and writes one (6), gradients of the first product read twice (4).
constexpr double plain_scores_backward = 19.0;
// Megatron-LM's fused softmax needs a multiple of this of (heads on a member) x (sequences); else the mask, the softmax, and casts
// to 32 bits and back are kernels of their own (megatron/model/fused_softmax.py, is_kernel_available).
constexpr int fused_softmax_matrices = 4;
// Beyond the traffic above, bytes a score element: cast to 32 bits (6), mask (8), softmax (8), cast back (6) in place of 4.
constexpr double unfused_softmax_forward = 24.0;
constexpr double unfused_softmax_backward = 22.0;  // casts (6 + 6), softmax (12), mask (4) in place of 6
constexpr double unfused_softmax_kernels = 6.0;

class LayerModel : private PartTimes {
public:
    LayerModel(const Workload& trained, const LayerShape& computed, const Cluster& machine)
        : PartTimes(trained, computed, machine), experts_(workload, shape, cluster), activations_(workload, size)
    {
    }

    /// Mean layer of the network.
    PartCost layer() const
    {
        const double mixtures = static_cast<double>(workload.expert_layers()) / workload.layers;
        const auto kind = [&](Recompute recompute) {
            if (mixtures <= 0.0) {
                return layer(false, recompute);
            }
            return mixed(layer(false, recompute), layer(true, recompute), mixtures);
        };
        if (shape.recompute != Recompute::full || shape.recomputed >= 1.0) {
            return kind(shape.recompute);
        }
        return mixed(kind(Recompute::none), kind(Recompute::full), shape.recomputed);
    }

    double boundary_bytes() const { return 2.0 * size.width * size.activation() / size.tp; }

private:
    PartCost layer(bool mixture, Recompute recompute) const
    {
        PartCost part;
        part.expert_parameters =
            mixture ? workload.experts.count * workload.mlp_parameters(workload.experts.feed_forward) / (shape.ep * shape.etp)
                    : 0.0;
        part.parameters =
            part.expert_parameters + (workload.attention_parameters() +
                                      (mixture ? workload.shared_parameters() : workload.mlp_parameters(workload.feed_forward))) /
                                         size.tp;
        const double input = 2.0 * size.width * size.activation() / size.outside_split;
        const double saved = activations_.saved(mixture);
        const double cheap = activations_.recomputable(mixture);
        const Sharded sharded = sharded_messages(part.parameters);
        PassBuilder backward = pass();
        if (recompute == Recompute::full) {
            add_forward(backward, mixture);
            part.saved_bytes = input;
            part.workspace_bytes = saved;
        } else if (recompute == Recompute::selective) {
            add_selective_recompute(backward, mixture);
            part.saved_bytes = saved - cheap;
            part.workspace_bytes = cheap;
        } else {
            part.saved_bytes = saved;
        }
        PassBuilder input_gradient = backward;
        PassBuilder weight_gradient = pass();
        add_backward(backward, mixture, Gradients::both);
        add_backward(input_gradient, mixture, Gradients::input);
        add_weight_gradients(weight_gradient, mixture);
        part.held_bytes = activations_.held(mixture);
        PassBuilder forward = pass();
        add_forward(forward, mixture);
        if (shape.offload) {
            // A layer's tensors leave while the next ones are computed, and return before their backward pass: two layers' are
            // there at a time.
            const Seconds move = Bytes{part.saved_bytes} / gpu.host_link;
            forward.copied_beside(move);
            backward.copied_beside(move);
            input_gradient.copied_beside(move);
            part.workspace_bytes += 2.0 * part.saved_bytes;
            part.saved_bytes = 0.0;
        }
        part.backward = backward.wait_for_host().beside_all(sharded.backward, sharded.hidden).done();
        part.input_gradient =
            input_gradient.wait_for_host().beside_all(sharded.backward - sharded.reduced, sharded.hidden).done();
        part.weight_gradient = weight_gradient.wait_for_host().beside_all(sharded.reduced, sharded.hidden).done();
        part.forward = forward.wait_for_host().beside_all(sharded.forward, sharded.hidden).done();
        pair(part);
        part.workspace_bytes += 2.0 * size.activation() * 2.0 * size.width;  // gathered layer input and its gradient
        return part;
    }

    void add_enter(PassBuilder& pass, Seconds product) const
    {
        shape.tp_overlap ? pass.pipelined_collective(enter(), product, size.tp) : pass.collective(enter());
    }
    void add_leave(PassBuilder& pass, Seconds product) const
    {
        shape.tp_overlap ? pass.pipelined_collective(reduce(), product, size.tp) : pass.collective(reduce());
    }

    /// Keys and values of the other members of the context parallel group; backward also their gradients on the way home.
    void add_context_exchange(PassBuilder& pass, Seconds attention, double times) const
    {
        if (shape.cp == 1) {
            return;
        }
        const double bytes = 2.0 * size.width * size.tokens * (size.key + size.value) * shape.cp;
        const Seconds time = times * collective(Collective::all_gather, bytes, {shape.cp, shape.tp});
        const double hidden = shape.context_exchange == ContextExchange::ring ? (shape.cp - 1.0) / shape.cp : 0.0;
        pass.hidden_collective(time, Seconds{hidden * attention.si}, Meeting::context);
    }

    void add_attention_forward(PassBuilder& pass) const
    {
        if (workload.attention == AttentionKernel::flash) {
            const Seconds time = flash_attention(size.attention_work, false);
            pass.kernel(KernelClass::attention, time);
            add_context_exchange(pass, time, 1.0);
        } else {
            pass.kernel(KernelClass::attention, plain_attention(size.attention_work));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_forward * size.scores));
            add_unfused_softmax(pass, unfused_softmax_forward);
        }
    }

    void add_unfused_softmax(PassBuilder& pass, double traffic) const
    {
        if (workload.heads / shape.tp * shape.microbatch % fused_softmax_matrices != 0) {
            pass.kernel(KernelClass::elementwise, elementwise(traffic * size.scores), unfused_softmax_kernels);
        }
    }

    void add_attention_backward(PassBuilder& pass) const
    {
        if (workload.attention == AttentionKernel::flash) {
            const Seconds time = flash_attention(2.5 * size.attention_work, true);
            pass.kernel(KernelClass::attention, time);
            add_context_exchange(pass, time, 2.0);
        } else {
            pass.kernel(KernelClass::attention, plain_attention(2.0 * size.attention_work));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_backward * size.scores));
            add_unfused_softmax(pass, unfused_softmax_backward);
        }
    }

    /// Q, K and V of the layer's input: one product, or the two steps of latent attention, whose first is not split by tp.
    Seconds projections() const
    {
        const LatentAttention& latent = workload.latent;
        if (latent.query_rank == 0) {
            return product(size.tokens, size.query + size.key + size.value, size.hidden);
        }
        const double heads = static_cast<double>(workload.heads) / size.tp;
        const double split = size.tokens / size.outside_split;
        return product(split, latent.query_rank, size.hidden) +
               product(split, latent.key_value_rank + latent.rotary, size.hidden) +
               product(size.tokens, size.query, latent.query_rank) +
               product(size.tokens, heads * (latent.plain + latent.value), latent.key_value_rank) +
               elementwise(2.0 * norm_traffic * split * (latent.query_rank + latent.key_value_rank));
    }
    /// Gradients of the same, with respect to the input or to the weights.
    Seconds projection_gradient(bool weights) const
    {
        if (workload.latent.query_rank > 0) {
            return projections();
        }
        const double columns = size.query + size.key + size.value;
        return weights ? product(size.hidden, columns, size.tokens) : product(size.tokens, size.hidden, columns);
    }

    void add_rotary(PassBuilder& pass) const
    {
        if (workload.activation != Activation::gelu) {  // GELU networks of the GPT family have learned positions
            pass.kernel(KernelClass::elementwise, elementwise(rotary_traffic * size.tokens * (size.query + size.key)));
        }
    }

    /// Casts of the operands of a layer's four products; `columns`: of the MLP's inner product.
    void add_casts(PassBuilder& pass, double inner) const
    {
        if (low()) {
            pass.kernel(KernelClass::elementwise, elementwise(cast_traffic * (2.0 * size.activation() / size.outside_split +
                                                                              size.tokens * (size.output + inner))));
        }
    }

    void add_forward(PassBuilder& pass, bool mixture) const
    {
        const double t = size.tokens;
        const Seconds first = projections();
        pass.kernel(KernelClass::elementwise, outside(norm_traffic));
        add_enter(pass, first);
        pass.kernel(KernelClass::gemm, first);
        add_rotary(pass);
        add_attention_forward(pass);
        const Seconds last = product(t, size.hidden, size.output);
        pass.kernel(KernelClass::gemm, last);
        add_leave(pass, last);
        pass.kernel(KernelClass::elementwise, outside(residual_traffic() + norm_traffic));
        if (mixture) {
            experts_.add_experts(pass, 1.0);
            if (workload.experts.shared > 0) {
                add_mlp_forward(pass, workload.experts.shared / size.tp);
            }
        } else {
            add_mlp_forward(pass, size.inner);
        }
        add_casts(pass, mixture ? 0.0 : size.inner);
        pass.kernel(KernelClass::elementwise, outside(residual_traffic()));
    }

    void add_mlp_forward(PassBuilder& pass, double inner) const
    {
        const double t = size.tokens;
        const Seconds first = product(t, size.columns_of(inner), size.hidden);
        add_enter(pass, first);
        pass.kernel(KernelClass::gemm, first);
        pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * t * inner));
        const Seconds last = product(t, size.hidden, inner);
        pass.kernel(KernelClass::gemm, last);
        add_leave(pass, last);
    }

    /// Input and weight gradients of y = x W for x [t, in], W [in, out].
    /// The row-parallel products start with the gradient gathered; of the column-parallel ones the input's gather hides
    /// behind the input gradient, and the sum of input gradients behind the weight gradient.
    void add_backward(PassBuilder& pass, bool mixture, Gradients gradients) const
    {
        pass.kernel(KernelClass::elementwise, outside(residual_traffic()));
        if (mixture) {
            experts_.add_experts(pass, 2.0, gradients);
            if (workload.experts.shared > 0) {
                add_mlp_backward(pass, workload.experts.shared / size.tp, gradients);
            }
        } else {
            add_mlp_backward(pass, size.inner, gradients);
        }
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic + residual_traffic()));
        add_row_gradients(pass, size.output, gradients);
        add_attention_backward(pass);
        add_rotary(pass);
        const Seconds input_gradient = projection_gradient(false);
        const Seconds weight_gradient = projection_gradient(true);
        add_column_gradients(pass, input_gradient, weight_gradient, gradients);
        add_casts(pass, mixture ? 0.0 : size.inner);
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic));
    }

    void add_mlp_backward(PassBuilder& pass, double inner, Gradients gradients) const
    {
        const double t = size.tokens;
        const double columns = size.columns_of(inner);
        add_row_gradients(pass, inner, gradients);
        pass.kernel(KernelClass::elementwise, elementwise(backward_traffic * activation_traffic() * t * inner));
        add_column_gradients(pass, product(t, size.hidden, columns), product(size.hidden, columns, t), gradients);
    }

    void add_row_gradients(PassBuilder& pass, double rows, Gradients gradients) const
    {
        const Seconds input_gradient = product(size.tokens, rows, size.hidden);
        add_enter(pass, input_gradient);
        pass.kernel(KernelClass::gemm, input_gradient);
        if (gradients == Gradients::both) {
            pass.kernel(KernelClass::gemm, product(rows, size.hidden, size.tokens));
        }
    }

    void add_column_gradients(PassBuilder& pass, Seconds input_gradient, Seconds weight_gradient, Gradients gradients) const
    {
        pass.kernel(KernelClass::gemm, input_gradient).hidden_collective(enter(), input_gradient);
        if (gradients == Gradients::both) {
            pass.kernel(KernelClass::gemm, weight_gradient).hidden_collective(reduce(), weight_gradient);
        } else {
            pass.collective(reduce());  // the weight gradient is not there to hide it
        }
    }

    /// The products that Gradients::input leaves out.
    void add_weight_gradients(PassBuilder& pass, bool mixture) const
    {
        const double t = size.tokens;
        const auto mlp = [&](double inner) {
            pass.kernel(KernelClass::gemm, product(inner, size.hidden, t));
            pass.kernel(KernelClass::gemm, product(size.hidden, size.columns_of(inner), t));
        };
        if (mixture) {
            experts_.add_weight_gradients(pass);
            if (workload.experts.shared > 0) {
                mlp(workload.experts.shared / size.tp);
            }
        } else {
            mlp(size.inner);
        }
        pass.kernel(KernelClass::gemm, product(size.output, size.hidden, t));
        pass.kernel(KernelClass::gemm, projection_gradient(true));
    }

    /// Selective recompute: what is cheap to compute and large to keep. Plain attention: the score matrices. Flash attention
    /// keeps no scores; there it is the normalised inputs and the product of the gated unit (Megatron-Core's
    /// `--recompute-modules` core_attn, or layernorm and mlp activation).
    void add_selective_recompute(PassBuilder& pass, bool mixture) const
    {
        if (workload.attention == AttentionKernel::plain) {
            add_attention_forward(pass);
        } else {
            pass.kernel(KernelClass::elementwise, outside(2.0 * norm_traffic));
            pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * activations_.inner_elements(mixture)));
        }
    }

    ExpertModel experts_;
    LayerActivations activations_;
};

}  // namespace

LayerShape layer_shape(const ParallelPlan& plan, int sequence, int layers)
{
    LayerShape shape{sequence, plan.microbatch, plan.tp, plan.sequence_parallel, plan.recompute};
    shape.recomputed = plan.recomputed_layers > 0 ? std::min(1.0, static_cast<double>(plan.recomputed_layers) / layers) : 1.0;
    shape.cp = plan.cp;
    shape.context_exchange = plan.context_exchange;
    shape.ep = plan.ep;
    shape.etp = plan.etp;
    shape.offload = plan.offload == Offload::activations;
    shape.tp_overlap = plan.tp_overlap == TensorParallelOverlap::on;
    if (plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3) {
        shape.sharding = plan.sharding;
        shape.sharding_gpus = plan.sharding_gpus();
        shape.sharding_groups = std::max(1, plan.gradient_gpus() / plan.sharding_gpus());
        shape.dp_overlap = plan.dp_overlap;
    }
    return shape;
}

Seconds update_time(double parameters, Offload offload, const Accelerator& accelerator)
{
    const Bytes traffic{optimizer_traffic_per_parameter * parameters};
    return offload == Offload::optimizer ? Bytes{offloaded_update_traffic * parameters} / accelerator.host_link +
                                               traffic / accelerator.host_memory_bandwidth
                                         : elementwise_time(traffic, accelerator);
}

double ChunkPass::compute_s() const
{
    double sum = 0.0;
    for_parts([&sum](int count, const PassCost& part) { sum += count * part.compute_s; });
    return sum;
}

double ChunkPass::communication_s() const
{
    double sum = 0.0;
    for_parts([&sum](int count, const PassCost& part) { sum += count * part.communication_s; });
    return sum;
}

LayerCosts layer_costs(const Workload& workload, const LayerShape& shape, const Cluster& cluster)
{
    const LayerModel model(workload, shape, cluster);
    const VocabularyModel vocabulary(workload, shape, cluster);
    LayerCosts costs{model.layer(), vocabulary.embedding(), vocabulary.head(), 0.0, 0.0};
    // With sequence parallelism each member sends its part; without, the tensor is split for the transfer and gathered again
    // (Narayanan et al., SC21, section 4.1), so that the slow link carries it once.
    costs.boundary_bytes = model.boundary_bytes();
    costs.shared_parameters = workload.tied_embedding ? costs.head.parameters : 0.0;
    return costs;
}

}  // namespace prismopt

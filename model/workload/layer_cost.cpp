#include "model/workload/layer_cost.hpp"

#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/workload/layer_activations.hpp"
#include "model/workload/layer_sizes.hpp"
#include "model/workload/pass_builder.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Bytes an elementwise kernel moves per 16-bit element of its tensor; derived from its reads and writes.
constexpr double norm_traffic = 4.0;          // read, write
constexpr double residual_add_traffic = 6.0;  // two reads, one write
constexpr double dropout_mask_traffic = 1.0;  // one byte a mask element
constexpr double gelu_traffic = 4.0;          // read, write
constexpr double swiglu_traffic = 6.0;        // two reads, one write, per element of the product
constexpr double rotary_traffic = 4.0;        // read, write
constexpr double routing_kernels = 30.0;      // top-k, counts, offsets, sorting, permutation; assumption
constexpr double permute_traffic = 2.0;       // one read or one write of a token on its way to an expert
constexpr double backward_traffic = 2.0;      // a backward elementwise kernel reads the saved input as well
// Plain attention, bytes per score element: product writes (2), masked softmax reads and writes (4), dropout reads, writes
// and stores its mask (5), second product reads (2).
constexpr double plain_scores_forward = 13.0;
// Backward: gradient of the second product writes (2) and reads probabilities (2), dropout (2 + 1 + 2), softmax reads two
// and writes one (6), gradients of the first product read twice (4).
constexpr double plain_scores_backward = 19.0;
// Share of the loss's traffic that comes in the forward pass; of Megatron-LM's unfused loss 38 of 52 bytes a logit.
constexpr double loss_forward = 0.6;
// A tensor parallel member holds a multiple of this of the vocabulary (Megatron-LM, --make-vocab-size-divisible-by).
constexpr double vocabulary_step = 128.0;
// Megatron-LM's fused softmax needs a multiple of this of (heads on a member) x (sequences); else the mask, the softmax, and casts
// to 32 bits and back are kernels of their own (megatron/model/fused_softmax.py, is_kernel_available).
constexpr int fused_softmax_matrices = 4;
// Beyond the traffic above, bytes a score element: cast to 32 bits (6), mask (8), softmax (8), cast back (6) in place of 4.
constexpr double unfused_softmax_forward = 24.0;
constexpr double unfused_softmax_backward = 22.0;  // casts (6 + 6), softmax (12), mask (4) in place of 6
constexpr double unfused_softmax_kernels = 6.0;

// Casts of a product's operand to 8 or 4 bits: reads 16-bit numbers, writes them twice, as they are and transposed.
constexpr double cast_traffic = 4.0;
constexpr double parameter_message = 2.0;  // bytes of a parameter gathered for its layer

/// What a backward pass computes of a product.
enum class Gradients { both, input };

class LayerModel {
public:
    LayerModel(const Workload& w, const LayerShape& shape, const Cluster& cluster)
        : w_(w), shape_(shape), cluster_(cluster), gpu_(cluster.accelerator), size_(w, shape), activations_(w, size_)
    {
    }

    /// Mean layer of the network.
    PartCost layer() const
    {
        const double mixtures = static_cast<double>(w_.expert_layers()) / w_.layers;
        const auto kind = [&](Recompute recompute) {
            if (mixtures <= 0.0) {
                return layer(false, recompute);
            }
            return mixed(layer(false, recompute), layer(true, recompute), mixtures);
        };
        if (shape_.recompute != Recompute::full || shape_.recomputed >= 1.0) {
            return kind(shape_.recompute);
        }
        return mixed(kind(Recompute::none), kind(Recompute::full), shape_.recomputed);
    }

    PartCost embedding() const
    {
        PartCost part;
        part.parameters = static_cast<double>(w_.vocabulary) * w_.hidden / size_.tp;
        part.forward = pass().kernel(KernelClass::elementwise, elementwise(4.0 * size_.activation())).collective(reduce()).done();
        part.backward = pass()
                            .collective(shape_.sequence_parallel ? gather() : Seconds{0.0})
                            .kernel(KernelClass::elementwise, elementwise(8.0 * size_.activation()))
                            .done();
        part.input_gradient = part.backward;  // frameworks do not put the embedding's gradient off
        pair(part);
        part.saved_bytes = dropout(1.0) * size_.activation() / size_.outside_split;
        return part;
    }

    PartCost head() const
    {
        PartCost part;
        const double columns =
            size_.tp > 1.0 ? vocabulary_step * std::ceil(w_.vocabulary / (vocabulary_step * size_.tp)) : w_.vocabulary;
        const double logits = size_.tokens * columns;
        const double traffic = cluster_.stack.loss_traffic * logits;
        const Seconds product = wide_product(size_.tokens, columns, size_.hidden);
        const Seconds input_gradient = wide_product(size_.tokens, size_.hidden, columns);
        const Seconds weight_gradient = wide_product(size_.hidden, columns, size_.tokens);
        part.parameters = static_cast<double>(w_.vocabulary) * w_.hidden / size_.tp;
        const Sharded sharded = sharded_messages(part.parameters);
        part.forward = pass()
                           .kernel(KernelClass::elementwise, outside(norm_traffic))
                           .collective(shape_.sequence_parallel ? gather() : Seconds{0.0})
                           .kernel(KernelClass::gemm, product)
                           .kernel(KernelClass::elementwise, elementwise(loss_forward * traffic))
                           .wait_for_host()
                           .beside_all(sharded.forward, sharded.hidden)
                           .done();
        part.backward = pass()
                            .kernel(KernelClass::elementwise, elementwise((1.0 - loss_forward) * traffic))
                            .kernel(KernelClass::gemm, input_gradient)
                            .hidden_collective(reduce(), weight_gradient)
                            .kernel(KernelClass::gemm, weight_gradient)
                            .kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic))
                            .wait_for_host()
                            .beside_all(sharded.backward, sharded.hidden)
                            .done();
        part.input_gradient = pass()
                                  .kernel(KernelClass::elementwise, elementwise((1.0 - loss_forward) * traffic))
                                  .kernel(KernelClass::gemm, input_gradient)
                                  .collective(reduce())
                                  .kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic))
                                  .wait_for_host()
                                  .beside_all(sharded.backward - sharded.reduced, sharded.hidden)
                                  .done();
        part.weight_gradient =
            pass().kernel(KernelClass::gemm, weight_gradient).wait_for_host().beside_all(sharded.reduced, sharded.hidden).done();
        pair(part);
        part.held_bytes =
            2.0 * size_.width * size_.activation() / size_.outside_split + 2.0 * logits;  // product's input, logits' gradient
        part.saved_bytes =
            4.0 * size_.width * size_.activation() / size_.outside_split + 4.0 * logits;  // norm in and out, 32-bit logits
        part.workspace_bytes = 2.0 * logits + 4.0 * size_.width * size_.activation();
        return part;
    }

    double boundary_bytes() const { return 2.0 * size_.width * size_.activation() / size_.tp; }

private:
    struct Sharded {
        Seconds forward;   // gathers of a part's parameters in one pass
        Seconds backward;  // and reduction of its gradients
        Seconds reduced;   // the reduction alone
        double hidden;     // share that runs beside compute
    };

    PartCost layer(bool mixture, Recompute recompute) const
    {
        PartCost part;
        part.expert_parameters =
            mixture ? w_.experts.count * w_.mlp_parameters(w_.experts.feed_forward) / (shape_.ep * shape_.etp) : 0.0;
        part.parameters =
            part.expert_parameters +
            (w_.attention_parameters() + (mixture ? w_.shared_parameters() : w_.mlp_parameters(w_.feed_forward))) / size_.tp;
        const double input = 2.0 * size_.width * size_.activation() / size_.outside_split;
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
        if (shape_.offload) {
            // A layer's tensors leave while the next ones are computed, and return before their backward pass: two layers' are
            // there at a time.
            const Seconds move = Bytes{part.saved_bytes} / gpu_.host_link;
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
        part.workspace_bytes += 2.0 * size_.activation() * 2.0 * size_.width;  // gathered layer input and its gradient
        return part;
    }

    void pair(PartCost& part) const
    {
        part.paired_forward = side_by_side(part.forward, part.backward, cluster_.stack);
        part.paired_backward = side_by_side(part.backward, part.forward, cluster_.stack);
    }

    PassBuilder pass() const { return PassBuilder(cluster_.stack); }
    double dropout(double bytes) const { return w_.dropout ? bytes : 0.0; }
    /// Precision of what does not follow that of the linear layers.
    Precision wide() const { return size_.width > 1.0 ? w_.precision : Precision::bf16; }
    bool low() const { return operand_bytes(w_.precision) < 2.0; }
    Seconds sped_up(KernelClass kind, Seconds time) const { return time / cluster_.speed.of(kind); }
    /// `bytes`: for 16-bit elements.
    Seconds elementwise(double bytes) const
    {
        return sped_up(KernelClass::elementwise, elementwise_time(Bytes{size_.width * bytes}, gpu_));
    }
    Seconds outside(double bytes_per_element) const
    {
        return elementwise(bytes_per_element * size_.activation() / size_.outside_split);
    }
    Seconds product(double m, double n, double k) const
    {
        return sped_up(KernelClass::gemm, gemm_time(m, n, k, gpu_, w_.precision));
    }
    Seconds wide_product(double m, double n, double k) const
    {
        return sped_up(KernelClass::gemm, gemm_time(m, n, k, gpu_, wide()));
    }
    Seconds plain_attention(double work) const
    {
        return sped_up(KernelClass::attention, batched_gemm_time(Flops{work}, w_.head_size(), gpu_));
    }
    Seconds flash_attention(double work, bool backward) const
    {
        return sped_up(KernelClass::attention, fused_attention_time(Flops{work}, backward, gpu_));
    }
    Seconds collective(Collective kind, double bytes, const Group& group) const
    {
        return sped_up(KernelClass::tp_collective, collective_time(kind, Bytes{bytes}, group, cluster_).time);
    }
    Seconds collective(Collective kind) const { return collective(kind, 2.0 * size_.width * size_.activation(), {shape_.tp, 1}); }
    /// Into the region: gather the sequence, or nothing when it is whole already. Out of it: sum, and split again.
    Seconds gather() const { return collective(Collective::all_gather); }
    Seconds reduce() const { return collective(shape_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce); }
    Seconds enter() const { return shape_.sequence_parallel ? gather() : Seconds{0.0}; }
    double residual_traffic() const { return residual_add_traffic + dropout(dropout_mask_traffic); }
    double activation_traffic() const { return w_.gated() ? swiglu_traffic : gelu_traffic; }

    /// ZeRO-3 gathers for each pass, ZeRO-2 once for both; both reduce gradients as soon as a layer has them.
    Sharded sharded_messages(double parameters) const
    {
        if (shape_.sharding != Sharding::zero2 && shape_.sharding != Sharding::zero3) {
            return {Seconds{0.0}, Seconds{0.0}, Seconds{0.0}, 1.0};
        }
        const Group group{shape_.sharding_gpus, shape_.tp};
        const Group between{shape_.sharding_groups,
                            shape_.tp * shape_.sharding_gpus};  // hybrid: shards are summed over the groups
        const double gradient = cluster_.stack.gradient_bytes * parameters;
        const Seconds gathered = collective(Collective::all_gather, parameter_message * parameters, group);
        const Seconds reduced = collective(Collective::reduce_scatter, gradient, group) +
                                collective(Collective::all_reduce, gradient / shape_.sharding_gpus, between);
        const double hidden = shape_.dp_overlap == DataParallelOverlap::on ? 1.0 : 0.0;
        return {gathered, shape_.sharding == Sharding::zero3 ? gathered + reduced : reduced, reduced, hidden};
    }

    void add_enter(PassBuilder& pass, Seconds product) const
    {
        shape_.tp_overlap ? pass.pipelined_collective(enter(), product, size_.tp) : pass.collective(enter());
    }
    void add_leave(PassBuilder& pass, Seconds product) const
    {
        shape_.tp_overlap ? pass.pipelined_collective(reduce(), product, size_.tp) : pass.collective(reduce());
    }

    /// Keys and values of the other members of the context parallel group; backward also their gradients on the way home.
    void add_context_exchange(PassBuilder& pass, Seconds attention, double times) const
    {
        if (shape_.cp == 1) {
            return;
        }
        const double bytes = 2.0 * size_.width * size_.tokens * (size_.key + size_.value) * shape_.cp;
        const Seconds time = times * collective(Collective::all_gather, bytes, {shape_.cp, shape_.tp});
        const double hidden = shape_.context_exchange == ContextExchange::ring ? (shape_.cp - 1.0) / shape_.cp : 0.0;
        pass.hidden_collective(time, Seconds{hidden * attention.si}, Meeting::context);
    }

    void add_attention_forward(PassBuilder& pass) const
    {
        if (w_.attention == AttentionKernel::flash) {
            const Seconds time = flash_attention(size_.attention_work, false);
            pass.kernel(KernelClass::attention, time);
            add_context_exchange(pass, time, 1.0);
        } else {
            pass.kernel(KernelClass::attention, plain_attention(size_.attention_work));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_forward * size_.scores));
            add_unfused_softmax(pass, unfused_softmax_forward);
        }
    }

    void add_unfused_softmax(PassBuilder& pass, double traffic) const
    {
        if (w_.heads / shape_.tp * shape_.microbatch % fused_softmax_matrices != 0) {
            pass.kernel(KernelClass::elementwise, elementwise(traffic * size_.scores), unfused_softmax_kernels);
        }
    }

    void add_attention_backward(PassBuilder& pass) const
    {
        if (w_.attention == AttentionKernel::flash) {
            const Seconds time = flash_attention(2.5 * size_.attention_work, true);
            pass.kernel(KernelClass::attention, time);
            add_context_exchange(pass, time, 2.0);
        } else {
            pass.kernel(KernelClass::attention, plain_attention(2.0 * size_.attention_work));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_backward * size_.scores));
            add_unfused_softmax(pass, unfused_softmax_backward);
        }
    }

    /// Q, K and V of the layer's input: one product, or the two steps of latent attention, whose first is not split by tp.
    Seconds projections() const
    {
        const LatentAttention& latent = w_.latent;
        if (latent.query_rank == 0) {
            return product(size_.tokens, size_.query + size_.key + size_.value, size_.hidden);
        }
        const double heads = static_cast<double>(w_.heads) / size_.tp;
        const double split = size_.tokens / size_.outside_split;
        return product(split, latent.query_rank, size_.hidden) +
               product(split, latent.key_value_rank + latent.rotary, size_.hidden) +
               product(size_.tokens, size_.query, latent.query_rank) +
               product(size_.tokens, heads * (latent.plain + latent.value), latent.key_value_rank) +
               elementwise(2.0 * norm_traffic * split * (latent.query_rank + latent.key_value_rank));
    }
    /// Gradients of the same, with respect to the input or to the weights.
    Seconds projection_gradient(bool weights) const
    {
        if (w_.latent.query_rank > 0) {
            return projections();
        }
        const double columns = size_.query + size_.key + size_.value;
        return weights ? product(size_.hidden, columns, size_.tokens) : product(size_.tokens, size_.hidden, columns);
    }

    void add_rotary(PassBuilder& pass) const
    {
        if (w_.activation != Activation::gelu) {  // GELU networks of the GPT family have learned positions
            pass.kernel(KernelClass::elementwise, elementwise(rotary_traffic * size_.tokens * (size_.query + size_.key)));
        }
    }

    /// Casts of the operands of a layer's four products; `columns`: of the MLP's inner product.
    void add_casts(PassBuilder& pass, double inner) const
    {
        if (low()) {
            pass.kernel(KernelClass::elementwise, elementwise(cast_traffic * (2.0 * size_.activation() / size_.outside_split +
                                                                              size_.tokens * (size_.output + inner))));
        }
    }

    void add_forward(PassBuilder& pass, bool mixture) const
    {
        const double t = size_.tokens;
        const Seconds first = projections();
        pass.kernel(KernelClass::elementwise, outside(norm_traffic));
        add_enter(pass, first);
        pass.kernel(KernelClass::gemm, first);
        add_rotary(pass);
        add_attention_forward(pass);
        const Seconds last = product(t, size_.hidden, size_.output);
        pass.kernel(KernelClass::gemm, last);
        add_leave(pass, last);
        pass.kernel(KernelClass::elementwise, outside(residual_traffic() + norm_traffic));
        if (mixture) {
            add_experts(pass, 1.0);
            if (w_.experts.shared > 0) {
                add_mlp_forward(pass, w_.experts.shared / size_.tp);
            }
        } else {
            add_mlp_forward(pass, size_.inner);
        }
        add_casts(pass, mixture ? 0.0 : size_.inner);
        pass.kernel(KernelClass::elementwise, outside(residual_traffic()));
    }

    void add_mlp_forward(PassBuilder& pass, double inner) const
    {
        const double t = size_.tokens;
        const Seconds first = product(t, size_.columns_of(inner), size_.hidden);
        add_enter(pass, first);
        pass.kernel(KernelClass::gemm, first);
        pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * t * inner));
        const Seconds last = product(t, size_.hidden, inner);
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
            add_experts(pass, 2.0, gradients);
            if (w_.experts.shared > 0) {
                add_mlp_backward(pass, w_.experts.shared / size_.tp, gradients);
            }
        } else {
            add_mlp_backward(pass, size_.inner, gradients);
        }
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic + residual_traffic()));
        add_row_gradients(pass, size_.output, gradients);
        add_attention_backward(pass);
        add_rotary(pass);
        const Seconds input_gradient = projection_gradient(false);
        const Seconds weight_gradient = projection_gradient(true);
        add_column_gradients(pass, input_gradient, weight_gradient, gradients);
        add_casts(pass, mixture ? 0.0 : size_.inner);
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic));
    }

    void add_mlp_backward(PassBuilder& pass, double inner, Gradients gradients) const
    {
        const double t = size_.tokens;
        const double columns = size_.columns_of(inner);
        add_row_gradients(pass, inner, gradients);
        pass.kernel(KernelClass::elementwise, elementwise(backward_traffic * activation_traffic() * t * inner));
        add_column_gradients(pass, product(t, size_.hidden, columns), product(size_.hidden, columns, t), gradients);
    }

    void add_row_gradients(PassBuilder& pass, double rows, Gradients gradients) const
    {
        const Seconds input_gradient = product(size_.tokens, rows, size_.hidden);
        add_enter(pass, input_gradient);
        pass.kernel(KernelClass::gemm, input_gradient);
        if (gradients == Gradients::both) {
            pass.kernel(KernelClass::gemm, product(rows, size_.hidden, size_.tokens));
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
        const double t = size_.tokens;
        const auto mlp = [&](double inner) {
            pass.kernel(KernelClass::gemm, product(inner, size_.hidden, t));
            pass.kernel(KernelClass::gemm, product(size_.hidden, size_.columns_of(inner), t));
        };
        if (mixture) {
            const Routing r = routing();
            pass.kernel(KernelClass::gemm, product(size_.tokens / size_.tp, w_.experts.count, size_.hidden));
            add_expert_product(pass, r, size_.columns_of(r.inner), size_.hidden, r.rows);
            add_expert_product(pass, r, size_.hidden, r.inner, r.rows);
            if (w_.experts.shared > 0) {
                mlp(w_.experts.shared / size_.tp);
            }
        } else {
            mlp(size_.inner);
        }
        pass.kernel(KernelClass::gemm, product(size_.output, size_.hidden, t));
        pass.kernel(KernelClass::gemm, projection_gradient(true));
    }

    /// Tokens of one GPU in a mixture, and its experts.
    struct Routing {
        double kept;     // of the fullest GPU, against the mean
        double routed;   // leave one GPU, and on average reach it
        double fullest;  // tokens on the fullest GPU
        double local;    // experts
        double rows;     // tokens of an expert
        double inner;    // of an expert on one GPU
    };
    Routing routing() const
    {
        const Experts& e = w_.experts;
        Routing r{};
        r.kept = e.capacity > 0.0 ? std::min(e.capacity, e.imbalance) : e.imbalance;
        r.routed = size_.tokens / size_.tp * e.active;
        r.fullest = r.routed * r.kept * shape_.etp;
        r.local = static_cast<double>(e.count) / shape_.ep;
        r.rows = r.fullest / r.local;
        r.inner = static_cast<double>(e.feed_forward) / shape_.etp;
        return r;
    }

    void add_expert_product(PassBuilder& pass, const Routing& r, double rows, double columns, double depth) const
    {
        const Seconds time = sped_up(KernelClass::gemm, grouped_gemm_time(r.local, rows, columns, depth, gpu_, w_.precision));
        // Padded to their capacity, the experts of a GPU are one batch; else each is a launch of its own.
        pass.kernel(KernelClass::gemm, time, w_.experts.capacity > 0.0 ? 1.0 : 1.0 + r.local);
    }

    /// Router, way to the experts, their products, way back; backward (`passes` 2) has each product twice, the ways once.
    void add_experts(PassBuilder& pass, double passes, Gradients gradients = Gradients::both) const
    {
        const Experts& e = w_.experts;
        const double own = size_.tokens / size_.tp;  // tokens that one GPU routes: members of a tensor group share them out
        const Routing r = routing();
        const double products = gradients == Gradients::both ? passes : 1.0;
        const Bytes message{2.0 * size_.width * r.routed * r.kept * size_.hidden};
        const double copies = cluster_.stack.sends_once ? e.active : 0.0;
        const Seconds way =
            sped_up(KernelClass::tp_collective, token_exchange_time(message, copies, {shape_.ep, shape_.etp}, cluster_));
        const Seconds spread = collective(Collective::all_gather, message.si * shape_.etp, {shape_.etp, 1});
        const int group = shape_.ep * shape_.etp;
        const Meeting members = group > shape_.tp * shape_.cp ? Meeting::experts
                                : group > shape_.tp           ? Meeting::context
                                                              : Meeting::tensor;
        pass.kernel(KernelClass::gemm, Seconds{products * product(own, e.count, size_.hidden).si});
        pass.kernel(KernelClass::elementwise,
                    elementwise(cluster_.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size_.hidden),
                    routing_kernels);
        pass.collective(way, members).collective(spread, members);
        add_expert_product(pass, r, r.rows, size_.columns_of(r.inner), size_.hidden);
        add_expert_product(pass, r, r.rows, size_.hidden, r.inner);
        if (products > 1.0) {
            add_expert_product(pass, r, size_.columns_of(r.inner), size_.hidden, r.rows);
            add_expert_product(pass, r, size_.hidden, r.inner, r.rows);
        }
        pass.kernel(KernelClass::elementwise, elementwise(passes * activation_traffic() * r.fullest * r.inner));
        if (low()) {
            pass.kernel(KernelClass::elementwise, elementwise(cast_traffic * r.fullest * (size_.hidden + r.inner)));
        }
        pass.collective(spread, members).collective(way, members);
        pass.kernel(KernelClass::elementwise,
                    elementwise(cluster_.stack.routing * permute_traffic * (own + 2.0 * r.routed) * size_.hidden));
    }

    /// Selective recompute: what is cheap to compute and large to keep. Plain attention: the score matrices. Flash attention
    /// keeps no scores; there it is the normalised inputs and the product of the gated unit (Megatron-Core's
    /// `--recompute-modules` core_attn, or layernorm and mlp activation).
    void add_selective_recompute(PassBuilder& pass, bool mixture) const
    {
        if (w_.attention == AttentionKernel::plain) {
            add_attention_forward(pass);
        } else {
            pass.kernel(KernelClass::elementwise, outside(2.0 * norm_traffic));
            pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * activations_.inner_elements(mixture)));
        }
    }

    const Workload& w_;
    const LayerShape& shape_;
    const Cluster& cluster_;
    const Accelerator& gpu_;
    LayerSizes size_;
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
    LayerCosts costs{model.layer(), model.embedding(), model.head(), 0.0, 0.0};
    // With sequence parallelism each member sends its part; without, the tensor is split for the transfer and gathered again
    // (Narayanan et al., SC21, section 4.1), so that the slow link carries it once.
    costs.boundary_bytes = model.boundary_bytes();
    costs.shared_parameters = workload.tied_embedding ? costs.head.parameters : 0.0;
    return costs;
}

}  // namespace prismopt

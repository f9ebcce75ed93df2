#include "model/workload/layer_cost.hpp"

#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Collects the kernels of one pass between barriers.
class PassBuilder {
public:
    PassBuilder& kernel(KernelClass kind, Seconds time)
    {
        segment_.push_back({kind, time.si});
        cost_.compute_s += time.si;
        return *this;
    }

    /// A blocking collective ends a segment: all members wait for the slowest. One that takes no time is not there.
    PassBuilder& collective(Seconds time) { return hidden_collective(time, Seconds{0.0}); }

    /// A collective beside a kernel costs what the kernel does not hide; the members wait for each other all the same.
    PassBuilder& hidden_collective(Seconds time, Seconds behind)
    {
        if (time.si > 0.0) {
            close_segment();
        }
        if (time > behind) {
            cost_.collectives_s.push_back((time - behind).si);
            cost_.communication_s += cost_.collectives_s.back();
        }
        return *this;
    }

    PassCost done()
    {
        close_segment();
        return cost_;
    }

private:
    void close_segment()
    {
        if (!segment_.empty()) {
            cost_.segments.push_back(segment_);
            segment_.clear();
        }
    }

    PassCost cost_;
    Segment segment_;
};

/// Bytes an elementwise kernel moves per 16-bit element of its tensor; derived from its reads and writes.
constexpr double norm_traffic = 4.0;          // read, write
constexpr double residual_add_traffic = 6.0;  // two reads, one write
constexpr double dropout_mask_traffic = 1.0;  // one byte a mask element
constexpr double gelu_traffic = 4.0;          // read, write
constexpr double swiglu_traffic = 6.0;        // two reads, one write, per element of the product
constexpr double rotary_traffic = 4.0;        // read, write
constexpr double backward_traffic = 2.0;      // a backward elementwise kernel reads the saved input as well
// Plain attention, bytes per score element: product writes (2), masked softmax reads and writes (4), dropout reads, writes
// and stores its mask (5), second product reads (2).
constexpr double plain_scores_forward = 13.0;
// Backward: gradient of the second product writes (2) and reads probabilities (2), dropout (2 + 1 + 2), softmax reads two
// and writes one (6), gradients of the first product read twice (4).
constexpr double plain_scores_backward = 19.0;
// Saved per score element without recompute: softmax output, dropout mask, dropout output (Korthikanti et al., eq. 1: 5as^2b).
constexpr double plain_scores_saved = 5.0;
// Loss: 16-bit logits, 32-bit copies for the softmax and its gradient; reads and writes per logit.
constexpr double loss_traffic_forward = 14.0;
constexpr double loss_traffic_backward = 10.0;

/// Sizes that all parts share, for one tensor parallel member.
struct Sizes {
    double tokens;     // b s
    double hidden;     // h
    double kv_member;  // columns of K, and of V, on one member: whole heads, copied where tp exceeds their number
    double inner;      // f / tp
    double tp;
    double scores;          // elements of the score matrices on one member
    double attention_work;  // FLOPs of both products on one member, forward

    Sizes(const Workload& w, const LayerShape& shape)
        : tokens(static_cast<double>(shape.microbatch) * shape.sequence), hidden(w.hidden),
          kv_member(static_cast<double>(w.hidden) / w.heads * std::max(1.0, static_cast<double>(w.kv_heads) / shape.tp)),
          inner(static_cast<double>(w.feed_forward) / shape.tp), tp(shape.tp),
          scores(tokens * shape.sequence * w.heads / shape.tp),
          attention_work(4.0 * tokens * shape.sequence * w.hidden / shape.tp *
                         (w.causal && w.attention == AttentionKernel::flash ? 0.5 : 1.0))
    {
    }
    double activation() const { return tokens * hidden; }  // elements of one full layer input
};

class LayerModel {
public:
    LayerModel(const Workload& w, const LayerShape& shape, const Cluster& cluster)
        : w_(w), shape_(shape), cluster_(cluster), gpu_(cluster.accelerator), size_(w, shape)
    {
    }

    PartCost layer() const
    {
        PartCost part;
        part.parameters = w_.layer_parameters() / size_.tp;
        const double input = 2.0 * size_.activation() / outside_split();
        const double saved = layer_saved();
        const double cheap = recomputable();
        PassBuilder backward;
        if (shape_.recompute == Recompute::full) {
            add_forward(backward);
            part.saved_bytes = input;
            part.workspace_bytes = saved;
        } else if (shape_.recompute == Recompute::selective) {
            add_selective_recompute(backward);
            part.saved_bytes = saved - cheap;
            part.workspace_bytes = cheap;
        } else {
            part.saved_bytes = saved;
        }
        add_backward(backward);
        part.backward = backward.done();
        PassBuilder forward;
        add_forward(forward);
        part.forward = forward.done();
        part.workspace_bytes += 2.0 * size_.activation() * 2.0;  // gathered layer input and its gradient
        return part;
    }

    PartCost embedding() const
    {
        PartCost part;
        part.parameters = static_cast<double>(w_.vocabulary) * w_.hidden / size_.tp;
        part.forward =
            PassBuilder().kernel(KernelClass::elementwise, elementwise(4.0 * size_.activation())).collective(reduce()).done();
        part.backward = PassBuilder()
                            .collective(shape_.sequence_parallel ? gather() : Seconds{0.0})
                            .kernel(KernelClass::elementwise, elementwise(8.0 * size_.activation()))
                            .done();
        part.saved_bytes = dropout(1.0) * size_.activation() / outside_split();
        return part;
    }

    PartCost head() const
    {
        PartCost part;
        const double logits = size_.tokens * w_.vocabulary / size_.tp;
        const double columns = w_.vocabulary / size_.tp;
        const Seconds product = gemm_time(size_.tokens, columns, size_.hidden, gpu_);
        const Seconds input_gradient = gemm_time(size_.tokens, size_.hidden, columns, gpu_);
        const Seconds weight_gradient = gemm_time(columns, size_.hidden, size_.tokens, gpu_);
        part.parameters = static_cast<double>(w_.vocabulary) * w_.hidden / size_.tp;
        part.forward = PassBuilder()
                           .kernel(KernelClass::elementwise, outside(norm_traffic))
                           .collective(shape_.sequence_parallel ? gather() : Seconds{0.0})
                           .kernel(KernelClass::gemm, product)
                           .kernel(KernelClass::elementwise, elementwise(loss_traffic_forward * logits))
                           .done();
        part.backward = PassBuilder()
                            .kernel(KernelClass::elementwise, elementwise(loss_traffic_backward * logits))
                            .kernel(KernelClass::gemm, input_gradient)
                            .hidden_collective(reduce(), weight_gradient)
                            .kernel(KernelClass::gemm, weight_gradient)
                            .kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic))
                            .done();
        part.saved_bytes = 4.0 * size_.activation() / outside_split() + 4.0 * logits;  // norm input and output, 32-bit logits
        part.workspace_bytes = 2.0 * logits + 4.0 * size_.activation();
        return part;
    }

private:
    /// Outside the tensor parallel region a tensor is split along the sequence, or whole on each member.
    double outside_split() const { return shape_.sequence_parallel ? size_.tp : 1.0; }
    double dropout(double bytes) const { return w_.dropout ? bytes : 0.0; }
    Seconds elementwise(double bytes) const { return elementwise_time(Bytes{bytes}, gpu_); }
    Seconds outside(double bytes_per_element) const
    {
        return elementwise(bytes_per_element * size_.activation() / outside_split());
    }
    Seconds collective(Collective kind) const
    {
        return collective_time(kind, Bytes{2.0 * size_.activation()}, {shape_.tp, 1}, cluster_).time;
    }
    /// Into the region: gather the sequence, or nothing when it is whole already. Out of it: sum, and split again.
    Seconds gather() const { return collective(Collective::all_gather); }
    Seconds reduce() const { return collective(shape_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce); }
    bool swiglu() const { return w_.activation == Activation::swiglu; }
    double first_columns() const { return (swiglu() ? 2.0 : 1.0) * size_.inner; }
    double qkv_columns() const { return size_.hidden / size_.tp + 2.0 * size_.kv_member; }
    double residual_traffic() const { return residual_add_traffic + dropout(dropout_mask_traffic); }
    double activation_traffic() const { return swiglu() ? swiglu_traffic : gelu_traffic; }

    void add_attention_forward(PassBuilder& pass) const
    {
        if (w_.attention == AttentionKernel::flash) {
            pass.kernel(KernelClass::attention, fused_attention_time(Flops{size_.attention_work}, false, gpu_));
        } else {
            pass.kernel(KernelClass::attention, batched_gemm_time(Flops{size_.attention_work}, head_size(), gpu_));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_forward * size_.scores));
        }
    }

    void add_attention_backward(PassBuilder& pass) const
    {
        if (w_.attention == AttentionKernel::flash) {
            pass.kernel(KernelClass::attention, fused_attention_time(Flops{2.5 * size_.attention_work}, true, gpu_));
        } else {
            pass.kernel(KernelClass::attention, batched_gemm_time(Flops{2.0 * size_.attention_work}, head_size(), gpu_));
            pass.kernel(KernelClass::elementwise, elementwise(plain_scores_backward * size_.scores));
        }
    }

    double head_size() const { return static_cast<double>(w_.hidden) / w_.heads; }

    void add_forward(PassBuilder& pass) const
    {
        const double t = size_.tokens;
        const double h = size_.hidden;
        const Seconds enter = shape_.sequence_parallel ? gather() : Seconds{0.0};
        pass.kernel(KernelClass::elementwise, outside(norm_traffic)).collective(enter);
        pass.kernel(KernelClass::gemm, gemm_time(t, qkv_columns(), h, gpu_));
        if (swiglu()) {  // the networks with gated units use rotary positions
            pass.kernel(KernelClass::elementwise, elementwise(rotary_traffic * t * (h / size_.tp + size_.kv_member)));
        }
        add_attention_forward(pass);
        pass.kernel(KernelClass::gemm, gemm_time(t, h, h / size_.tp, gpu_)).collective(reduce());
        pass.kernel(KernelClass::elementwise, outside(residual_traffic() + norm_traffic)).collective(enter);
        pass.kernel(KernelClass::gemm, gemm_time(t, first_columns(), h, gpu_));
        pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * t * size_.inner));
        pass.kernel(KernelClass::gemm, gemm_time(t, h, size_.inner, gpu_)).collective(reduce());
        pass.kernel(KernelClass::elementwise, outside(residual_traffic()));
    }

    /// Input and weight gradients of y = x W for x [t, in], W [in, out].
    /// The row-parallel products start with the gradient gathered; of the column-parallel ones the input's gather hides
    /// behind the input gradient, and the sum of input gradients behind the weight gradient.
    void add_backward(PassBuilder& pass) const
    {
        const double t = size_.tokens;
        const double h = size_.hidden;
        const Seconds enter = shape_.sequence_parallel ? gather() : Seconds{0.0};
        pass.kernel(KernelClass::elementwise, outside(residual_traffic())).collective(enter);
        add_row_gradients(pass, size_.inner);
        pass.kernel(KernelClass::elementwise, elementwise(backward_traffic * activation_traffic() * t * size_.inner));
        add_column_gradients(pass, first_columns(), enter);
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic + residual_traffic())).collective(enter);
        add_row_gradients(pass, h / size_.tp);
        add_attention_backward(pass);
        if (swiglu()) {
            pass.kernel(KernelClass::elementwise, elementwise(rotary_traffic * t * (h / size_.tp + size_.kv_member)));
        }
        add_column_gradients(pass, qkv_columns(), enter);
        pass.kernel(KernelClass::elementwise, outside(backward_traffic * norm_traffic));
    }

    void add_row_gradients(PassBuilder& pass, double rows) const
    {
        pass.kernel(KernelClass::gemm, gemm_time(size_.tokens, rows, size_.hidden, gpu_));
        pass.kernel(KernelClass::gemm, gemm_time(rows, size_.hidden, size_.tokens, gpu_));
    }

    void add_column_gradients(PassBuilder& pass, double columns, Seconds input_gather) const
    {
        const Seconds input_gradient = gemm_time(size_.tokens, size_.hidden, columns, gpu_);
        const Seconds weight_gradient = gemm_time(size_.hidden, columns, size_.tokens, gpu_);
        pass.kernel(KernelClass::gemm, input_gradient).hidden_collective(input_gather, input_gradient);
        pass.kernel(KernelClass::gemm, weight_gradient).hidden_collective(reduce(), weight_gradient);
    }

    /// Selective recompute: what is cheap to compute and large to keep. Plain attention: the score matrices. Flash attention
    /// keeps no scores; there it is the normalised inputs and the product of the gated unit (Megatron-Core's
    /// `--recompute-modules` core_attn, or layernorm and mlp activation).
    void add_selective_recompute(PassBuilder& pass) const
    {
        if (w_.attention == AttentionKernel::plain) {
            add_attention_forward(pass);
        } else {
            pass.kernel(KernelClass::elementwise, outside(2.0 * norm_traffic));
            pass.kernel(KernelClass::elementwise, elementwise(activation_traffic() * size_.tokens * size_.inner));
        }
    }

    double recomputable() const
    {
        return w_.attention == AttentionKernel::plain
                   ? plain_scores_saved * size_.scores
                   : 2.0 * 2.0 * size_.activation() / outside_split() + 2.0 * size_.tokens * size_.inner;
    }

    /// Bytes kept by one layer. Korthikanti et al., eqs. 1-4, generalised to grouped queries and gated units: two norm inputs
    /// and two norm outputs, the latter kept split and gathered again; Q, K, V and the attention output; pre-activation(s)
    /// and activation; dropout masks.
    double layer_saved() const
    {
        const double a = size_.activation();
        const double t = size_.tokens;
        const double outside_bytes = (4.0 * 2.0 * a + dropout(2.0 * a)) / outside_split();
        const double attention_bytes = 4.0 * (a / size_.tp + t * size_.kv_member);
        const double mlp_bytes = 2.0 * t * (first_columns() + size_.inner);
        const double scores = w_.attention == AttentionKernel::plain ? plain_scores_saved * size_.scores : 0.0;
        return outside_bytes + attention_bytes + mlp_bytes + scores;
    }

    const Workload& w_;
    const LayerShape& shape_;
    const Cluster& cluster_;
    const Accelerator& gpu_;
    Sizes size_;
};

}  // namespace

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
    costs.boundary_bytes = 2.0 * shape.microbatch * static_cast<double>(shape.sequence) * workload.hidden / shape.tp;
    costs.shared_parameters = workload.tied_embedding ? costs.head.parameters : 0.0;
    return costs;
}

double model_flops_per_sequence(const Workload& workload, int sequence)
{
    const double h = workload.hidden;
    const double s = sequence;
    const double kv = h * workload.kv_heads / workload.heads;
    const double matrices = workload.activation == Activation::swiglu ? 3.0 : 2.0;
    const double products = 2.0 * s * (2.0 * h * h + 2.0 * h * kv + matrices * h * workload.feed_forward);
    const double scores = 4.0 * s * s * h * (workload.causal && workload.attention == AttentionKernel::flash ? 0.5 : 1.0);
    return 3.0 * (workload.layers * (products + scores) + 2.0 * s * h * workload.vocabulary);
}

}  // namespace prismopt

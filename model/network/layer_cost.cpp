#include "model/network/layer_cost.hpp"

#include "model/hardware/kernel_time.hpp"
#include "model/network/call_times.hpp"
#include "model/network/passes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

/// Bytes of a number saved in 8 bits, with its share of the 32-bit scale of 128 numbers
/// (DeepSeek-V3, arXiv 2412.19437, section
/// 3.3.2).
constexpr double low_number = 1.0 + 4.0 / 128.0;

/// Messages of sharded parameters in the passes of a part.
struct Sharded {
    Seconds gathered{0.0};        // parameters, in one pass
    Seconds gathered_again{0.0};  // and for the backward pass
    Seconds scattered{0.0};       // gradients, within a sharding group,
    Seconds summed{0.0};          // and between groups
    double hidden = 1.0;          // share that runs beside compute

    Seconds reduced() const { return scattered + summed; }
    Seconds backward() const { return gathered_again + reduced(); }
    Kernel gather() const { return {KernelClass::sharded_all_gather, gathered.si}; }
    Kernel gather_again() const { return {KernelClass::sharded_all_gather, gathered_again.si}; }
    Kernel scatter() const { return {KernelClass::sharded_reduce_scatter, scattered.si}; }
    Kernel sum() const { return {KernelClass::sharded_all_reduce, summed.si}; }
};

/// Bytes of parameters outside tables.
double stored_bytes(const Parameters& own, const OptimizerSettings& optimizer)
{
    return optimizer.parameter_bytes() * (own.all - own.rows) - own.saved_bytes;
}

/// ZeRO-3 gathers for each pass, ZeRO-2 once for both, or once per step outside them (DataParallel); both
/// reduce gradients as soon as a layer has them.
Sharded sharded_messages(const Parameters& own, bool backward, const LayerShape& shape,
                         const CallTimes& times, const OptimizerSettings& optimizer,
                         const SoftwareStack& stack)
{
    if (!shards_gradients(shape.sharding)) {
        return {};
    }
    // Parameters and gradients are numbers of their own, whatever the precision of activations.
    const auto time = [&](Collective kind, double bytes, GroupKind group) {
        return times.of(CollectiveCall{.kind = kind, .bytes = bytes / times.width(), .group = group});
    };
    const double gradient = optimizer.message_bytes(stack.gradient_bytes) * own.trained().all;
    Seconds gathered{0.0};
    if (gathers_in_passes(shape.sharding, stack.gathers_once)) {
        gathered = time(Collective::all_gather, stored_bytes(own, optimizer), GroupKind::sharded);
    }
    const double hidden = shape.dp_overlap == DataParallelOverlap::on ? 1.0 : 0.0;
    if (!backward) {
        return {.gathered = gathered, .hidden = hidden};
    }
    return {gathered, shape.sharding == Sharding::zero3 ? gathered : Seconds{0.0},
            time(Collective::reduce_scatter, gradient, GroupKind::sharded),
            time(Collective::all_reduce, gradient / shape.shard_gpus, GroupKind::between_shards), hidden};
}

/// Share of a plan's passes that have one of another microbatch beside them. Megatron-Core pairs a forward
/// with a backward pass in its steady phase (combined_1f1b.py): not the forward passes of the warm-up, nor
/// the backward passes of the cool-down. The first stage has most unpaired passes, and here all stages have
/// as many.
double paired_passes(const LayerShape& shape)
{
    const int microbatches = shape.microbatches(shape.batch);
    const int passes = microbatches * shape.chunks;
    const int group = std::min(shape.group > 0 ? shape.group : shape.pp, microbatches);
    const int warm_up = shape.pp == 1 ? 1 : 2 * (shape.pp - 1) + (shape.chunks - 1) * group + 1;
    return std::max(0.0, 1.0 - static_cast<double>(warm_up) / passes);
}

/// Bytes per logit of the loss over a vocabulary.
struct LossBytes {
    double saved = 0.0;      // from its forward pass to its backward pass
    double peak = 0.0;       // at most
    double cached = 0.0;     // of freed blocks
    bool of_stream = false;  // `peak` is per number of the head's input
};

/// Separate kernels on 32-bit logits: log-softmax, its gradient and that of the logits, 4 bytes each, and the
/// freed 16-bit logits, whose block is too small for 32-bit ones; where tensor parallelism divides the
/// vocabulary also an exponential (PyTorch, distributed/tensor/parallel/loss.py,
/// _nll_loss_and_log_softmax_backward).
LossBytes unfused_loss(bool divided) { return {.saved = 4.0, .peak = divided ? 16.0 : 12.0, .cached = 2.0}; }

/// A fused kernel, or a compiler, reads 16-bit logits again for their gradient, which has 16 bits. Chunks:
/// 16-bit logits of all tokens, and the unfused loss for an eighth of them (torchtune,
/// modules/loss/ce_chunked_output_loss.py: 8 chunks). Fused with the head: chunks of about as many tokens
/// as have one logit for each number of the head's input (Liger-Kernel, ops/fused_linear_cross_entropy.py),
/// and the gradient of that input.
LossBytes loss_bytes(LossKernel kernel, const MemoryRules& rules, bool divided)
{
    constexpr double logit = 2.0;
    constexpr double chunks = 8.0;
    const LossBytes unfused = unfused_loss(divided);
    switch (kernel) {
        case LossKernel::of_stack: break;
        case LossKernel::unfused: return unfused;
        case LossKernel::fused: return {.saved = logit, .peak = 2.0 * logit};
        case LossKernel::chunked: return {.saved = logit, .peak = logit + unfused.peak / chunks};
        case LossKernel::fused_linear: return {.peak = unfused.peak + logit, .of_stream = true};
    }
    return {.saved = rules.loss_saved,
            .peak = divided ? rules.loss_peak_divided : rules.loss_peak,
            .cached = rules.loss_cached};
}

/// Bytes by which a saved input of a product is smaller than in 16 bits. Transformer Engine saves it in the
/// precision of the product; where products of 8 bits need both operands with the inner dimension first, in
/// two orientations (NVIDIA/TransformerEngine, docs/features/low_precision_training: before the generation
/// with products of 4 bits), so that nothing is gained.
double saved_less(ActivationStorage storage, Precision precision, const Cluster& cluster)
{
    const double number = operand_bytes(precision) > element_bytes ? operand_bytes(precision) : element_bytes;
    if (storage == ActivationStorage::fp8) {
        return number - low_number;
    }
    const double orientations = cluster.accelerator.takes_block_scales() ? 1.0 : 2.0;
    return cluster.stack.holds.saves_operands
               ? std::max(0.0, number - orientations * operand_bytes(precision))
               : 0.0;
}

/// Costs of one part under one way of recompute.
class LayerCostBuilder {
public:
    LayerCostBuilder(const Network& network, Precision precision, const LayerShape& shape,
                     const LayerGroups& groups, const Cluster& cluster)
        : optimizer_(network.optimizer), shape_(shape), full_(shape.with_full_sequences()), cluster_(cluster),
          times_(precision, cluster, groups),
          loss_(loss_bytes(network.loss, cluster.stack.holds, shape.tp > 1)),
          saved_less_(saved_less(network.activation_storage, precision, cluster)),
          stream_number_(network.wide_stream ? 4.0 : 2.0 * times_.width())
    {
    }

    LayerCost layer(const LayerKind& kind, Recompute recompute) const
    {
        LayerCost cost = cost_of(kind, recompute, shape_.offload == Offload::activations);
        cost.orthogonal_s = optimizer_.kind == Optimizer::muon ? orthogonal_s(kind) : 0.0;
        return cost;
    }
    LayerCost head(const LayerKind& kind) const { return at_the_end(cost_of(kind, Recompute::none, false)); }

    /// A table is not sharded, and waits for no launches.
    LayerCost embedding(const LayerKind& kind) const
    {
        LayerCost cost;
        cost.parameters = parameters_of(kind, shape_);
        set_memory(kind, Recompute::none, cost);
        cost.workspace_bytes = 0.0;
        cost.forward = pass(forward_calls(kind, shape_)).done();
        cost.backward = pass(backward_calls(kind, shape_, Gradients::both)).done();
        cost.input_gradient = cost.backward;
        pair(cost);
        return at_the_end(cost);
    }

private:
    LayerCost cost_of(const LayerKind& kind, Recompute recompute, bool offload) const
    {
        LayerCost cost;
        cost.parameters = parameters_of(kind, shape_);
        const Sharded sharded =
            sharded_messages(cost.parameters, kind.backward, shape_, times_, optimizer_, cluster_.stack);
        PassBuilder forward = pass(forward_calls(kind, shape_));
        PassBuilder backward = pass(recompute_calls(kind, shape_, recompute));
        PassBuilder input_gradient = backward;
        times_.add(backward_calls(kind, shape_, Gradients::both), backward);
        times_.add(backward_calls(kind, shape_, Gradients::input), input_gradient);
        PassBuilder weight_gradient = pass(weight_gradient_calls(kind, shape_));
        set_memory(kind, recompute, cost);
        Seconds move{0.0};
        if (offload) {
            // A layer's tensors leave while the next ones are computed, and return before their backward
            // pass: two layers' are there at a time.
            move = host_time(cost.saved_bytes);
            cost.workspace_bytes += 2.0 * cost.saved_bytes;
            cost.saved_bytes = 0.0;
        }
        if (shape_.offload == Offload::parameters) {
            // Its share comes before each pass, and its gradients leave after the
            // backward pass, about as many bytes.
            const double shards = shards_gradients(shape_.sharding) ? shape_.shard_gpus : 1.0;
            move = move + host_time(stored_bytes(cost.parameters, optimizer_) / shards);
        }
        const double host = cluster_.speed.of(KernelClass::host_wait);
        cost.backward =
            backward.wait_for_host(host)
                .beside_all(sharded.backward(), {sharded.gather_again(), sharded.scatter(), sharded.sum()},
                            sharded.hidden)
                .copied_beside(move)
                .done();
        cost.input_gradient =
            input_gradient.wait_for_host(host)
                .beside_all(sharded.backward() - sharded.reduced(), {sharded.gather_again()}, sharded.hidden)
                .copied_beside(move)
                .done();
        cost.weight_gradient =
            weight_gradient.wait_for_host(host)
                .beside_all(sharded.reduced(), {sharded.scatter(), sharded.sum()}, sharded.hidden)
                .done();
        cost.forward = forward.wait_for_host(host)
                           .beside_all(sharded.gathered, {sharded.gather()}, sharded.hidden)
                           .copied_beside(move)
                           .done();
        pair(cost);
        if (shape_.pairs_microbatches()) {
            const PassCost forward_alone = cost.forward;
            cost.forward = tokens_beside(cost.forward, cost.backward);
            cost.backward = tokens_beside(cost.backward, forward_alone);
        }
        return cost;
    }

    /// Its exchanges of tokens run beside the compute of the other, which is of another microbatch.
    PassCost tokens_beside(const PassCost& pass, const PassCost& other) const
    {
        return side_by_side(pass, other, cluster_.stack,
                            {KernelClass::expert_collective, paired_passes(shape_)});
    }

    static LayerCost at_the_end(LayerCost cost)
    {
        cost.parameters.ends = cost.parameters.all;
        return cost;
    }

    /// Of whole matrices r x c, r <= c: each iteration has products of r x c x r, r x r x r and r x r x c
    /// (arXiv 2502.16982, section 2.1). Tensor parallel members each compute the whole matrix
    /// (Megatron-Core, emerging_optimizers.py, duplicated mode). Omits the gathers of their parts, and the
    /// splitting of joint projections.
    double orthogonal_s(const LayerKind& kind) const
    {
        const auto time = [&](double count, double in, double out) {
            const double r = std::min(in, out);
            const double c = std::max(in, out);
            const auto product = [&](double m, double n, double k) {
                return grouped_gemm_time(count, m, n, k, cluster_.accelerator).si;
            };
            return newton_schulz_steps * (product(r, r, c) + product(r, r, r) + product(r, c, r));
        };
        double sum = 0.0;
        for (const Operator& op : kind.operators) {
            if (const auto* linear = std::get_if<Linear>(&op); linear != nullptr && !linear->frozen) {
                sum += time(1.0, linear->in.whole(), linear->out.whole());
            } else if (const auto* experts = std::get_if<GroupedLinear>(&op);
                       experts != nullptr && !experts->frozen) {
                sum += time(Extent(shape_).local_experts(experts->routing), experts->in.whole(),
                            experts->out.whole());
            }
        }
        return sum;
    }

    Seconds host_time(double bytes) const
    {
        return Bytes{bytes} / cluster_.accelerator.host_link / cluster_.speed.of(KernelClass::host_copy);
    }

    double stream_bytes(const LayerKind& kind) const
    {
        return 2.0 * times_.width() * Extent(full_, kind.tokens).tokens * kind.width;
    }

    /// The input of a layer, in the type of the stream.
    double saved_stream_bytes(const LayerKind& kind) const
    {
        return stream_number_ * Extent(full_, kind.tokens).tokens * kind.width /
               Extent(shape_).sequence_split;
    }

    /// Transformer Engine keeps a 16-bit tensor of each shape of weights (pytorch/module/base.py,
    /// get_dummy_wgrad), which stands for gradients that products add to buffers.
    double dummy_bytes(const LayerKind& kind) const
    {
        std::vector<std::pair<double, double>> shapes;
        const auto add = [&shapes](double in, double out) {
            if (std::find(shapes.begin(), shapes.end(), std::pair(in, out)) == shapes.end()) {
                shapes.emplace_back(in, out);
            }
        };
        for (const Operator& op : kind.operators) {
            if (const auto* linear = std::get_if<Linear>(&op);
                linear != nullptr && !linear->frozen && linear->counted) {
                using Split = Linear::Split;
                add(linear->split == Split::rows ? linear->in.local(shape_.tp) : linear->in.whole(),
                    linear->split == Split::columns ? linear->out.local(shape_.tp) : linear->out.whole());
            } else if (const auto* experts = std::get_if<GroupedLinear>(&op);
                       experts != nullptr && !experts->frozen) {
                add(experts->in.local(shape_.etp), experts->out.whole());
            }
        }
        double numbers = 0.0;
        for (const auto& [in, out] : shapes) {
            numbers += in * out;
        }
        return element_bytes * numbers;
    }

    PassBuilder pass(const Calls& calls) const
    {
        PassBuilder builder(cluster_.stack);
        times_.add(calls, builder);
        return builder;
    }

    void set_memory(const LayerKind& kind, Recompute recompute, LayerCost& cost) const
    {
        // With sequence parallelism each member sends its part; without, the tensor is split for the transfer
        // and gathered again (Narayanan et al., SC21, section 4.1), so that the slow link carries it once.
        cost.input_bytes =
            stream_bytes(kind) / shape_.tp * (shape_.lengths != nullptr ? shape_.lengths->tokens : 1.0);
        cost.needs_gradient = kind.backward;
        const double number = 2.0 * times_.width();
        const auto bytes = [&](const Kept& kept) {
            return number * kept.numbers - saved_less_ * kept.products + kept.bytes +
                   loss_.saved * kept.logits;
        };
        // Without a backward pass nothing is saved. While a layer runs its tensors are
        // there; all at once is the most.
        LayerKind trained = kind;
        trained.backward = true;
        const Kept all = kept_of(trained, full_, Recompute::none);
        const double whole = bytes(all);
        if (!kind.backward) {
            cost.saved_bytes = 0.0;
        } else if (recompute == Recompute::full) {
            cost.saved_bytes = saved_stream_bytes(kind);
        } else if (recompute == Recompute::selective) {
            cost.saved_bytes = bytes(kept_of(kind, full_, recompute));
        } else {
            cost.saved_bytes = whole;
        }
        cost.held_bytes = kind.backward ? number * all.held_numbers - saved_less_ * all.held_products : 0.0;
        // What recompute brings back, and the gathered input and its gradient.
        const double of_loss = loss_.of_stream && all.logits > 0.0 ? loss_.peak * stream_bytes(kind) / number
                                                                   : (loss_.peak - loss_.saved) * all.logits;
        cost.workspace_bytes = (recompute == Recompute::full ? whole : whole - cost.saved_bytes) +
                               all.workspace + of_loss + 2.0 * stream_bytes(kind);
        cost.cached_bytes = loss_.cached * all.logits;
        cost.dummy_bytes = cluster_.stack.holds.dummy_gradients && kind.backward ? dummy_bytes(kind) : 0.0;
    }

    /// Its passes beside those of another microbatch.
    void pair(LayerCost& cost) const
    {
        cost.paired_forward = side_by_side(cost.forward, cost.backward, cluster_.stack);
        cost.paired_backward = side_by_side(cost.backward, cost.forward, cluster_.stack);
    }

    const OptimizerSettings& optimizer_;
    const LayerShape& shape_;
    LayerShape full_;  // of memory
    const Cluster& cluster_;
    CallTimes times_;
    LossBytes loss_;
    double saved_less_;
    double stream_number_;  // bytes
};

}  // namespace

LayerShape layer_shape(const ParallelPlan& plan, int sequence, int batch)
{
    LayerShape shape{plan, sequence, 0};
    const auto forget = [&shape](auto... members) { ((shape.*members = ParallelPlan{}.*members), ...); };
    using P = ParallelPlan;
    forget(&P::dp, &P::schedule, &P::split, &P::order, &P::post_validation, &P::crossing, &P::node_order,
           &P::checkpoint_interval, &P::spares, &P::local_steps);
    if (plan.pairs_microbatches()) {
        shape.batch = plan.microbatches(batch) * plan.microbatch;  // of a replica
    } else {
        forget(&P::pp, &P::chunks, &P::group);
    }
    if (shards_gradients(plan.sharding)) {
        shape.shard_gpus = plan.sharding_gpus();
    } else {
        forget(&P::sharding, &P::shard_gpus, &P::dp_overlap);
    }
    if (plan.recompute != Recompute::full) {
        forget(&P::recomputed_layers);
    }
    if (!plan.exchanges_tokens()) {
        forget(&P::expert_overlap);
    }
    if (plan.offload != Offload::activations && plan.offload != Offload::parameters) {
        forget(&P::offload);
    }
    return shape;
}

namespace {

/// Of the peak bandwidth of host memory, what updates by all cores reach. Assumption: no measured step has
/// updates on the host. STREAM reaches 0.8 and more; threads that are not bound to cores reach less
/// (DeepSpeed, pull request 7474: binding them shortens a whole step from 3.08 to 2.38 s).
constexpr double host_update_share = 0.5;

}  // namespace

Seconds update_time(double matrices, double others, const OptimizerSettings& optimizer, Offload offload,
                    const Accelerator& accelerator)
{
    const double all = matrices + others;
    const Bytes traffic{optimizer.update_traffic(true) * matrices + optimizer.update_traffic(false) * others};
    if (!updates_on_host(offload)) {
        return elementwise_time(traffic, accelerator);
    }
    const Seconds on_host = traffic / (host_update_share * accelerator.host_memory_bandwidth);
    if (offload == Offload::parameters) {
        return on_host;  // parameters and gradients are moved by the passes
    }
    const Seconds moved = Bytes{optimizer.offloaded_traffic() * all} / accelerator.host_link;
    if (offload == Offload::optimizer) {
        return moved + on_host;
    }
    // Read and written once each, beside the update of the part before (ZeRO-Infinity,
    // arXiv 2104.07857, section 5.2.2).
    const Bytes states{optimizer.state_bytes(true) * matrices + optimizer.state_bytes(false) * others};
    return moved + std::max(on_host, 2.0 * states / accelerator.nvme_bandwidth);
}

double ChunkPass::compute_s() const
{
    double sum = 0.0;
    for_each_pass([&sum](int count, const PassCost& pass_cost) { sum += count * pass_cost.compute_s; });
    return sum;
}

double ChunkPass::communication_s() const
{
    double sum = 0.0;
    for_each_pass([&sum](int count, const PassCost& pass_cost) { sum += count * pass_cost.communication_s; });
    return sum;
}

double ChunkPass::host_s() const
{
    double sum = 0.0;
    for_each_pass([&sum](int count, const PassCost& pass_cost) { sum += count * pass_cost.host_s; });
    return sum;
}

double ChunkPass::messages_s(bool between_nodes) const
{
    double sum = 0.0;
    for_each_pass([&](int count, const PassCost& pass_cost) {
        sum += count * (between_nodes ? pass_cost.between_nodes_s : pass_cost.in_nodes_s);
    });
    return sum;
}

const LayerCost& LayerCosts::typical() const
{
    std::vector<int> count(kinds.size(), 0);
    for (const int kind : layers) {
        ++count[kind];
    }
    return kinds[std::max_element(count.begin(), count.end()) - count.begin()];
}

LayerCosts layer_costs(const Network& network, Precision precision, const LayerShape& shape,
                       const LayerGroups& groups, const Cluster& cluster)
{
    const LayerCostBuilder costs(network, precision, shape, groups, cluster);
    const int layers = static_cast<int>(network.layers.size());
    const bool some =
        shape.recompute == Recompute::full && shape.recomputed_layers > 0 && shape.recomputed_layers < layers;
    LayerCosts result;
    for (const LayerKind& kind : network.kinds) {
        if (some) {
            result.kinds.push_back(costs.layer(kind, Recompute::none));
        }
        result.kinds.push_back(costs.layer(kind, shape.recompute));
    }
    // Layers that recompute are spread evenly over the network.
    const auto recomputed_before = [&](int layer) {
        return static_cast<long>(layer) * shape.recomputed_layers / layers;
    };
    for (int layer = 0; layer < layers; ++layer) {
        const int kind = network.layers[layer];
        const bool again = some && recomputed_before(layer + 1) > recomputed_before(layer);
        result.layers.push_back(some ? 2 * kind + (again ? 1 : 0) : kind);
    }
    result.embedding = costs.embedding(network.embedding);
    result.head = costs.head(network.head);
    return result;
}

}  // namespace prismopt

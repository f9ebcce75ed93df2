#include "model/network/layer_cost.hpp"

#include "model/hardware/kernel_time.hpp"
#include "model/network/call_times.hpp"
#include "model/network/passes.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Bytes of a number saved in 8 bits, with its share of the 32-bit scale of 128 numbers (DeepSeek-V3, arXiv 2412.19437, section
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

/// ZeRO-3 gathers for each pass, ZeRO-2 once for both; both reduce gradients as soon as a layer has them.
Sharded sharded_messages(const Parameters& own, bool backward, const LayerShape& shape, const CallTimes& times,
                         const OptimizerSettings& optimizer, const SoftwareStack& stack)
{
    if (!shards_gradients(shape.sharding)) {
        return {};
    }
    // Parameters and gradients are numbers of their own, whatever the precision of activations.
    const auto time = [&](Collective kind, double bytes, GroupKind group) {
        return times.of(CollectiveCall{.kind = kind, .bytes = bytes / times.width(), .group = group});
    };
    const double gradient = optimizer.message_bytes(stack.gradient_bytes) * own.trained().all;
    const double stored = optimizer.parameter_bytes() * (own.all - own.rows) - own.saved_bytes;
    const Seconds gathered = time(Collective::all_gather, stored, GroupKind::sharded);
    const double hidden = shape.dp_overlap == DataParallelOverlap::on ? 1.0 : 0.0;
    if (!backward) {
        return {.gathered = gathered, .hidden = hidden};
    }
    return {gathered, shape.sharding == Sharding::zero3 ? gathered : Seconds{0.0},
            time(Collective::reduce_scatter, gradient, GroupKind::sharded),
            time(Collective::all_reduce, gradient / shape.shard_gpus, GroupKind::between_shards), hidden};
}

/// Share of a plan's passes that have one of another microbatch beside them. Megatron-Core pairs a forward with a backward pass in its
/// steady phase (combined_1f1b.py): not the forward passes of the warm-up, nor the backward passes of the cool-down. The first stage has
/// most of these, and here all stages have as many.
double paired_passes(const LayerShape& shape)
{
    const int microbatches = shape.microbatches(shape.batch);
    const int passes = microbatches * shape.chunks;
    const int group = std::min(shape.group > 0 ? shape.group : shape.pp, microbatches);
    const int warm_up = shape.pp == 1 ? 1 : 2 * (shape.pp - 1) + (shape.chunks - 1) * group + 1;
    return std::max(0.0, 1.0 - static_cast<double>(warm_up) / passes);
}

/// Costs of one part under one way of recompute.
class PartCosts {
public:
    PartCosts(const Network& network, Precision precision, const LayerShape& shape, const LayerGroups& groups,
              const Cluster& cluster)
        : optimizer_(network.optimizer), shape_(shape), full_(shape.with_full_sequences()), cluster_(cluster),
          times_(precision, cluster, groups), stored_low_(network.activation_storage == ActivationStorage::fp8)
    {
    }

    PartCost layer(const LayerKind& kind, Recompute recompute) const
    {
        PartCost part = part_of(kind, recompute, shape_.offload == Offload::activations);
        part.orthogonal_s = optimizer_.kind == Optimizer::muon ? orthogonal_s(kind) : 0.0;
        return part;
    }
    PartCost head(const LayerKind& kind) const { return at_the_end(part_of(kind, Recompute::none, false)); }

    /// A table is not sharded, and waits for no launches.
    PartCost embedding(const LayerKind& kind) const
    {
        PartCost part;
        part.parameters = parameters_of(kind, shape_);
        set_memory(kind, Recompute::none, part);
        part.workspace_bytes = 0.0;
        part.forward = pass(forward_calls(kind, shape_)).done();
        part.backward = pass(backward_calls(kind, shape_, Gradients::both)).done();
        part.input_gradient = part.backward;
        pair(part);
        return at_the_end(part);
    }

private:
    PartCost part_of(const LayerKind& kind, Recompute recompute, bool offload) const
    {
        PartCost part;
        part.parameters = parameters_of(kind, shape_);
        const Sharded sharded = sharded_messages(part.parameters, kind.backward, shape_, times_, optimizer_, cluster_.stack);
        PassBuilder forward = pass(forward_calls(kind, shape_));
        PassBuilder backward = pass(recompute_calls(kind, shape_, recompute));
        PassBuilder input_gradient = backward;
        times_.add(backward_calls(kind, shape_, Gradients::both), backward);
        times_.add(backward_calls(kind, shape_, Gradients::input), input_gradient);
        PassBuilder weight_gradient = pass(weight_gradient_calls(kind, shape_));
        set_memory(kind, recompute, part);
        Seconds move{0.0};
        if (offload) {
            // A layer's tensors leave while the next ones are computed, and return before their backward pass: two layers' are
            // there at a time.
            move = Bytes{part.saved_bytes} / cluster_.accelerator.host_link / cluster_.speed.of(KernelClass::host_copy);
            part.workspace_bytes += 2.0 * part.saved_bytes;
            part.saved_bytes = 0.0;
        }
        const double host = cluster_.speed.of(KernelClass::host_wait);
        part.backward =
            backward.wait_for_host(host)
                .beside_all(sharded.backward(), {sharded.gather_again(), sharded.scatter(), sharded.sum()}, sharded.hidden)
                .copied_beside(move)
                .done();
        part.input_gradient = input_gradient.wait_for_host(host)
                                  .beside_all(sharded.backward() - sharded.reduced(), {sharded.gather_again()}, sharded.hidden)
                                  .copied_beside(move)
                                  .done();
        part.weight_gradient = weight_gradient.wait_for_host(host)
                                   .beside_all(sharded.reduced(), {sharded.scatter(), sharded.sum()}, sharded.hidden)
                                   .done();
        part.forward = forward.wait_for_host(host)
                           .beside_all(sharded.gathered, {sharded.gather()}, sharded.hidden)
                           .copied_beside(move)
                           .done();
        pair(part);
        if (shape_.pairs_microbatches()) {
            const PassCost forward_alone = part.forward;
            part.forward = tokens_beside(part.forward, part.backward);
            part.backward = tokens_beside(part.backward, forward_alone);
        }
        return part;
    }

    /// Its exchanges of tokens run beside the compute of the other, which is of another microbatch.
    PassCost tokens_beside(const PassCost& pass, const PassCost& other) const
    {
        return side_by_side(pass, other, cluster_.stack, {KernelClass::expert_collective, paired_passes(shape_)});
    }

    static PartCost at_the_end(PartCost part)
    {
        part.parameters.ends = part.parameters.all;
        return part;
    }

    /// Of whole matrices r x c, r <= c: each iteration has products of r x c x r, r x r x r and r x r x c (arXiv 2502.16982,
    /// section 2.1). Tensor parallel members each compute the whole matrix (Megatron-Core, emerging_optimizers.py, duplicated
    /// mode). Leaves out the gathers of their parts, and the splitting of joint projections.
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
        for (const Operator& part : kind.operators) {
            if (const auto* linear = std::get_if<Linear>(&part); linear != nullptr && !linear->frozen) {
                sum += time(1.0, linear->in.whole(), linear->out.whole());
            } else if (const auto* experts = std::get_if<GroupedLinear>(&part); experts != nullptr && !experts->frozen) {
                sum += time(Extent(shape_).local_experts(experts->routing), experts->in.whole(), experts->out.whole());
            }
        }
        return sum;
    }

    double stream_bytes(const LayerKind& kind) const
    {
        return 2.0 * times_.width() * Extent(full_, kind.tokens).tokens * kind.width;
    }

    PassBuilder pass(const Calls& calls) const
    {
        PassBuilder builder(cluster_.stack);
        times_.add(calls, builder);
        return builder;
    }

    void set_memory(const LayerKind& kind, Recompute recompute, PartCost& part) const
    {
        // With sequence parallelism each member sends its part; without, the tensor is split for the transfer and gathered again
        // (Narayanan et al., SC21, section 4.1), so that the slow link carries it once.
        part.input_bytes = stream_bytes(kind) / shape_.tp * (shape_.lengths != nullptr ? shape_.lengths->tokens : 1.0);
        part.needs_gradient = kind.backward;
        const double number = 2.0 * times_.width();
        const double saved_less = stored_low_ ? number - low_number : 0.0;
        const auto bytes = [&](const Kept& kept) { return number * kept.numbers - saved_less * kept.products + kept.bytes; };
        // Without a backward pass nothing is saved. While a layer runs its tensors are there; all at once is the most.
        LayerKind trained = kind;
        trained.backward = true;
        const Kept all = kept_of(trained, full_, Recompute::none);
        const double whole = bytes(all);
        part.saved_bytes = !kind.backward                      ? 0.0
                           : recompute == Recompute::full      ? stream_bytes(kind) / Extent(shape_).sequence_split
                           : recompute == Recompute::selective ? bytes(kept_of(kind, full_, recompute))
                                                               : whole;
        part.held_bytes = kind.backward ? number * all.held_numbers - saved_less * all.held_products : 0.0;
        // What recompute brings back, and the gathered input and its gradient.
        part.workspace_bytes =
            (recompute == Recompute::full ? whole : whole - part.saved_bytes) + all.workspace + 2.0 * stream_bytes(kind);
    }

    /// Its passes beside those of another microbatch.
    void pair(PartCost& part) const
    {
        part.paired_forward = side_by_side(part.forward, part.backward, cluster_.stack);
        part.paired_backward = side_by_side(part.backward, part.forward, cluster_.stack);
    }

    const OptimizerSettings& optimizer_;
    const LayerShape& shape_;
    LayerShape full_;  // of memory
    const Cluster& cluster_;
    CallTimes times_;
    bool stored_low_;  // inputs of products
};

}  // namespace

LayerShape layer_shape(const ParallelPlan& plan, int sequence, int batch)
{
    LayerShape shape{plan, sequence, 0};
    const auto forget = [&shape](auto... members) { ((shape.*members = ParallelPlan{}.*members), ...); };
    using P = ParallelPlan;
    forget(&P::dp, &P::schedule, &P::split, &P::order, &P::post_validation, &P::crossing, &P::node_order, &P::checkpoint_interval,
           &P::spares, &P::local_steps);
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
    if (plan.offload != Offload::activations) {
        forget(&P::offload);
    }
    return shape;
}

Seconds update_time(double matrices, double others, const OptimizerSettings& optimizer, Offload offload,
                    const Accelerator& accelerator)
{
    const Bytes traffic{optimizer.update_traffic(true) * matrices + optimizer.update_traffic(false) * others};
    return offload == Offload::optimizer ? Bytes{optimizer.offloaded_traffic() * (matrices + others)} / accelerator.host_link +
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

double ChunkPass::host_s() const
{
    double sum = 0.0;
    for_parts([&sum](int count, const PassCost& part) { sum += count * part.host_s; });
    return sum;
}

double ChunkPass::messages_s(bool between_nodes) const
{
    double sum = 0.0;
    for_parts([&](int count, const PassCost& part) { sum += count * (between_nodes ? part.between_nodes_s : part.in_nodes_s); });
    return sum;
}

const PartCost& LayerCosts::typical() const
{
    std::vector<int> count(kinds.size(), 0);
    for (const int kind : layers) {
        ++count[kind];
    }
    return kinds[std::max_element(count.begin(), count.end()) - count.begin()];
}

LayerCosts layer_costs(const Network& network, Precision precision, const LayerShape& shape, const LayerGroups& groups,
                       const Cluster& cluster)
{
    const PartCosts costs(network, precision, shape, groups, cluster);
    const int layers = static_cast<int>(network.layers.size());
    const bool some = shape.recompute == Recompute::full && shape.recomputed_layers > 0 && shape.recomputed_layers < layers;
    LayerCosts result;
    for (const LayerKind& kind : network.kinds) {
        if (some) {
            result.kinds.push_back(costs.layer(kind, Recompute::none));
        }
        result.kinds.push_back(costs.layer(kind, shape.recompute));
    }
    // Layers that recompute are spread evenly over the network.
    const auto recomputed_before = [&](int layer) { return static_cast<long>(layer) * shape.recomputed_layers / layers; };
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

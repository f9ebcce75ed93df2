#include "model/network/call_times.hpp"

#include "model/hardware/collective.hpp"
#include "model/network/passes.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Bytes to cast a number of an operand (NVIDIA/TransformerEngine, docs/features/low_precision_training). It
/// is read once, and before that for the largest value, unless its scale is of earlier steps or of blocks
/// that a kernel holds. It is written as it is, and once more for products that need another order: in other
/// numbers where scales are of rows, transposed on accelerators that multiply in one order only.
double cast_traffic(Precision precision, const Accelerator& accelerator)
{
    const bool finds_largest = precision == Precision::fp8_current || precision == Precision::nvfp4;
    const bool of_tensors = precision == Precision::fp8_delayed || precision == Precision::fp8_current;
    const double copies = of_tensors && accelerator.takes_block_scales() ? 1.0 : 2.0;
    return (finds_largest ? 4.0 : 2.0) + copies * operand_bytes(precision);
}

/// Kernels that cast an operand of experts, each of them or all together.
struct CastKernels {
    double kernels = 0.0;
    bool grouped = false;
};

/// NVIDIA/TransformerEngine, releases 2.7 to 2.16, pytorch/module/grouped_linear.py and
/// csrc/extensions/cast.cpp: one for scales of blocks (both orders); maximum, scale and cast for a current
/// scale of each tensor, of which one does all with a delayed one, for all experts together; of four bits
/// maximum and cast, together (from 2.11).
CastKernels cast_kernels(Precision precision, const SoftwareStack& stack)
{
    switch (precision) {
        case Precision::fp8_delayed: return {.kernels = 1.0, .grouped = true};
        case Precision::fp8:
        case Precision::fp8_current: return {.kernels = 3.0, .grouped = stack.grouped_experts};
        case Precision::fp8_blockwise:
        case Precision::mxfp8: return {.kernels = 1.0, .grouped = stack.grouped_experts};
        case Precision::nvfp4: return {.kernels = 2.0, .grouped = true};
        case Precision::fp32:
        case Precision::tf32:
        case Precision::bf16: break;
    }
    return {};
}

}  // namespace

AttentionWork attention_work(const KernelCall& call)
{
    return {Flops{call.flops}, call.m, call.n, call.k, call.value_size, Bytes{call.bytes}, call.in_8_bits};
}

Precision precision_of(const KernelCall& call, Precision of_layers)
{
    switch (call.roof) {
        case Roof::product: return of_layers;
        case Roof::wide_product: return operand_bytes(of_layers) > 2.0 ? of_layers : Precision::bf16;
        case Roof::attention:
        case Roof::attention_backward: return call.in_8_bits ? Precision::fp8 : Precision::bf16;
        case Roof::scores:
        case Roof::scan:
        case Roof::memory:
        case Roof::routing:
        case Roof::loss: break;
    }
    return Precision::bf16;
}

FlopsPerSecond peak_of_products(const Network& network, int sequence, Precision precision,
                                const Accelerator& accelerator)
{
    double flops = 0.0;
    double seconds = 0.0;
    LayerShape shape;
    shape.sequence = sequence;
    const auto add = [&](const Calls& calls, int layers) {
        for (const AnyCall& call : calls.list()) {
            const auto* kernel = std::get_if<KernelCall>(&call);
            if (kernel != nullptr && kernel->needed_flops > 0.0) {
                flops += layers * kernel->needed_flops;
                seconds +=
                    layers * kernel->needed_flops / accelerator.peak(precision_of(*kernel, precision)).si;
            }
        }
    };
    network.for_kinds([&](const LayerKind& kind, int layers) {
        add(forward_calls(kind, shape), layers);
        add(backward_calls(kind, shape, Gradients::both), layers);
    });
    return flops > 0.0 ? FlopsPerSecond{flops / seconds} : accelerator.peak(precision);
}

CallTimes::CallTimes(Precision precision, const Cluster& cluster, const LayerGroups& groups)
    : cluster_(cluster), groups_(groups), precision_(kind_of(precision, cluster.stack)),
      width_(operand_bytes(precision) > 2.0 ? 2.0 : 1.0)
{
}

Seconds CallTimes::product(const KernelCall& call, Precision precision) const
{
    return grouped_gemm_time(call.groups, call.m, call.n, call.k, cluster_.accelerator, precision);
}

Seconds CallTimes::of(const KernelCall& call) const
{
    const Accelerator& gpu = cluster_.accelerator;
    const double width = call.exact_bytes ? 1.0 : width_;
    if (call.in_experts && fuses_experts()) {
        return Seconds{0.0};
    }
    const auto memory = [&](double factor) {
        return elementwise_time(Bytes{width * factor * call.bytes}, gpu);
    };
    const auto time = [&] {
        switch (call.roof) {
            case Roof::product:
            case Roof::wide_product: return product(call, precision_of(call, precision_));
            case Roof::scores: return batched_gemm_time(Flops{call.flops}, call.k, gpu);
            case Roof::attention: return fused_attention_time(attention_work(call), false, gpu);
            case Roof::attention_backward: return fused_attention_time(attention_work(call), true, gpu);
            case Roof::scan: return scan_time(Flops{call.flops}, gpu) + memory(1.0);
            case Roof::routing: return memory(cluster_.stack.routing);
            case Roof::loss: return memory(cluster_.stack.loss_traffic);
            case Roof::memory: break;
        }
        return memory(1.0);
    };
    return time() / cluster_.speed.of(call.kind);
}

Seconds CallTimes::of(const CollectiveCall& message) const
{
    const SoftwareStack& stack = cluster_.stack;
    const double low = message.low && has_fewer_than_16_bits(precision_) ? stack.dispatch_bytes / 2.0 : 1.0;
    const Bytes bytes{(message.exact_bytes ? 1.0 : width_) * low * message.bytes};
    const bool once =
        message.dispatch == Dispatch::of_stack ? stack.sends_once : message.dispatch != Dispatch::all_to_all;
    Seconds time{0.0};
    for (const Group& group : groups_.of(message.group)) {
        const Seconds own =
            message.way == CollectiveCall::Way::tokens
                ? token_exchange_time(bytes, {once ? message.active : 0.0, message.nodes}, group, cluster_)
                : collective_time(message.kind, bytes, group, cluster_).time;
        time = std::max(time, own);
    }
    return message.times * time / cluster_.speed.of(message.kernel());
}

CallTimes::TokenCover CallTimes::beside_tokens(const std::vector<AnyCall>& list) const
{
    Seconds time{0.0};
    TokenCover cover;
    for (const AnyCall& call : list) {
        if (const auto* kernel = std::get_if<KernelCall>(&call)) {
            if (kernel->hides_tokens) {
                time += of(*kernel);
            }
        } else if (std::get<CollectiveCall>(call).beside == CollectiveCall::Beside::shared_experts) {
            ++cover.exchanges;
        }
    }
    if (cover.exchanges > 0) {
        cover.each = (1.0 / cover.exchanges) * time;
    }
    return cover;
}

/// NVIDIA/TransformerEngine, releases from 2.14 on, NVTE_CUTEDSL_FUSED_GROUPED_MLP: the first product with
/// gate and cast in one kernel, the second in one, and their mirror backward; of experts with MXFP8 alone.
bool CallTimes::fuses_experts() const
{
    return cluster_.stack.fused_experts && precision_ == Precision::mxfp8;
}

Bytes CallTimes::cast_bytes(const Calls& calls) const
{
    const double each =
        has_fewer_than_16_bits(precision_) ? cast_traffic(precision_, cluster_.accelerator) : 0.0;
    return Bytes{each * (calls.cast_numbers() + (fuses_experts() ? 0.0 : calls.cast_in_experts()))};
}

Launches CallTimes::launches_of(const KernelCall& call) const
{
    if (call.in_graph) {
        return {};
    }
    const SoftwareStack& stack = cluster_.stack;
    const double products = stack.grouped_experts ? std::min(call.experts, 1.0) : call.experts;
    const CastKernels cast = cast_kernels(precision_, stack);
    const double each = cast.grouped ? std::min(call.experts, 1.0) : call.experts;
    return {.python = call.launches, .native = products + call.casts * cast.kernels * each};
}

/// Products read their operands once and write 16 bits; what caches do beyond that is in the energy
/// of the accelerator's operations.
Bytes CallTimes::traffic_of(const KernelCall& call) const
{
    const double bytes = (call.exact_bytes ? 1.0 : width_) * call.bytes;
    switch (call.roof) {
        case Roof::product:
        case Roof::wide_product: {
            const double operand = operand_bytes(precision_of(call, precision_));
            const double result = 2.0 * width_;
            return Bytes{call.groups * (operand * (call.m + call.n) * call.k + result * call.m * call.n)};
        }
        case Roof::routing: return Bytes{cluster_.stack.routing * bytes};
        case Roof::loss: return Bytes{cluster_.stack.loss_traffic * bytes};
        case Roof::scores:
        case Roof::attention:
        case Roof::attention_backward:
        case Roof::scan:
        case Roof::memory: break;
    }
    return Bytes{bytes};
}

Joules CallTimes::energy(const Calls& calls) const
{
    const Accelerator& gpu = cluster_.accelerator;
    Joules sum = cast_bytes(calls) * gpu.energy.memory;
    for (const AnyCall& call : calls.list()) {
        const auto* kernel = std::get_if<KernelCall>(&call);
        if (kernel != nullptr && !(kernel->in_experts && fuses_experts())) {
            sum += Flops{kernel->flops} * gpu.energy_of(precision_of(*kernel, precision_)) +
                   traffic_of(*kernel) * gpu.energy.memory;
        }
    }
    return sum;
}

void CallTimes::add(const Calls& calls, PassBuilder& pass) const
{
    const std::vector<AnyCall>& list = calls.list();
    Seconds before{0.0};
    const TokenCover cover = beside_tokens(list);
    // Kernels whose compute hides exchanges of tokens hide nothing else.
    const auto uncovered = [&cover](const KernelCall& kernel, Seconds time) {
        return kernel.hides_tokens && cover.exchanges > 0 ? Seconds{0.0} : time;
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (const auto* kernel = std::get_if<KernelCall>(&list[i])) {
            const Seconds time = of(*kernel);
            before = uncovered(*kernel, time);
            pass.kernel(kernel->kind, time, launches_of(*kernel), kernel->surplus);
            continue;
        }
        const CollectiveCall& message = std::get<CollectiveCall>(list[i]);
        Seconds beside{0.0};
        if (message.beside == CollectiveCall::Beside::kernel_before) {
            beside = message.share * before;
        } else if (message.beside == CollectiveCall::Beside::kernel_after) {
            const KernelCall& after = std::get<KernelCall>(list[i + 1]);
            beside = message.share * uncovered(after, of(after));
        } else if (message.beside == CollectiveCall::Beside::shared_experts) {
            beside = cover.each;
        }
        if (message.in_graph) {
            pass.launched_with_others();
        }
        const Seconds time = of(message);
        pass.on_links(time, leave_nodes(groups_.of(message.group), cluster_));
        if (message.rounds > 0.0) {
            pass.pipelined_collective(message.kernel(), time, beside, message.rounds);
        } else {
            pass.hidden_collective(message.kernel(), time, beside, message.members, message.surplus);
        }
    }
    if (const Bytes bytes = cast_bytes(calls); bytes.si > 0.0) {
        const KernelClass kind = KernelClass::elementwise;
        pass.kernel(kind, cast_time(bytes, cluster_.accelerator) / cluster_.speed.of(kind));
    }
}

}  // namespace prismopt

#include "optimizer/api/kernel_table.hpp"

#include "model/hardware/kernel_time.hpp"
#include "model/network/call_times.hpp"
#include "model/network/extent.hpp"
#include "model/network/network.hpp"
#include "model/network/passes.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

bool is_product(Roof roof) { return roof == Roof::product || roof == Roof::wide_product; }

std::string name_of(const KernelCall& call)
{
    switch (call.roof) {
        case Roof::attention:
        case Roof::attention_backward: return "fused attention";
        case Roof::scores: return "scores of plain attention";
        case Roof::routing: return "routing of tokens";
        case Roof::loss: return "loss";
        case Roof::product:
        case Roof::wide_product: return call.groups > 1.0 ? "grouped product" : "product";
        case Roof::scan:
        case Roof::memory: break;
    }
    return std::string(name(call.kind));
}

double traffic_of(const KernelCall& call, const SoftwareStack& stack)
{
    if (call.roof == Roof::loss) {
        return call.bytes * stack.loss_traffic;
    }
    return call.roof == Roof::routing ? call.bytes * stack.routing : call.bytes;
}

std::string shape_of(const KernelCall& call, const SoftwareStack& stack)
{
    if (is_product(call.roof)) {
        const std::string shape = fmt::format("{:.0f} x {:.0f} x {:.0f}", call.m, call.n, call.k);
        return call.groups > 1.0 ? fmt::format("{:.0f} of {}", call.groups, shape) : shape;
    }
    if (call.roof == Roof::attention || call.roof == Roof::attention_backward) {
        return fmt::format("{:.0f} queries x {:.0f} keys, heads of {:.0f}", call.m, call.n, call.k);
    }
    return fmt::format("{:.4g} MB", traffic_of(call, stack) / 1e6);
}

/// Of the peak at the precision of its products, or of the memory bandwidth.
double share_of(const KernelCall& call, double seconds, Precision precision, const Cluster& cluster)
{
    const Accelerator& gpu = cluster.accelerator;
    if (call.needed_flops > 0.0) {
        const Precision of_call = call.roof == Roof::product ? precision : Precision::bf16;
        return call.needed_flops / seconds / gpu.peak(of_call).si;
    }
    return traffic_of(call, cluster.stack) / seconds / gpu.memory_bandwidth.si;
}

}  // namespace

std::vector<KernelRow> kernel_rows(const Network& network, Precision precision, const LayerShape& shape,
                                   const Cluster& cluster)
{
    const LayerGroups nowhere;
    const CallTimes times(precision, cluster, nowhere);
    std::vector<KernelRow> rows;
    network.for_kinds([&](const LayerKind& kind, int layers) {
        const auto add = [&](const Calls& calls, const char* pass) {
            if (const Bytes bytes = times.cast_bytes(calls); bytes.si > 0.0 && layers > 0) {
                const double seconds = cast_time(bytes, cluster.accelerator).si;
                rows.push_back({kind.name, layers, pass, "casts of operands",
                                fmt::format("{:.4g} MB", bytes.si / 1e6), seconds, 0.0,
                                bytes.si / seconds / cluster.accelerator.memory_bandwidth.si});
            }
            for (const AnyCall& call : calls.list()) {
                if (const auto* kernel = std::get_if<KernelCall>(&call); kernel != nullptr && layers > 0) {
                    const double seconds = times.of(*kernel).si;
                    rows.push_back({kind.name, layers, pass, name_of(*kernel),
                                    shape_of(*kernel, cluster.stack), seconds, kernel->needed_flops,
                                    share_of(*kernel, seconds, precision, cluster)});
                }
            }
        };
        add(forward_calls(kind, shape), "forward");
        add(backward_calls(kind, shape, Gradients::both), "backward");
    });
    return rows;
}

}  // namespace prismopt

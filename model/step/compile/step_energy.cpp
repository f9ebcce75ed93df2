#include "model/step/compile/step_energy.hpp"

#include "model/network/call_times.hpp"
#include "model/network/passes.hpp"

namespace prismopt {

Joules microbatch_energy(const Network& network, Precision precision, const LayerShape& shape,
                         const Cluster& cluster)
{
    const LayerGroups no_messages;
    const CallTimes times(precision, cluster, no_messages);
    const int layers = static_cast<int>(network.layers.size());
    const bool some =
        shape.recompute == Recompute::full && shape.recomputed_layers > 0 && shape.recomputed_layers < layers;
    const double again = some ? static_cast<double>(shape.recomputed_layers) / layers : 1.0;
    Joules sum{};
    network.for_kinds([&](const LayerKind& kind, int count) {
        const bool at_an_end = &kind == &network.embedding || &kind == &network.head;
        Joules of_kind = times.energy(forward_calls(kind, shape)) +
                         times.energy(backward_calls(kind, shape, Gradients::both));
        if (!at_an_end) {
            of_kind += again * times.energy(recompute_calls(kind, shape, shape.recompute));
        }
        sum += count * of_kind;
    });
    return sum;
}

Joules least_sequence_energy(const Network& network, Precision precision, int sequence,
                             const Accelerator& accelerator)
{
    LayerShape whole;
    whole.sequence = sequence;
    Joules sum{};
    const auto add = [&](const Calls& calls, int count) {
        for (const AnyCall& call : calls.list()) {
            if (const auto* kernel = std::get_if<KernelCall>(&call)) {
                sum += count * (Flops{kernel->needed_flops} *
                                accelerator.energy_of(precision_of(*kernel, precision)));
            }
        }
    };
    network.for_kinds([&](const LayerKind& kind, int count) {
        add(forward_calls(kind, whole), count);
        add(backward_calls(kind, whole, Gradients::both), count);
    });
    return sum;
}

}  // namespace prismopt

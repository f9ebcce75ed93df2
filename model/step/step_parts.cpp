#include "model/step/step_parts.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

StepPart part_of(KernelClass kind)
{
    constexpr auto outer =
        std::to_array<std::pair<KernelClass, StepPart>>({{KernelClass::gemm, StepPart::products},
                                                         {KernelClass::attention, StepPart::attention},
                                                         {KernelClass::host_wait, StepPart::host},
                                                         {KernelClass::tensor_collective, StepPart::tensor},
                                                         {KernelClass::context_collective, StepPart::context},
                                                         {KernelClass::expert_collective, StepPart::expert},
                                                         {KernelClass::sharded_collective, StepPart::sharded},
                                                         {KernelClass::host_copy, StepPart::host_copies},
                                                         {KernelClass::p2p, StepPart::transfers},
                                                         {KernelClass::dp_collective, StepPart::data}});
    const auto* found = std::find_if(outer.begin(), outer.end(),
                                     [kind](const auto& row) { return is_within(kind, row.first); });
    return found == outer.end() ? StepPart::other_kernels : found->second;
}

StepParts step_parts(const StageBreakdown& stage)
{
    StepParts parts{};
    const auto add = [&parts](StepPart part, double seconds) {
        parts[static_cast<std::size_t>(part)] += seconds;
    };
    for (const KernelPart& kernel : stage.kernels) {
        add(part_of(kernel.kind), kernel.seconds - kernel.again_s);
        add(StepPart::recompute, kernel.again_s);
    }
    for (const MessagePart& message : stage.messages) {
        add(part_of(message.kind), message.exposed_s);
    }
    add(StepPart::optimizer, stage.optimizer_s);
    add(StepPart::buildings, stage.outer_s);
    add(StepPart::waiting, stage.waiting_s);
    return parts;
}

std::size_t busiest_stage(std::span<const StageBreakdown> stages)
{
    const auto least =
        std::min_element(stages.begin(), stages.end(), [](const StageBreakdown& a, const StageBreakdown& b) {
            return a.waiting_s < b.waiting_s;
        });
    return static_cast<std::size_t>(least - stages.begin());
}

}  // namespace prismopt

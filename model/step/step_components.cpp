#include "model/step/step_components.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

StepComponent component_of(KernelClass kind)
{
    constexpr auto outer = std::to_array<std::pair<KernelClass, StepComponent>>(
        {{KernelClass::gemm, StepComponent::products},
         {KernelClass::attention, StepComponent::attention},
         {KernelClass::host_wait, StepComponent::host},
         {KernelClass::tensor_collective, StepComponent::tensor},
         {KernelClass::context_collective, StepComponent::context},
         {KernelClass::expert_collective, StepComponent::expert},
         {KernelClass::sharded_collective, StepComponent::sharded},
         {KernelClass::host_copy, StepComponent::host_copies},
         {KernelClass::p2p, StepComponent::transfers},
         {KernelClass::dp_collective, StepComponent::data}});
    const auto* found = std::find_if(outer.begin(), outer.end(),
                                     [kind](const auto& row) { return is_within(kind, row.first); });
    return found == outer.end() ? StepComponent::other_kernels : found->second;
}

StepComponents step_components(const StageBreakdown& stage)
{
    StepComponents components{};
    const auto add = [&components](StepComponent component, double seconds) {
        components[static_cast<std::size_t>(component)] += seconds;
    };
    for (const KernelTime& kernel : stage.kernels) {
        add(component_of(kernel.kind), kernel.seconds - kernel.again_s);
        add(StepComponent::recompute, kernel.again_s);
    }
    for (const MessageTime& message : stage.messages) {
        add(component_of(message.kind), message.exposed_s);
    }
    add(StepComponent::optimizer, stage.optimizer_s);
    add(StepComponent::buildings, stage.outer_s);
    add(StepComponent::waiting, stage.waiting_s);
    return components;
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

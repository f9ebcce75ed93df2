#pragma once

/// The components by which a step is explained and compared: coarser than a breakdown by
/// blocks, and the same for all plans.

#include "model/base/names.hpp"
#include "model/step/compile/breakdown.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace prismopt {

/// Exclusive components, which sum to the step. Of collectives only what no compute hides.
enum class StepComponent {
    products,
    attention,
    other_kernels,
    recompute,
    host,
    tensor,
    context,
    expert,
    sharded,
    host_copies,
    transfers,
    data,
    buildings,
    optimizer,
    waiting
};
template <>
inline constexpr auto names_of<StepComponent> =
    std::to_array<Named<StepComponent>>({{StepComponent::products, "matrix products"},
                                         {StepComponent::attention, "attention"},
                                         {StepComponent::other_kernels, "other kernels"},
                                         {StepComponent::recompute, "recompute"},
                                         {StepComponent::host, "waits for the host"},
                                         {StepComponent::tensor, "tensor-parallel collectives"},
                                         {StepComponent::context, "context-parallel collectives"},
                                         {StepComponent::expert, "expert-parallel collectives"},
                                         {StepComponent::sharded, "collectives of sharded parameters"},
                                         {StepComponent::host_copies, "copies to and from the host"},
                                         {StepComponent::transfers, "transfers between stages"},
                                         {StepComponent::data, "data-parallel collectives"},
                                         {StepComponent::buildings, "exchange between buildings"},
                                         {StepComponent::optimizer, "optimizer"},
                                         {StepComponent::waiting, "waiting for other stages"}});
inline constexpr std::size_t step_component_count = names_of<StepComponent>.size();

/// The component to which kernels and messages of a class belong, but for those of recompute.
StepComponent component_of(KernelClass kind);

/// Seconds of each component, indexed by StepComponent.
using StepComponents = std::array<double, step_component_count>;
StepComponents step_components(const StageBreakdown& stage);

/// Components of the memory of a GPU.
struct NamedMemory {
    Bytes MemoryUse::*member;
    std::string_view name;
};
inline constexpr auto memory_components =
    std::to_array<NamedMemory>({{&MemoryUse::parameters, "parameters"},
                                {&MemoryUse::gradients, "gradients"},
                                {&MemoryUse::optimizer_state, "optimizer state"},
                                {&MemoryUse::activations, "activations"},
                                {&MemoryUse::workspace, "workspace"},
                                {&MemoryUse::reserved, "reserved"}});

/// Returns the stage that waits least for others, which the step is explained by.
std::size_t busiest_stage(std::span<const StageBreakdown> stages);

}  // namespace prismopt

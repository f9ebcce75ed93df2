#pragma once

/// The parts that a step is explained and compared by: coarser than a breakdown by blocks, and the same for all plans.

#include "model/base/names.hpp"
#include "model/step/compile/breakdown.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace prismopt {

/// Exclusive parts, which sum to the step. Of collectives only what no compute hides.
enum class StepPart {
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
inline constexpr auto names_of<StepPart> =
    std::to_array<Named<StepPart>>({{StepPart::products, "matrix products"},
                                    {StepPart::attention, "attention"},
                                    {StepPart::other_kernels, "other kernels"},
                                    {StepPart::recompute, "recompute"},
                                    {StepPart::host, "waits for the host"},
                                    {StepPart::tensor, "tensor-parallel collectives"},
                                    {StepPart::context, "context-parallel collectives"},
                                    {StepPart::expert, "expert-parallel collectives"},
                                    {StepPart::sharded, "collectives of sharded parameters"},
                                    {StepPart::host_copies, "copies to and from the host"},
                                    {StepPart::transfers, "transfers between stages"},
                                    {StepPart::data, "data-parallel collectives"},
                                    {StepPart::buildings, "exchange between buildings"},
                                    {StepPart::optimizer, "optimizer"},
                                    {StepPart::waiting, "waiting for other stages"}});
inline constexpr std::size_t step_part_count = names_of<StepPart>.size();

/// The part to which kernels and messages of a class belong, but for those of recompute.
StepPart part_of(KernelClass kind);

/// Seconds of each part, indexed by StepPart.
using StepParts = std::array<double, step_part_count>;
StepParts step_parts(const StageBreakdown& stage);

/// Parts of a GPU's memory.
struct NamedMemory {
    Bytes MemoryUse::*part;
    std::string_view name;
};
inline constexpr auto memory_parts =
    std::to_array<NamedMemory>({{&MemoryUse::parameters, "parameters"},
                                {&MemoryUse::gradients, "gradients"},
                                {&MemoryUse::optimizer_state, "optimizer state"},
                                {&MemoryUse::activations, "activations"},
                                {&MemoryUse::workspace, "workspace"},
                                {&MemoryUse::reserved, "reserved"}});

/// Returns the stage that waits least for others, which the step is explained by.
std::size_t busiest_stage(std::span<const StageBreakdown> stages);

}  // namespace prismopt

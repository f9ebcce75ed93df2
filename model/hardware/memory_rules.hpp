#pragma once

/// What a framework holds in memory by its own rules. docs/methods/step-graph.md, "Memory".

#include "model/base/names.hpp"

#include <array>

namespace prismopt {

/// Gradients that are whole on each GPU although the plan divides them: none; those of pipelines, until their
/// last microbatch; or those of all accumulated microbatches.
enum class WholeGradients { never, pipelines, accumulation };
template <>
inline constexpr auto names_of<WholeGradients> =
    std::to_array<Named<WholeGradients>>({{WholeGradients::never, "never"},
                                          {WholeGradients::pipelines, "pipelines"},
                                          {WholeGradients::accumulation, "accumulation"}});

/// Memory of one software stack. Default: Megatron-Core.
struct MemoryRules {
    // Bytes per logit: saved from the forward pass of the loss to its backward pass, and in use at the most.
    double loss_saved = 4.0;
    double loss_peak = 6.0;
    double loss_peak_divided = 6.0;  // in use at the most where tensor parallelism divides the vocabulary
    double loss_cached = 0.0;        // of freed blocks into which no later tensor of the loss fits
    // gradients have memory of their own throughout a step, not only from when they are computed
    bool gradient_buffers = true;
    // gradients of a layer are whole while it is reduced, as computed and in the type of messages
    bool layer_gradients = false;
    // of divided parameters with a master copy only that is stored, and cast as they are gathered
    bool only_masters = false;
    WholeGradients whole_gradients = WholeGradients::never;
    double update_copies = 0.0;  // temporaries of an update made of several kernels, in copies of one moment
    double fragmentation = 0.0;  // reserved over allocated memory, less one, where the accelerator is full
    // freed blocks over allocated memory, which the allocator keeps as long as there is room
    double cached = 0.0;
    bool saves_operands = false;  // inputs of products are saved in the precision of the product
    // of each shape of weights one 16-bit tensor stays, which stands for gradients added to buffers in place
    bool dummy_gradients = false;

    bool operator==(const MemoryRules&) const = default;
};

}  // namespace prismopt

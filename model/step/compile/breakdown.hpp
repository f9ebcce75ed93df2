#pragma once

/// Where the step of a plan at mean durations and the memory of its GPUs go, by pipeline
/// stage. docs/methods/breakdown.md.

#include "model/hardware/kernel_class.hpp"
#include "model/step/graph/step_summary.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct CompiledPlan;
struct ParallelPlan;
struct Setting;

/// Kernels of one class of one block, in all passes of a stage.
struct KernelTime {
    std::string block;  // "attention"; "embedding", "head"; empty: not of one block, as waits for the host
    KernelClass kind = KernelClass::gemm;
    double seconds = 0.0;
    double again_s = 0.0;  // part of `seconds`: recompute
};

/// Collectives and messages of one class.
struct MessageTime {
    KernelClass kind = KernelClass::p2p;
    double exposed_s = 0.0;  // for which the stage does nothing else, with compute that they slow
    double hidden_s = 0.0;   // beside compute, or beside waits for other stages
};

struct BlockBytes {
    std::string block;
    double bytes = 0.0;
};

struct StageBreakdown {
    // These sum to the step: kernels, exposed parts of messages, and
    std::vector<KernelTime> kernels;
    std::vector<MessageTime> messages;
    double optimizer_s = 0.0;
    double outer_s = 0.0;    // exchange between buildings that use local updates
    double waiting_s = 0.0;  // for other stages: the bubble of the pipeline

    MemoryUse memory;
    // sum to those of `memory`; empty if the peak is when there are none
    std::vector<BlockBytes> activations;
    std::string workspace_of;  // kind of layer, or "head", with the largest temporaries

    double step_s() const;
    double exposed_s() const;
};

/// Returns the parts of each stage, [stage]. `compiled`: for sampling or the noise-free step.
std::vector<StageBreakdown> breakdown(const CompiledPlan& compiled, const ParallelPlan& plan,
                                      const Setting& setting);

}  // namespace prismopt

#pragma once

/// Analysis of variance of the compute of microbatches: what operations belong to, and the components of
/// their variance. docs/methods/calibration.md.

#include "model/calibration/fit/variance_components.hpp"
#include "model/calibration/trace/microbatch_exponents.hpp"
#include "model/calibration/trace/step_graph.hpp"
#include "model/calibration/trace/trace.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Where the operations of a slot run.
struct SlotPlace {
    int kind;
    int worker;
    TraceWorker replica_and_stage;
    int microbatch;
};

std::vector<SlotPlace> places_of(const Trace& trace, const StepGraph& graph, const std::vector<int>& slots);

/// What operations belong to: partitions of [slot * steps + step].
struct OperationGroups {
    Partition cells;  // kind and stage
    Partition stages;
    Partition replicas;
    Partition workers;
    Partition worker_kinds;
    Partition steps;
    Partition replica_steps;
    Partition stage_steps;   // a worker in a step
    Partition microbatches;  // of a replica in a step
};
OperationGroups groups_of(const std::vector<SlotPlace>& places, std::size_t steps);

/// Kinds and stages whose times grow faster or more slowly with a microbatch than the mean.
struct ExponentFit {
    std::vector<MicrobatchExponent> exponents;  // empty: all one
    std::vector<double> beyond;  // [slot * steps + step]: what exponents other than one add to a duration
};
/// `y`: log durations about the means of kind and stage.
ExponentFit fit_exponents(const std::vector<SlotPlace>& places, std::size_t steps,
                          const OperationGroups& groups, const std::vector<double>& y);

/// Components of the variance of log durations.
struct ComputeComponents {
    Component step;
    Component gpu;
    Component stage;  // of a stage in one step
    Component microbatch;
    Component residual;
};
/// `y`: log durations about the means of kind and stage, without what the exponents add.
ComputeComponents compute_components(const OperationGroups& groups, std::size_t steps,
                                     const std::vector<MicrobatchExponent>& exponents, std::vector<double> y);

}  // namespace prismopt

#pragma once

/// A plan in a phase that has GPUs or a context parallel degree of its own.

#include "model/plan.hpp"
#include "model/workload/workload.hpp"

namespace prismopt {

/// Tensor and pipeline parallel degrees stay; data parallel replicas are what remains: none where the GPUs do not divide.
constexpr ParallelPlan plan_in_phase(ParallelPlan plan, const Phase& phase)
{
    if (phase.gpus > 0 || phase.cp > 0) {
        const int gpus = phase.gpus > 0 ? phase.gpus : plan.gpus();
        plan.cp = phase.cp > 0 ? phase.cp : plan.cp;
        const int replica = plan.tp * plan.cp * plan.pp;
        plan.dp = gpus % replica == 0 ? gpus / replica : 0;
    }
    return plan;
}

}  // namespace prismopt

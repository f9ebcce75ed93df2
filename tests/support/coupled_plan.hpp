#pragma once

/// The job that brute force runs (brute_force_job.hpp) for a compiled plan.

#include "tests/support/coupled_graph.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include "model/plan/layout.hpp"
#include "model/step/compile/plan_compiler.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <variant>
#include <vector>

namespace prismopt {

inline BruteForceLayer brute_force_layer(const PassCost& cost)
{
    BruteForceLayer layer;
    for (std::size_t i = 0; i < cost.segments.size(); ++i) {
        BruteForceSegment& segment = layer.emplace_back();
        segment.end = cost.ends[i];
        for (const Kernel& kernel : cost.segments[i]) {
            segment.kernels.push_back(brute_force_kernel(kernel.kind, kernel.seconds));
        }
    }
    return layer;
}

/// Takes kernels and mean times from a plan and its graph. Each gather of a layer takes
/// `gather_share` of a forward pass of one.
inline void set_passes(const ParallelPlan& plan, const Setting& setting, const ExecutionGraph& graph,
                       double gather_share, BruteForceJob& job)
{
    const LayerCosts costs =
        layer_costs(network_of(setting.workload), setting.workload.precision,
                    layer_shape(plan, setting.phase.sequence, setting.phase.global_batch),
                    layer_groups(plan, setting.cluster), setting.cluster);
    const auto chunks = std::get<std::vector<Chunk>>(layout(setting.workload.layers(), plan));
    job.shape = graph.program->shape;
    job.widths = barrier_widths(plan);
    job.replicas = plan.dp;
    job.overlapped = plan.dp_overlap == DataParallelOverlap::on;
    job.passes.assign(2 * chunks.size(), {});
    const auto seconds = [](const std::vector<Exchange>& exchanges, std::vector<double>& out) {
        std::transform(exchanges.begin(), exchanges.end(), std::back_inserter(out),
                       [](const Exchange& e) { return e.exposed(); });
    };
    seconds(graph.gathering, job.gather_s);
    seconds(graph.reduction, job.reduce_s);
    job.optimizer_s =
        static_cast<double>(*std::max_element(graph.optimizer_s.begin(), graph.optimizer_s.end()));
    job.layer_gather_s = gather_share * costs.kinds.front().forward.compute_s;
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        const auto pipeline = static_cast<std::size_t>(plan.pp);
        const std::size_t stage_chunk = k % pipeline * static_cast<std::size_t>(plan.chunks) + k / pipeline;
        for (const Pass pass : {Pass::forward, Pass::backward}) {
            const auto of = [pass](const LayerCost& cost) -> const PassCost& {
                return pass == Pass::forward ? cost.forward : cost.backward;
            };
            const std::size_t i = 2 * stage_chunk + static_cast<std::size_t>(pass);
            BruteForcePass& out = job.passes[i];
            out.layers.assign(static_cast<std::size_t>(chunks[k].layers),
                              brute_force_layer(of(costs.kinds.front())));
            // Head and embedding: with the last layer, and gathered with it;
            // their place does not matter here.
            const auto add = [&out](const PassCost& cost) {
                const BruteForceLayer beside = brute_force_layer(cost);
                out.layers.back().insert(out.layers.back().end(), beside.begin(), beside.end());
            };
            if (chunks[k].embedding) {
                add(of(costs.embedding));
            }
            if (chunks[k].head) {
                add(of(costs.head));
            }
            out.communication_s = static_cast<double>(graph.distribution[i].communication_s);
            out.transfer_s = static_cast<double>(graph.distribution[i].transfer_s);
        }
    }
}

}  // namespace prismopt

#pragma once

/// The sampler's view of a job that brute force runs (brute_force_job.hpp): a graph with composed laws.

#include "tests/support/brute_force_job.hpp"
#include "tests/support/random_graph.hpp"

#include "model/noise/chain_law.hpp"
#include "model/noise/noise_tables.hpp"
#include "model/step/execution_graph.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace prismopt {

/// Kernels' residual laws: lognormal of these coefficients of variation, by kernel class.
inline constexpr std::array<double, kernel_classes> brute_force_cv{0.03, 0.05, 0.10, 0.0, 0.0, 0.0};

inline BruteForceKernel brute_force_kernel(KernelClass kind, double seconds)
{
    return {seconds, brute_force_cv[static_cast<std::size_t>(kind)]};
}

inline NoiseTables brute_force_noise(const BruteForceJob& job)
{
    Variability v;
    v.gpu = {Normal{job.gpu_cv}, {job.slow_probability, job.slow_excess}, 20.0, "test"};
    v.stage = {LogNormal{job.stage_cv}, {}, 20.0, "test"};
    v.microbatch = {LogNormal{job.microbatch_cv}, {}, 20.0, "test"};
    for (std::size_t k = 0; k < kernel_classes; ++k) {
        v.residual[k] = {LogNormal{brute_force_cv[k]}, {}, 20.0, "test"};
    }
    return build_noise_tables(v, std::array{job.tp});
}

inline PassCost brute_force_pass(const std::vector<std::vector<BruteForceKernel>>& segments)
{
    PassCost pass;
    for (const auto& kernels : segments) {
        Segment segment;
        for (const BruteForceKernel& kernel : kernels) {
            const auto kind = std::find(brute_force_cv.begin(), brute_force_cv.end(), kernel.cv) - brute_force_cv.begin();
            segment.push_back({static_cast<KernelClass>(kind), kernel.seconds});
            pass.compute_s += kernel.seconds;
        }
        pass.segments.push_back(std::move(segment));
    }
    return pass;
}

inline ExecutionGraph brute_force_graph(const BruteForceJob& job, const NoiseTables& noise)
{
    ExecutionGraph graph = empty_graph(job.shape, job.overlapped ? DataParallelOverlap::on : DataParallelOverlap::off);
    graph.placement = {job.tp, job.shape.stages, job.replicas, 1, job.shape.stages, 8, job.coupled};
    PartCost layer;
    layer.forward = brute_force_pass(job.forward);
    layer.backward = brute_force_pass(job.backward);
    ChainLaws chains(noise.residual, noise.node_probability);
    const auto parts = static_cast<std::size_t>(job.shape.stages) * static_cast<std::size_t>(job.shape.chunks);
    for (std::size_t i = 0; i < 2 * parts; ++i) {
        const ChunkPass pass{i % 2 == 0 ? layer.forward : layer.backward, job.layers};
        OpLaw& law = graph.law[i];
        const std::size_t place =
            i / 2 % static_cast<std::size_t>(job.shape.chunks) * static_cast<std::size_t>(job.shape.stages) +
            i / 2 / static_cast<std::size_t>(job.shape.chunks);
        const bool fed = i % 2 == 0 ? place > 0 : place + 1 < parts;
        law.compute_s = static_cast<float>(pass.compute_s());
        law.transfer_s = fed ? static_cast<float>(job.transfer_s) : 0.0F;
        const ComposedPass& composed = chains.compose(pass, job.tp * job.coupled);
        for (const auto& [out, in] :
             {std::pair{&law.compute, &composed.compute}, std::pair{&law.communication, &composed.communication}}) {
            auto at = std::find(graph.shapes.begin(), graph.shapes.end(), in->shape);
            if (at == graph.shapes.end()) {
                at = graph.shapes.insert(at, in->shape);
            }
            *out = {static_cast<float>(in->mean_s), static_cast<float>(in->cv), static_cast<int>(at - graph.shapes.begin())};
        }
        graph.first_slot[i / 2] = static_cast<std::uint16_t>(1 + place * static_cast<std::size_t>(job.layers));
        graph.reduce_scatter_s[i / 2] = static_cast<float>(job.reduce_s);
        graph.all_gather_s[i / 2] = static_cast<float>(job.gather_s);
    }
    graph.group = noise.group_factor(job.tp, segment_cv(layer, noise.residual));
    graph.group_mean = graph.group.mean();
    if (job.coupled > 1) {
        const std::array typical{ChunkPass{layer.forward, 1}, ChunkPass{layer.backward, 1}};
        graph.coupled = coupled_law(chains, typical, job.tp, job.coupled);
    }
    return graph;
}

}  // namespace prismopt

#pragma once

/// Jobs of equal layers for brute force (brute_force_job.hpp), and the sampler's view of them: a
/// graph with composed distributions.

#include "tests/support/brute_force_job.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/residual_distributions.hpp"

#include "model/distribution/chain_distribution.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace prismopt {

/// Kernels' residual distributions: lognormal of these coefficients of variation, all different.
inline constexpr ResidualCvs brute_force_cv{.gemm = 0.03, .attention = 0.05, .elementwise = 0.10};

inline BruteForceKernel brute_force_kernel(KernelClass kind, double seconds)
{
    const KernelClass outer = outermost(kind);
    return {seconds, outer == KernelClass::gemm        ? brute_force_cv.gemm
                     : outer == KernelClass::attention ? brute_force_cv.attention
                                                       : brute_force_cv.elementwise};
}

inline KernelClass class_with(double cv)
{
    return cv == brute_force_cv.gemm        ? KernelClass::gemm
           : cv == brute_force_cv.attention ? KernelClass::attention
                                            : KernelClass::elementwise;
}

inline NoiseTables brute_force_noise(const BruteForceJob& job)
{
    Variability v;
    v.gpu = {Normal{job.gpu_cv}, {job.slow_probability, job.slow_excess}, 20.0, "test"};
    v.stage = {LogNormal{job.stage_cv}, {}, 20.0, "test"};
    v.microbatch = {LogNormal{job.microbatch_cv}, {}, 20.0, "test"};
    set_residuals(brute_force_cv, v);
    return build_noise_tables(v, std::array{job.widths.tensor * job.widths.context});
}

/// A chunk of equal layers in all parts, and times of the collectives.
struct EqualLayers {
    BruteForceLayer forward;
    BruteForceLayer backward;
    int layers = 1;  // of a chunk
    double transfer_s = 0.0;
    double gather_s = 0.0;
    double reduce_s = 0.0;
};

/// Whether another chunk feeds this pass. Chunks: stage * chunks + chunk, the network goes by stage first.
inline bool is_fed(const ScheduleShape& shape, std::size_t pass)
{
    const auto chunks = static_cast<std::size_t>(shape.chunks);
    const auto stages = static_cast<std::size_t>(shape.stages);
    const std::size_t place = pass / 2 % chunks * stages + pass / 2 / chunks;
    return pass % 2 == 0 ? place > 0 : place + 1 < stages * chunks;
}

inline void set_passes(const EqualLayers& equal, BruteForceJob& job)
{
    const auto stage_chunks =
        static_cast<std::size_t>(job.shape.stages) * static_cast<std::size_t>(job.shape.chunks);
    job.gather_s.assign(stage_chunks, equal.gather_s);
    job.reduce_s.assign(stage_chunks, equal.reduce_s);
    job.passes.clear();
    for (std::size_t i = 0; i < 2 * stage_chunks; ++i) {
        const BruteForceLayer& layer = i % 2 == 0 ? equal.forward : equal.backward;
        job.passes.push_back({{static_cast<std::size_t>(equal.layers), layer},
                              0.0,
                              is_fed(job.shape, i) ? equal.transfer_s : 0.0});
    }
}

inline PassCost brute_force_cost(const BruteForceLayer& layer)
{
    PassCost pass;
    for (const BruteForceSegment& simulated : layer) {
        Segment segment;
        for (const BruteForceKernel& kernel : simulated.kernels) {
            segment.push_back({class_with(kernel.cv), kernel.seconds});
            pass.compute_s += kernel.seconds;
        }
        pass.segments.push_back(std::move(segment));
        pass.ends.push_back(simulated.end);
    }
    return pass;
}

/// The graph of a job of equal layers.
inline ExecutionGraph brute_force_graph(const BruteForceJob& job, const NoiseTables& noise)
{
    ExecutionGraph graph =
        empty_graph(job.shape, job.overlapped ? DataParallelOverlap::on : DataParallelOverlap::off);
    graph.placement = {job.widths.tensor * job.widths.context,
                       job.shape.stages,
                       job.replicas,
                       1,
                       job.shape.stages,
                       8,
                       job.widths.replicas()};
    const auto layers = static_cast<int>(job.passes[0].layers.size());
    LayerCost layer;
    layer.forward = brute_force_cost(job.passes[0].layers[0]);
    layer.backward = brute_force_cost(job.passes[1].layers[0]);
    ChainDistributions chains(noise.residual, noise.node_probability, noise.operation);
    const std::array passes{ChunkPass{layer.forward, layers}, ChunkPass{layer.backward, layers}};
    const std::vector<ComposedDuration> compute = set_durations(chains, passes, job.widths);
    for (std::size_t i = 0; i < job.passes.size(); ++i) {
        OpDistribution& distribution = graph.distribution[i];
        distribution.compute_s = static_cast<float>(passes[i % 2].compute_s());
        distribution.transfer_s = static_cast<float>(job.passes[i].transfer_s);
        const ComposedPass& composed = chains.compose(passes[i % 2], job.widths);
        for (const auto& [out, in] : {std::pair{&distribution.compute, &compute[i % 2]},
                                      std::pair{&distribution.communication, &composed.communication}}) {
            auto at = std::find(graph.shapes.begin(), graph.shapes.end(), in->shape);
            if (at == graph.shapes.end()) {
                at = graph.shapes.insert(at, in->shape);
            }
            *out = {static_cast<float>(in->mean_s), static_cast<float>(in->cv),
                    static_cast<int>(at - graph.shapes.begin())};
        }
        graph.first_slot[i / 2] = static_cast<std::uint16_t>(1 + i / 2 * static_cast<std::size_t>(layers));
        graph.reduction[i / 2] = {static_cast<float>(job.reduce_s[i / 2])};
        graph.gathering[i / 2] = {static_cast<float>(job.gather_s[i / 2])};
    }
    graph.group = noise.group_factor(graph.placement.tp, segment_cv(layer, noise.residual, job.widths));
    graph.group_mean = graph.group.mean();
    if (job.widths.replicas() > 1) {
        graph.coupled = coupled_distribution(chains, passes, job.widths);
    }
    return graph;
}

}  // namespace prismopt

/// Time to compose the distribution of a pass. Composed distributions are kept: each is needed once a study.

#include "model/distribution/chain_distribution.hpp"
#include "model/distribution/distribution.hpp"

#include <benchmark/benchmark.h>

namespace prismopt {
namespace {

/// Arguments: layers, members at a barrier, kernels' cv and cap, in percent. Each layer has seven
/// segments of one to four kernels.
void compose_chain(benchmark::State& state)
{
    const Distribution distribution{LogNormal{0.01 * static_cast<double>(state.range(2))},
                                    {},
                                    0.01 * static_cast<double>(state.range(3)),
                                    ""};
    ResidualDistributions residual;
    residual.fill(KernelDistribution(
        [q = DistributionQuantile(distribution)](double p, bool upper) { return q(p, upper); }));
    PassCost layer;
    for (int kernels : {1, 3, 2, 1, 4, 2, 3}) {
        Segment& segment = layer.segments.emplace_back();
        for (int k = 0; k < kernels; ++k) {
            segment.push_back({KernelClass::gemm, 1e-3 * (1.0 + 0.37 * k)});
        }
    }
    layer.exposed.assign(6, {2e-4, {{KernelClass::tensor_all_reduce, 1.0}}});
    for (auto _ : state) {
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        benchmark::DoNotOptimize(
            chains.compose({layer, static_cast<int>(state.range(0))}, static_cast<int>(state.range(1))));
    }
}
BENCHMARK(compose_chain)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"layers", "width", "cv", "cap"})
    ->Args({8, 8, 3, 2000})
    ->Args({80, 16, 3, 2000})
    ->Args({8, 8, 100, 2000})
    ->Args({80, 16, 100, 2000})
    ->Args({80, 16, 100, 100000});

}  // namespace
}  // namespace prismopt

/// A recommendation network on 128 A100 part by part, beside MAD-Max (Hsia et al., arXiv 2310.02784; figures from the notebook of
/// facebookresearch/ScaleExplorer, madmax): its constants, and where its counts are not ours, why.

#include "io/scenario/scenario.hpp"
#include "model/hardware/collective.hpp"
#include "model/network/layer_cost.hpp"
#include "model/network/network.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

constexpr int gpus = 128;
constexpr int samples = 65'536 / gpus;  // of a GPU
constexpr double tf32_flops = 0.705 * 156e12;
constexpr double columns = 94.0;
constexpr double tables = 4096.0;
constexpr double lookups = 61'440.0;

/// ZionEX as its system file has it, with its rate of 32-bit products for numbers sent in 16 bits: effective shares in the rates, no latencies, 200 GB/s in a node and 7 GB/s out of it for each GPU.
Cluster zionex()
{
    Cluster c;
    c.accelerator.peak_bf16 = FlopsPerSecond{tf32_flops};
    c.accelerator.multiprocessors = 108;
    c.accelerator.memory_bandwidth = BytesPerSecond{0.836 * 1555e9};
    c.accelerator.efficiency = {1.0, 1.0, 1.0, 1.0};
    c.gpus = gpus;
    c.tiers = {{"node", 8, BytesPerSecond{200e9}, 1.0, Seconds{0.0}, 1.0},
               {"cluster", gpus, BytesPerSecond{7e9}, 1.0, Seconds{0.0}, 1.0}};
    return c;
}

/// Seconds of all layers, forward and backward, of one class of kernels.
double seconds_of(KernelClass kernel)
{
    LayerShape shape;
    shape.sequence = 1;
    shape.microbatch = samples;
    shape.ep = gpus;
    const LayerCosts costs = layer_costs(network_of(catalog_workload("dlrm-a")), Precision::bf16, shape, zionex());
    double sum = 0.0;
    for (const int layer : costs.layers) {
        for (const PassCost* pass : {&costs.kinds[layer].forward, &costs.kinds[layer].backward}) {
            for (const Segment& segment : pass->segments) {
                for (const Kernel& own : segment) {
                    sum += own.kind == kernel ? own.seconds : 0.0;
                }
            }
            for (const Exposed& message : pass->exposed) {
                sum += message.parts.front().kind == kernel ? message.seconds : 0.0;
            }
        }
    }
    return sum;
}

/// 8.91 ms: the same FLOPs. Ours takes longer, in whole waves of tiles, and at half the rate where 3994 columns are not aligned.
TEST(MadMax, ProductsAreOfTheSameFlops)
{
    const double flops = 3.0 * 20.0 * 2.0 * samples * 3994.0 * 3994.0;
    EXPECT_NEAR(flops / tf32_flops, 8.91e-3, 1e-5);
    const double ours = seconds_of(KernelClass::gemm) / 8.91e-3;
    EXPECT_GT(ours, 2.0);
    EXPECT_LT(ours, 3.2);
}

/// 9.10 ms: it reads the rows once each way. Ours also writes the sums, and in the backward pass reads their gradients and writes rows.
TEST(MadMax, LookupsMoveMoreHere)
{
    const double read_once = 2.0 * samples * lookups * columns * 2.0 / (0.836 * 1555e9);
    EXPECT_NEAR(read_once, 9.10e-3, 1e-5);
    const double ours = (4.0 * lookups + tables) / (2.0 * lookups);
    EXPECT_NEAR(seconds_of(KernelClass::lookup), ours * read_once, 1e-3 * read_once);
}

/// 26.40 ms: twice the bytes of the rows that are read over the GPUs, each way, 92 MB. What a GPU has to get are the sums of all tables for its
/// own samples, 394 MB each way whatever the number of rows that each sums, and first come the indices, 252 MB.
TEST(MadMax, ExchangesCarrySumsAndIndicesHere)
{
    const double bytes = 2.0 * samples * lookups * columns * 2.0 / gpus;
    EXPECT_NEAR(2.0 * bytes / 7e9, 26.40e-3, 5e-5);
    EXPECT_NEAR(bytes, 92.4e6, 0.1e6);
    const double sums = samples * tables * columns * 2.0;
    EXPECT_NEAR(sums, 394e6, 1e6);
    EXPECT_NEAR(samples * lookups * 8.0, 252e6, 1e6);
    const double leaving = (gpus - 8.0) / gpus;  // of a GPU's messages
    const double expected = leaving * (2.0 * sums + samples * lookups * 8.0) / 7e9;
    EXPECT_NEAR(seconds_of(KernelClass::expert_all_to_all), expected, 0.05 * expected);
}

/// 21.27 ms: all gradients once, at 60 GB/s: a share of the node's bandwidth and the rest of what leaves it. Ours takes each number through
/// rings over all members twice, all of whose channels leave a node by its eight ports together.
TEST(MadMax, GradientsGoRoundRingsHere)
{
    const double gradients = 20.0 * 3994.0 * 3994.0 * 4.0;
    EXPECT_NEAR(gradients / 60e9, 21.27e-3, 1e-5);
    const double rings = 2.0 * (gpus - 1.0) / gpus * gradients / (8.0 * 7e9);
    EXPECT_NEAR(collective_time(Collective::all_reduce, Bytes{gradients}, {gpus, 1}, zionex()).time.si, rings, 1e-3 * rings);
}

}  // namespace
}  // namespace prismopt

#include "model/hardware/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// A tile shape and the share of the best tile's rate that it reaches: smaller tiles read more per operation.
/// That larger tiles run faster is in NVIDIA's matrix multiplication guide; the shares here are assumptions, not measured.
struct Tile {
    double m;
    double n;
    double rate;
};
constexpr std::array<Tile, 5> tiles{{{256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.95}, {128, 64, 0.8}, {64, 64, 0.6}}};

/// Inner steps that fill and drain a tile's pipeline (four stages of 32); assumption, of little effect for k > 1,000.
constexpr double pipeline_k = 64.0;

double short_k(double k) { return k / (k + pipeline_k); }

}  // namespace

Seconds gemm_time(double m, double n, double k, const Accelerator& accelerator)
{
    const double per_multiprocessor =
        accelerator.peak_bf16.si * accelerator.efficiency.gemm * short_k(k) / accelerator.multiprocessors;
    double compute_s = std::numeric_limits<double>::infinity();
    for (const Tile& tile : tiles) {
        const double count = std::ceil(m / tile.m) * std::ceil(n / tile.n);
        const double waves = std::ceil(count / accelerator.multiprocessors);
        compute_s = std::min(compute_s, waves * 2.0 * tile.m * tile.n * k / (per_multiprocessor * tile.rate));
    }
    const double traffic = 2.0 * (m * k + k * n + m * n);
    const double memory_s = traffic / (accelerator.memory_bandwidth.si * accelerator.efficiency.memory);
    return Seconds{std::max(compute_s, memory_s)} + accelerator.launch;
}

Seconds elementwise_time(Bytes traffic, const Accelerator& accelerator)
{
    return traffic / (accelerator.memory_bandwidth * accelerator.efficiency.memory) + accelerator.launch;
}

Seconds batched_gemm_time(Flops work, double k, const Accelerator& accelerator)
{
    return work / (accelerator.peak_bf16 * (accelerator.efficiency.gemm * short_k(k))) + accelerator.launch;
}

Seconds fused_attention_time(Flops work, bool backward, const Accelerator& accelerator)
{
    const double efficiency = backward ? accelerator.efficiency.attention_backward : accelerator.efficiency.attention;
    return work / (accelerator.peak_bf16 * efficiency) + accelerator.launch;
}

}  // namespace prismopt

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

/// 16-bit numbers in the 16 bytes to which rows must be aligned for tensor cores.
/// Source: NVIDIA, "Matrix Multiplication Background User's Guide", section on tensor core requirements.
constexpr double tensor_core_alignment = 8.0;

double short_k(double k) { return k / (k + pipeline_k); }

/// Share of the rate that products with misaligned rows reach on tensor cores: loads of 2 bytes in place of 16. From cuBLAS 11
/// they run, "but efficiency is better" with aligned rows (the same section); the size is an assumption, within the factors of
/// two to four of the guide's figure.
constexpr double misaligned_rate = 0.5;

bool aligned(double n) { return n - tensor_core_alignment * std::floor(n / tensor_core_alignment) == 0.0; }

}  // namespace

double operand_bytes(Precision precision)
{
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32: return 4.0;
        case Precision::fp8: return 1.0;
        case Precision::nvfp4: return 0.5625;  // 4 bits, and an 8-bit scale for each 16 numbers (NVIDIA, NVFP4)
        case Precision::bf16: break;
    }
    return 2.0;
}

Seconds gemm_time(double m, double n, double k, const Accelerator& accelerator, Precision precision)
{
    return grouped_gemm_time(1.0, m, n, k, accelerator, precision);
}

Seconds grouped_gemm_time(double groups, double m, double n, double k, const Accelerator& accelerator, Precision precision)
{
    const Efficiency& share = accelerator.efficiency;
    const bool low = precision == Precision::fp8 || precision == Precision::nvfp4;
    const double efficiency = low && share.gemm_low > 0.0 ? share.gemm_low : share.gemm;
    // Experts of a mixture are padded to whole tiles.
    const double alignment = groups > 1.0 || (aligned(n) && aligned(k)) ? 1.0 : misaligned_rate;
    const double per_multiprocessor =
        accelerator.sustained(accelerator.peak(precision)).si * efficiency * alignment * short_k(k) / accelerator.multiprocessors;
    double compute_s = std::numeric_limits<double>::infinity();
    for (const Tile& tile : tiles) {
        const double count = groups * std::ceil(m / tile.m) * std::ceil(n / tile.n);
        const double waves = std::ceil(count / accelerator.multiprocessors);
        compute_s = std::min(compute_s, waves * 2.0 * tile.m * tile.n * k / (per_multiprocessor * tile.rate));
    }
    const double bytes = operand_bytes(precision);
    const double traffic = groups * (bytes * (m * k + k * n) + std::max(bytes, 2.0) * m * n);
    const double memory_s = traffic / (accelerator.memory_bandwidth.si * share.memory);
    return Seconds{std::max(compute_s, memory_s)} + accelerator.launch;
}

Seconds elementwise_time(Bytes traffic, const Accelerator& accelerator)
{
    return traffic / (accelerator.memory_bandwidth * accelerator.efficiency.memory) + accelerator.launch;
}

Seconds batched_gemm_time(Flops work, double k, const Accelerator& accelerator)
{
    if (!aligned(k) && accelerator.peak_fp32.si > 0.0) {
        return work / (accelerator.sustained(accelerator.peak_fp32) * accelerator.efficiency.gemm) + accelerator.launch;
    }
    return work / (accelerator.sustained(accelerator.peak_bf16) * (accelerator.efficiency.gemm * short_k(k))) +
           accelerator.launch;
}

Seconds fused_attention_time(Flops work, bool backward, const Accelerator& accelerator)
{
    const double efficiency = backward ? accelerator.efficiency.attention_backward : accelerator.efficiency.attention;
    return work / (accelerator.sustained(accelerator.peak_bf16) * efficiency) + accelerator.launch;
}

}  // namespace prismopt

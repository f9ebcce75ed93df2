#include "model/hardware/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// A tile shape and the share of the best tile's rate that it reaches: smaller tiles read more per operation.
/// That larger tiles run faster is in NVIDIA's matrix multiplication guide; the shares here
/// are assumptions, not measured.
struct Tile {
    double m;
    double n;
    double rate;
};
constexpr std::array<Tile, 5> tiles{
    {{256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.95}, {128, 64, 0.8}, {64, 64, 0.6}}};

/// Inner steps that fill and drain a tile's pipeline, in 16 bits and in fewer, whose steps of k are as many
/// but two or four times shorter, and the part of a last wave that stays idle: kernels split k or keep their
/// blocks. Chosen by a fit to products of A100, H100, B200, GB200 and B300 (ai-dynamo/aiconfigurator, commit
/// 095f58a5); errors: results/components.md.
constexpr double pipeline_k = 100.0;
constexpr double pipeline_k_fp8 = 400.0;
constexpr double pipeline_k_nvfp4 = 150.0;
constexpr double idle_of_last_wave = 0.22;

/// Fused attention works on blocks of queries, each of which costs as much as so many keys more, and
/// the last of which keep so many multiprocessors waiting. Chosen by a fit to causal forward passes
/// of at least 1,024 tokens on the same GPUs (same tables); backward passes walk the same blocks.
/// Shares are those of heads of 128.
constexpr double block_queries = 128.0;
constexpr double block_keys = 420.0;
constexpr double block_keys_latent = 35.0;
constexpr double last_blocks = 2.0;
constexpr double usual_head = 128.0;

/// Rate of products with scales of 32 numbers over those with one for each tensor, operands cast before:
/// 6.812 over 7.161 ms for the products of a layer on B300 (NVIDIA/TransformerEngine,
/// docs/examples/gemm_profiling).
constexpr double mxfp8_over_fp8 = 0.951;

/// Rate of the products of scans, FLOP/s: on H100, B200, GB200, B300 and GB300 the fit finds 45 to
/// 50e12, as their kernels (state-spaces/mamba, ops/triton) are bound by what is between the
/// products and not by tensor cores.
constexpr double scan_rate = 48e12;

/// Inner steps that fill a batched product of short k; assumption.
constexpr double batched_k = 64.0;

/// 16-bit numbers in the 16 bytes to which rows must be aligned for tensor cores.
/// Source: NVIDIA, "Matrix Multiplication Background User's Guide", section on tensor core requirements.
constexpr double tensor_core_alignment = 8.0;

/// Inner steps that fill the pipeline of a product.
double pipeline_k_of(Precision precision)
{
    if (has_8_bits(precision)) {
        return pipeline_k_fp8;
    }
    return precision == Precision::nvfp4 ? pipeline_k_nvfp4 : pipeline_k;
}

double short_k(double k, Precision precision) { return k / (k + pipeline_k_of(precision)); }

/// Waves of so many tiles, of which some may stay idle in the last.
double waves_of(double tiles_per_multiprocessor)
{
    return tiles_per_multiprocessor +
           idle_of_last_wave * (std::ceil(tiles_per_multiprocessor) - tiles_per_multiprocessor);
}

/// Share of the rate that products with misaligned rows reach on tensor cores: loads of 2 bytes in place of
/// 16. From cuBLAS 11 they run, "but efficiency is better" with aligned rows (the same section); the size is
/// an assumption, within the factors of two to four of the guide's figure.
constexpr double misaligned_rate = 0.5;

/// Bandwidth at which products and fused attention read and write.
BytesPerSecond streamed(const Accelerator& accelerator)
{
    const Efficiency& share = accelerator.efficiency;
    return accelerator.memory_bandwidth * (share.stream > 0.0 ? share.stream : share.memory);
}

double share_of_products(const Efficiency& share, Precision precision)
{
    const double fp8 = share.gemm_fp8 > 0.0 ? share.gemm_fp8 : share.gemm;
    const auto known_or = [](double own, double other) { return own > 0.0 ? own : other; };
    switch (precision) {
        case Precision::fp8:
        case Precision::fp8_delayed:
        case Precision::fp8_current: return fp8;
        case Precision::fp8_blockwise: return known_or(share.gemm_fp8_block, fp8);
        case Precision::mxfp8: return known_or(share.gemm_mxfp8, mxfp8_over_fp8 * fp8);
        case Precision::nvfp4: return known_or(share.gemm_nvfp4, fp8);
        case Precision::fp32:
        case Precision::tf32:
        case Precision::bf16: break;
    }
    return share.gemm;
}

/// Time of an operation with heads of this size over that with heads of the usual one.
double softmax_of(double head, double columns)
{
    return columns > 0.0 ? (1.0 + columns / head) / (1.0 + columns / usual_head) : 1.0;
}

/// Time of an operation whose products take half of the time and whose softmax takes all, over that of the
/// whole. Measured from 8,192 tokens on, with heads of 128 and 64 (ai-dynamo/aiconfigurator, commit
/// 095f58a5): 0.73 and 0.86 on H100, here 0.74 and 0.83; 0.81 and 0.88 on B200, here 0.89 and 0.94.
double with_half_products(double head, double columns) { return (0.5 * head + columns) / (head + columns); }

bool aligned(double n) { return n - tensor_core_alignment * std::floor(n / tensor_core_alignment) == 0.0; }

}  // namespace

double operand_bytes(Precision precision)
{
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32: return 4.0;
        case Precision::fp8:
        case Precision::fp8_delayed:
        case Precision::fp8_current: return 1.0;
        // a scale of 32 bits for each 128 numbers
        case Precision::fp8_blockwise: return 1.0 + 4.0 / 128.0;
        // of 8 bits for each 32
        case Precision::mxfp8: return 1.0 + 1.0 / 32.0;
        // 4 bits, and an 8-bit scale for each 16 numbers (NVIDIA, NVFP4)
        case Precision::nvfp4: return 0.5625;
        case Precision::bf16: break;
    }
    return 2.0;
}

Seconds gemm_time(double m, double n, double k, const Accelerator& accelerator, Precision precision)
{
    return grouped_gemm_time(1.0, m, n, k, accelerator, precision);
}

Seconds grouped_gemm_time(double groups, double m, double n, double k, const Accelerator& accelerator,
                          Precision precision)
{
    const Efficiency& share = accelerator.efficiency;
    const double efficiency = share_of_products(share, precision);
    // Experts of a mixture are padded to whole tiles.
    const double alignment = groups > 1.0 || (aligned(n) && aligned(k)) ? 1.0 : misaligned_rate;
    const double per_multiprocessor = accelerator.sustained(accelerator.peak(precision)).si * efficiency *
                                      alignment * short_k(k, precision) / accelerator.multiprocessors;
    double compute_s = std::numeric_limits<double>::infinity();
    for (const Tile& tile : tiles) {
        const double count = groups * std::ceil(m / tile.m) * std::ceil(n / tile.n);
        const double waves = waves_of(count / accelerator.multiprocessors);
        compute_s = std::min(compute_s, waves * 2.0 * tile.m * tile.n * k / (per_multiprocessor * tile.rate));
    }
    const double bytes = operand_bytes(precision);
    const double traffic = groups * (bytes * (m * k + k * n) + std::max(bytes, 2.0) * m * n);
    const double memory_s = traffic / streamed(accelerator).si;
    // With 4 bits, results in 16 bits take as long as products, and are not hidden behind them.
    const bool sums = precision == Precision::nvfp4;
    return Seconds{sums ? compute_s + memory_s : std::max(compute_s, memory_s)} + accelerator.launch;
}

Seconds cast_time(Bytes traffic, const Accelerator& accelerator)
{
    const Efficiency& share = accelerator.efficiency;
    return traffic / (accelerator.memory_bandwidth * (share.cast > 0.0 ? share.cast : share.memory)) +
           accelerator.launch;
}

Seconds elementwise_time(Bytes traffic, const Accelerator& accelerator)
{
    return traffic / (accelerator.memory_bandwidth * accelerator.efficiency.memory) + accelerator.launch;
}

Seconds batched_gemm_time(Flops work, double k, const Accelerator& accelerator)
{
    if (!aligned(k) && accelerator.peak_fp32.si > 0.0) {
        return work / (accelerator.sustained(accelerator.peak_fp32) * accelerator.efficiency.gemm) +
               accelerator.launch;
    }
    return work / (accelerator.sustained(accelerator.peak_bf16) *
                   (accelerator.efficiency.gemm * k / (k + batched_k))) +
           accelerator.launch;
}

Seconds fused_attention_time(const AttentionWork& work, bool backward, const Accelerator& accelerator)
{
    const Efficiency& share = accelerator.efficiency;
    const bool latent = work.key_size != work.value_size;
    const double of_latent =
        latent && share.attention_latent > 0.0 ? share.attention_latent / share.attention : 1.0;
    const double efficiency = of_latent * (backward ? share.attention_backward : share.attention);
    const double head = 0.5 * (work.key_size + work.value_size);
    const double softmax = latent ? 1.0 : softmax_of(head, accelerator.softmax_columns);
    const double of_blocks = 1.0 + (latent ? block_keys_latent : block_keys) / work.keys;
    const double blocks = std::max(1.0, work.queries / block_queries);
    const double waiting = 1.0 + last_blocks * accelerator.multiprocessors / blocks;
    const double of_bits = work.in_8_bits ? with_half_products(head, accelerator.softmax_columns) : 1.0;
    const Seconds products = work.flops / (accelerator.sustained(accelerator.peak_bf16) * efficiency);
    return products * (softmax * of_blocks * waiting * of_bits) + work.traffic / streamed(accelerator) +
           accelerator.launch;
}

Seconds scan_time(Flops work, const Accelerator& accelerator)
{
    const Efficiency& share = accelerator.efficiency;
    const FlopsPerSecond peak = accelerator.sustained(accelerator.peak_bf16);
    const FlopsPerSecond rate = share.scan > 0.0
                                    ? peak * share.scan
                                    : FlopsPerSecond{std::min((peak * share.attention).si, scan_rate)};
    return work / rate + accelerator.launch;
}

}  // namespace prismopt

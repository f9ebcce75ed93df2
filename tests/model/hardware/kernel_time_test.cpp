#include "model/hardware/kernel_time.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

using namespace literals;

/// 100 multiprocessors of 1 TFLOP/s, 1 TB/s; launches free.
Accelerator plain()
{
    Accelerator a;
    a.peak_bf16 = 100_TFLOP_per_s;
    a.multiprocessors = 100;
    a.memory_bandwidth = 1000_GB_per_s;
    a.efficiency = {0.8, 0.5, 0.4, 0.9};
    a.efficiency.stream = 0.8;
    return a;
}

double roof(double m, double n, double k) { return 2.0 * m * n * k / (100e12 * 0.8); }

/// 100 tiles of 256 x 128 fill the machine once, whatever the way they are laid out.
TEST(Gemm, OfWholeWavesRunsAtTheRoof)
{
    const double k = 65536.0;  // filling the pipeline costs a thousandth or two
    EXPECT_NEAR(gemm_time(2560, 1280, k, plain()).si / roof(2560, 1280, k), 1.0, 2e-3);
    EXPECT_NEAR(gemm_time(25600, 12800, k, plain()).si / roof(25600, 12800, k), 1.0, 2e-3);
}

/// One row more takes a row of tiles, most of whose wave the others share: some percent, not another wave.
TEST(Gemm, PaysForAPartialWave)
{
    const double k = 65536.0;
    const double one = gemm_time(2560, 1280, k, plain()).si;
    const double more = gemm_time(2561, 1280, k, plain()).si;
    EXPECT_GT(more, 1.05 * one);
    EXPECT_LE(more, 1.4 * one);
    // The same tiles.
    EXPECT_NEAR(gemm_time(2561, 1280, k, plain()).si, gemm_time(2600, 1280, k, plain()).si, 1e-12);
}

/// A vocabulary that nobody padded: one column more than a multiple of 8 doubles the
/// time, seven more bring it back.
TEST(Gemm, PaysForRowsThatAreNotAligned)
{
    const double k = 65536.0;
    const double whole = gemm_time(2560, 51200, k, plain()).si;
    EXPECT_NEAR(gemm_time(2560, 51193, k, plain()).si, 2.0 * whole, 1e-9 * whole);
    EXPECT_NEAR(gemm_time(2560, 51192, k, plain()).si, whole, 1e-9 * whole);
    EXPECT_NEAR(gemm_time(2560, 51200, k - 1.0, plain()).si, 2.0 * whole, 1e-4 * whole);
    EXPECT_NEAR(grouped_gemm_time(8, 2560, 1280, 4097.5, plain()).si,
                grouped_gemm_time(8, 2560, 1280, 4096, plain()).si,
                1e-3 * whole);  // experts are padded
}

TEST(Gemm, GrowsWithEveryDimensionAndNeverBeatsTheRoofs)
{
    for (const double n : {64.0, 1000.0, 12288.0}) {
        for (const double k : {32.0, 128.0, 4096.0}) {
            double last = 0.0;
            for (int i = 0; i < 56; ++i) {
                const double m = std::ceil(16.0 * std::pow(1.17, i));
                const double t = gemm_time(m, n, k, plain()).si;
                EXPECT_GE(t, last);
                EXPECT_GE(t, roof(m, n, k));
                EXPECT_GE(t, 2.0 * (m * k + k * n + m * n) / (1e12 * 0.8) * (1.0 - 1e-12));
                EXPECT_LE(t, gemm_time(m, 2.0 * n, k, plain()).si);
                EXPECT_LE(t, gemm_time(m, n, 2.0 * k, plain()).si);
                last = t;
            }
        }
    }
}

/// A vector times a matrix reads the matrix: 2 x 8192 x 8192 bytes, here at 80 GB/s.
TEST(Gemm, WithOneRowIsBoundByMemory)
{
    Accelerator a = plain();
    a.memory_bandwidth = 100_GB_per_s;
    EXPECT_NEAR(gemm_time(1, 8192, 8192, a).si, 2.0 * (8192.0 * 8192.0 + 2.0 * 8192.0) / 80e9, 1e-9);
}

TEST(Kernels, HaveTheirRoofAndLaunch)
{
    Accelerator a = plain();
    EXPECT_NEAR(elementwise_time(9_GB, a).si, 0.01, 1e-12);
    EXPECT_NEAR(scan_time(Flops{1e12}, a).si, 1e12 / 48e12, 1e-12);
    const AttentionWork long_sequences{Flops{1e12}, 1e9, 1e9};  // blocks cost nothing beside it
    EXPECT_NEAR(fused_attention_time(long_sequences, false, a).si, 0.02, 1e-6);
    EXPECT_NEAR(fused_attention_time(long_sequences, true, a).si, 0.025, 1e-6);
    // k is as short as the pipeline: half the rate.
    EXPECT_NEAR(batched_gemm_time(Flops{1e12}, 64.0, a).si, 0.025, 1e-12);
    a.launch = 10_us;
    EXPECT_NEAR(elementwise_time(Bytes{0.0}, a).si, 10e-6, 1e-15);
    EXPECT_NEAR(gemm_time(2560, 1280, 64, a).si - gemm_time(2560, 1280, 64, plain()).si, 10e-6, 1e-12);
    EXPECT_NEAR(fused_attention_time({Flops{0.0}, 1.0, 1.0}, true, a).si, 10e-6, 1e-15);
}

/// Each block of queries costs so many keys more, and the last blocks keep multiprocessors waiting.
TEST(Kernels, AttentionPaysForItsBlocks)
{
    const Accelerator a = plain();
    const auto time = [&a](double queries, double keys) {
        return fused_attention_time({Flops{2.0 * queries * keys * 256.0}, queries, keys}, false, a).si;
    };
    const auto rate = [&time](double queries, double keys) { return queries * keys / time(queries, keys); };
    EXPECT_NEAR(rate(1e9, 420.0) / rate(1e9, 1e9), 0.5, 1e-3);          // twice the time of its keys
    EXPECT_NEAR(rate(128.0 * 200.0, 1e9) / rate(1e9, 1e9), 0.5, 1e-3);  // twice 100 multiprocessors
    EXPECT_GT(rate(1e6, 8192.0), rate(1e6, 1024.0));
    // The backward pass walks the same blocks: at equal work its time is the forward
    // pass's by the ratio of the shares.
    const AttentionWork few{Flops{1e9}, 256.0, 300.0};
    EXPECT_NEAR(fused_attention_time(few, true, a) / fused_attention_time(few, false, a), 0.5 / 0.4, 1e-12);
}

/// A softmax that takes as long as 128 columns of products: heads of 64 run at two
/// thirds of the rate of heads of 128.
TEST(Kernels, SmallHeadsPayForTheirSoftmax)
{
    Accelerator a = plain();
    const auto time = [&a](double key_size, double value_size) {
        return fused_attention_time({Flops{1e12}, 1e9, 1e9, key_size, value_size}, false, a).si;
    };
    EXPECT_DOUBLE_EQ(time(64.0, 64.0), time(128.0, 128.0));
    a.softmax_columns = 128.0;
    EXPECT_NEAR(time(64.0, 64.0) / time(128.0, 128.0), 1.5, 1e-12);
    a.efficiency.attention_latent = 0.5 * a.efficiency.attention;
    EXPECT_NEAR(time(192.0, 128.0) / time(128.0, 128.0), 2.0, 1e-6);
}

/// Products of 8 bits take half of the time, the softmax takes all of it: public kernels gain so much with
/// heads of 128 and 64 (ai-dynamo/aiconfigurator, commit 095f58a5), within a tenth.
TEST(Kernels, AttentionIn8BitsKeepsItsSoftmax)
{
    Accelerator a = plain();
    const auto gain = [&a](double head) {
        AttentionWork work{Flops{1e12}, 1e9, 1e9, head, head};
        const Seconds wide = fused_attention_time(work, false, a);
        work.in_8_bits = true;
        return wide / fused_attention_time(work, false, a);
    };
    EXPECT_NEAR(gain(128.0), 2.0, 1e-9);
    a.softmax_columns = 128.0;
    EXPECT_NEAR(gain(128.0), 2.0 / 1.5, 1e-9);
    a.softmax_columns = 120.0;  // h100-sxm
    EXPECT_NEAR(gain(128.0), 1.37, 0.137);
    EXPECT_NEAR(gain(64.0), 1.16, 0.116);
    a.softmax_columns = 440.0;  // b200-sxm
    EXPECT_NEAR(gain(128.0), 1.23, 0.123);
    EXPECT_NEAR(gain(64.0), 1.14, 0.114);
}

TEST(Kernels, AttentionMovesItsBytes)
{
    const Accelerator a = plain();
    const AttentionWork work{Flops{1e12}, 1e9, 1e9, 128.0, 128.0};
    AttentionWork moving = work;
    moving.traffic = 800_GB;
    EXPECT_NEAR(fused_attention_time(moving, false, a).si - fused_attention_time(work, false, a).si, 1.0,
                1e-12);
}

TEST(Kernels, CastsHaveAShareOfTheirOwn)
{
    Accelerator a = plain();
    EXPECT_DOUBLE_EQ(cast_time(9_GB, a).si, elementwise_time(9_GB, a).si);
    a.efficiency.cast = 0.5 * a.efficiency.memory;
    EXPECT_DOUBLE_EQ(cast_time(9_GB, a).si, 2.0 * elementwise_time(9_GB, a).si);
}

/// At twice the peak a product takes half the time, but for the fill of its pipeline; 4-bit products do not
/// hide their memory traffic. An accelerator says what it has.
TEST(Gemm, FollowsThePeakOfItsPrecision)
{
    Accelerator a = plain();
    a.peak_fp8 = FlopsPerSecond{2.0 * a.peak_bf16.si};
    const double n = 65536.0;
    const double fill = (n + 400.0) / (n + 100.0);
    const double wide = gemm_time(n, n, n, a).si;
    EXPECT_NEAR(gemm_time(n, n, n, a, Precision::fp8).si, 0.5 * fill * wide, 1e-6);
    a.efficiency.gemm_fp8 = 0.5 * a.efficiency.gemm;
    EXPECT_NEAR(gemm_time(n, n, n, a, Precision::fp8).si, fill * wide, 1e-6);
    a.peak_fp4 = FlopsPerSecond{4.0 * a.peak_bf16.si};
    a.efficiency.gemm_nvfp4 = a.efficiency.gemm;
    const double traffic = (2.0 * 0.5625 * n * n + 2.0 * n * n) / (1e12 * 0.8);
    EXPECT_NEAR(gemm_time(n, n, n, a, Precision::nvfp4).si, 0.25 * (n + 150.0) / (n + 100.0) * wide + traffic,
                1e-6);
    a.peak_fp4 = FlopsPerSecond{0.0};
    EXPECT_EQ(a.peak(Precision::bf16), a.peak_bf16);
    EXPECT_EQ(a.peak(Precision::nvfp4).si, 0.0);
    EXPECT_EQ(operand_bytes(Precision::tf32), 4.0);
}

/// Experts share waves: many small products take as long as their tiles together, not a wave each.
TEST(Gemm, GroupsShareTheirWaves)
{
    const Accelerator a = plain();
    EXPECT_EQ(grouped_gemm_time(1.0, 4096, 4096, 4096, a).si, gemm_time(4096, 4096, 4096, a).si);
    EXPECT_LT(grouped_gemm_time(16.0, 128, 512, 4096, a).si, 0.5 * 16.0 * gemm_time(128, 512, 4096, a).si);
}

/// A head of 150 numbers misses the tensor cores, one of 144 does not.
TEST(Kernels, HeadsOutOfLineRunAtThePeakOf32Bits)
{
    Accelerator a = plain();
    a.peak_fp32 = FlopsPerSecond{a.peak_bf16.si / 16.0};
    const double slow = batched_gemm_time(Flops{1e12}, 150.0, a).si;
    EXPECT_NEAR(slow, 1e12 / (a.peak_fp32.si * a.efficiency.gemm), 1e-12);
    EXPECT_LT(batched_gemm_time(Flops{1e12}, 144.0, a).si, slow / 8.0);
}

TEST(Stacks, ChooseTheKindOf8Bits)
{
    EXPECT_EQ(kind_of(Precision::fp8, {}), Precision::fp8_current);
    EXPECT_EQ(kind_of(Precision::fp8, {.fp8 = Precision::fp8_delayed}), Precision::fp8_delayed);
    EXPECT_EQ(kind_of(Precision::mxfp8, {.fp8 = Precision::fp8_delayed}), Precision::mxfp8);
}

/// Large products take as long as their share of the peak says; one that is not known comes from
/// that of a scale for each tensor.
TEST(Kernels, KindsOf8BitsHaveSharesOfTheirOwn)
{
    Accelerator a = plain();
    a.peak_fp8 = a.peak_bf16 * 2.0;
    a.peak_fp4 = a.peak_bf16 * 4.0;
    a.efficiency.gemm_fp8 = 0.8;
    const auto time = [&a](Precision precision) { return gemm_time(32768, 32768, 32768, a, precision).si; };
    const double current = time(Precision::fp8_current);
    EXPECT_EQ(time(Precision::fp8_delayed), current);
    EXPECT_EQ(time(Precision::fp8_blockwise), current);
    EXPECT_NEAR(time(Precision::mxfp8) / current, 1.0 / 0.951, 1e-4);
    a.efficiency.gemm_fp8_block = 0.4;
    a.efficiency.gemm_mxfp8 = 0.6;
    EXPECT_NEAR(time(Precision::fp8_blockwise) / current, 2.0, 1e-3);
    EXPECT_NEAR(time(Precision::mxfp8) / current, 0.8 / 0.6, 1e-3);
    a.peak_fp4 = FlopsPerSecond{0.0};  // no scales of blocks
    EXPECT_EQ(a.peak(Precision::mxfp8).si, 0.0);
}

/// A share of the peak where one is known, else the rate that accelerators share.
TEST(Kernels, ScansRunAtTheirOwnRate)
{
    Accelerator a = plain();
    a.peak_bf16 = FlopsPerSecond{1e15};
    a.launch = 0_us;
    EXPECT_NEAR(scan_time(Flops{48e12}, a).si, 1.0, 1e-12);
    a.efficiency.scan = 0.1;
    EXPECT_NEAR(scan_time(Flops{48e12}, a).si, 0.48, 1e-12);
}

TEST(Stacks, MultiplyWhatAnAcceleratorReaches)
{
    const Accelerator a = plain();
    SoftwareStack stack;
    stack.gemm = 0.5;
    stack.memory = 0.25;
    stack.launch = 2_us;
    const Accelerator under_stack = under(a, stack);
    EXPECT_DOUBLE_EQ(under_stack.efficiency.gemm, 0.5 * a.efficiency.gemm);
    EXPECT_DOUBLE_EQ(under_stack.efficiency.memory, 0.25 * a.efficiency.memory);
    EXPECT_DOUBLE_EQ(under_stack.efficiency.attention, a.efficiency.attention);
    EXPECT_NEAR(under_stack.launch.si - a.launch.si, 2e-6, 1e-15);
    stack.network = 0.5;
    EXPECT_DOUBLE_EQ(under(NetworkTier{"node", 8, 100_GB_per_s, 0.8, 3_us, 1.0}, stack).efficiency, 0.4);
}

}  // namespace
}  // namespace prismopt

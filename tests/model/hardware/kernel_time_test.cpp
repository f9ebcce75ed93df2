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
    return a;
}

double roof(double m, double n, double k) { return 2.0 * m * n * k / (100e12 * 0.8); }

/// 100 tiles of 256 x 128 fill the machine once, whatever the way they are laid out.
TEST(Gemm, OfWholeWavesRunsAtTheRoof)
{
    const double k = 65536.0;  // filling the pipeline of 64 costs a thousandth
    EXPECT_NEAR(gemm_time(2560, 1280, k, plain()).si / roof(2560, 1280, k), 1.0, 1.1e-3);
    EXPECT_NEAR(gemm_time(25600, 12800, k, plain()).si / roof(25600, 12800, k), 1.0, 1.1e-3);
}

/// Tiles of 256 x 128: one more tile than the machine holds takes another wave, which a smaller tile may share out better.
TEST(Gemm, PaysForAPartWave)
{
    const double k = 65536.0;
    const double one = gemm_time(2560, 1280, k, plain()).si;
    const double more = gemm_time(2561, 1280, k, plain()).si;
    EXPECT_GT(more, 1.2 * one);
    EXPECT_LE(more, 2.0 * one);
    EXPECT_NEAR(gemm_time(2561, 1280, k, plain()).si, gemm_time(2600, 1280, k, plain()).si, 1e-12);  // the same tiles
}

/// A vocabulary that nobody padded: one column more than a multiple of 8 doubles the time, seven more bring it back.
TEST(Gemm, PaysForRowsThatAreNotAligned)
{
    const double k = 65536.0;
    const double whole = gemm_time(2560, 51200, k, plain()).si;
    EXPECT_NEAR(gemm_time(2560, 51193, k, plain()).si, 2.0 * whole, 1e-9 * whole);
    EXPECT_NEAR(gemm_time(2560, 51192, k, plain()).si, whole, 1e-9 * whole);
    EXPECT_NEAR(gemm_time(2560, 51200, k - 1.0, plain()).si, 2.0 * whole, 1e-4 * whole);
    EXPECT_NEAR(grouped_gemm_time(8, 2560, 1280, 4097.5, plain()).si, grouped_gemm_time(8, 2560, 1280, 4096, plain()).si,
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
                EXPECT_GE(t, 2.0 * (m * k + k * n + m * n) / (1e12 * 0.9) * (1.0 - 1e-12));
                EXPECT_LE(t, gemm_time(m, 2.0 * n, k, plain()).si);
                EXPECT_LE(t, gemm_time(m, n, 2.0 * k, plain()).si);
                last = t;
            }
        }
    }
}

/// A vector times a matrix reads the matrix: 2 x 8192 x 8192 bytes, here at 90 GB/s.
TEST(Gemm, WithOneRowIsBoundByMemory)
{
    Accelerator a = plain();
    a.memory_bandwidth = 100_GB_per_s;
    EXPECT_NEAR(gemm_time(1, 8192, 8192, a).si, 2.0 * (8192.0 * 8192.0 + 2.0 * 8192.0) / 90e9, 1e-9);
}

TEST(Kernels, HaveTheirRoofAndLaunch)
{
    Accelerator a = plain();
    EXPECT_NEAR(elementwise_time(9_GB, a).si, 0.01, 1e-12);
    EXPECT_NEAR(fused_attention_time(Flops{1e12}, false, a).si, 0.02, 1e-12);
    EXPECT_NEAR(fused_attention_time(Flops{1e12}, true, a).si, 0.025, 1e-12);
    EXPECT_NEAR(batched_gemm_time(Flops{1e12}, 64.0, a).si, 0.025, 1e-12);  // k as short as the pipeline: half the rate
    a.launch = 10_us;
    EXPECT_NEAR(elementwise_time(Bytes{0.0}, a).si, 10e-6, 1e-15);
    EXPECT_NEAR(gemm_time(2560, 1280, 64, a).si - gemm_time(2560, 1280, 64, plain()).si, 10e-6, 1e-12);
    EXPECT_NEAR(fused_attention_time(Flops{0.0}, true, a).si, 10e-6, 1e-15);
}

/// The same product at twice the peak takes half the time, less where its memory traffic sets the pace; an accelerator says what
/// it has.
TEST(Gemm, FollowsThePeakOfItsPrecision)
{
    Accelerator a = plain();
    a.peak_fp8 = FlopsPerSecond{2.0 * a.peak_bf16.si};
    EXPECT_NEAR(gemm_time(8192, 8192, 8192, a, Precision::fp8).si, 0.5 * gemm_time(8192, 8192, 8192, a).si, 1e-12);
    a.efficiency.gemm_low = 0.5 * a.efficiency.gemm;
    EXPECT_NEAR(gemm_time(8192, 8192, 8192, a, Precision::fp8).si, gemm_time(8192, 8192, 8192, a).si, 1e-12);
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

#include "optimizer/accuracy/kernel_fit.hpp"
#include "io/scenario/sections/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace prismopt {
namespace {

std::vector<MeasuredKernel> products(const std::string& key, Precision precision)
{
    std::vector<MeasuredKernel> rows;
    for (const double size : {1024.0, 2048.0, 4096.0, 8192.0}) {
        MeasuredKernel& row = rows.emplace_back();
        row.accelerator = "b200-sxm";
        row.key = key;
        row.precision = precision;
        row.m = row.n = row.k = size;
        row.shapes = std::to_string(size);
    }
    return rows;
}

std::vector<MeasuredKernel> measured_with(std::vector<MeasuredKernel> rows, double share, double factor = 1.0)
{
    const std::vector<double> times =
        predicted_kernels(rows, {{"b200-sxm", rows.front().key, share, 0.0, 0}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].measured_s = factor * times[i];
    }
    return rows;
}

double share_of(const std::vector<KernelShare>& shares, const std::string& key)
{
    const auto found = std::find_if(shares.begin(), shares.end(),
                                    [&key](const KernelShare& share) { return share.key == key; });
    return found == shares.end() ? 0.0 : found->value;
}

TEST(KernelFit, FindsTheShareThatRowsWereMadeWith)
{
    for (const auto& [key, precision] :
         {std::pair{"gemm", Precision::bf16}, {"gemm_fp8", Precision::fp8_current}}) {
        const auto rows = measured_with(products(key, precision), 0.55);
        EXPECT_NEAR(share_of(fit_kernels(rows), key), 0.55, 1e-3);
    }
}

/// The robust loss of one row in four that is five times as slow.
TEST(KernelFit, IsHardlyMovedByOneOddRow)
{
    auto rows = measured_with(products("gemm", Precision::bf16), 0.55);
    rows.front().measured_s *= 5.0;
    EXPECT_NEAR(share_of(fit_kernels(rows), "gemm"), 0.55, 0.02);
}

/// Without the only slow family of shapes the others predict it as fast as themselves.
TEST(KernelFit, HoldsOutAFamilyOfShapes)
{
    auto rows = measured_with(products("gemm", Precision::bf16), 0.55);
    rows.back().measured_s *= 1.2;
    const std::vector<double> held_out = kernels_held_out(rows);
    EXPECT_NEAR(held_out.back() * 1.2 / rows.back().measured_s, 1.0, 2e-3);
    const auto errors = kernel_errors(rows, held_out);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().rows, 4);
    EXPECT_GT(errors.front().error, 0.04);
}

/// 8-bit rows hold the cast of their activation, and with a scale for a tensor
/// two passes for its largest value.
TEST(KernelFit, CountsCastsInRowsOfFewerBits)
{
    auto rows = products("gemm_fp8", Precision::fp8_current);
    const std::vector<double> tensor = predicted_kernels(rows, {});
    for (MeasuredKernel& row : rows) {
        row.precision = Precision::fp8_blockwise;
    }
    const std::vector<double> blocks = predicted_kernels(rows, {{"b200-sxm", "gemm_fp8_block", 0.5, 0.0, 0},
                                                                {"b200-sxm", "gemm_fp8", 0.5, 0.0, 0}});
    const std::vector<double> same = predicted_kernels(products("gemm_fp8", Precision::fp8_current),
                                                       {{"b200-sxm", "gemm_fp8", 0.5, 0.0, 0}});
    const double bandwidth = catalog_accelerator("b200-sxm").memory_bandwidth.si;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_GT(tensor[i], 0.0);
        const double pass = 2.0 * rows[i].m * rows[i].k / (bandwidth * 0.37) + 2.0 * 3e-6;
        const double scales = rows[i].m * rows[i].k * 4.0 / 128.0 /
                              (bandwidth * catalog_accelerator("b200-sxm").efficiency.cast);
        EXPECT_NEAR(same[i] - blocks[i], pass - scales, 1e-9);
    }
}

}  // namespace
}  // namespace prismopt

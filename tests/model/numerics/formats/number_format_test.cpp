#include "model/numerics/formats/number_format.hpp"
#include "model/numerics/random_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {
namespace {

Matrix<float> row_of(const std::vector<float>& values)
{
    Matrix<float> a(1, values.size());
    std::copy(values.begin(), values.end(), a.values().begin());
    return a;
}

Matrix<float> quantised(Matrix<float> a, const char* format, const RoundingChoice& how = {},
                        TensorName name = {})
{
    quantise(a, *number_format(format), how, name);
    return a;
}

std::vector<float> values_of(const Matrix<float>& a) { return {a.values().begin(), a.values().end()}; }

/// Largest error relative to the largest element of its block: half a unit in the last place
/// of the format's largest number.
TEST(NumberFormats, ErrorsStayWithinHalfAUnitOfTheLargestElementOfABlock)
{
    const Matrix<float> a = random_tensor({.elements = Elements::outliers}, 8, 256);
    for (const NumberFormat& format : number_formats) {
        const std::size_t block = format.block > 0 ? format.block : 256;
        Matrix<float> b = a;
        quantise(b, format, {}, {});
        // The factor of MX may be up to half of what the largest element needs, which then
        // saturates: at most 1 / 4 for e2m1.
        const double widest = format.scaling == Scaling::mx      ? 0.26
                              : format.scaling == Scaling::nvfp4 ? 0.2
                                                                 : 0.0;
        const double allowed = std::max(widest, 1.01 * format.element.unit_roundoff());
        float largest_of_all = 0.0F;
        for (const float x : a.values()) {
            largest_of_all = std::max(largest_of_all, std::fabs(x));
        }
        for (std::size_t row = 0; row < a.rows(); ++row) {
            for (std::size_t first = 0; first < 256; first += block) {
                float largest = 0.0F;
                float error = 0.0F;
                for (std::size_t i = first; i < first + block; ++i) {
                    largest = std::max(largest, std::fabs(a.row(row)[i]));
                    error = std::max(error, std::fabs(a.row(row)[i] - b.row(row)[i]));
                }
                const float unit = format.scaling == Scaling::tensor ? largest_of_all : largest;
                EXPECT_LE(error, allowed * unit) << format.name;
                EXPECT_EQ(error > 0.0F, format.element.mantissa_bits < element::fp32.mantissa_bits)
                    << format.name;
            }
        }
        if (format.scaling == Scaling::none) {
            EXPECT_EQ(values_of(quantised(b, format.name.data())), values_of(b)) << format.name;
        }
    }
}

TEST(NumberFormats, AFactorTakesTheLargestElementToTheLargestNumber)
{
    for (const char* format :
         {"fp8-e4m3", "fp8-e5m2", "fp8-e4m3-fnuz", "fp8-e5m2-fnuz", "fp8-e4m3-block", "nvfp4"}) {
        const auto b = values_of(quantised(row_of({0.1F, -3.7F, 1.0F}), format));
        EXPECT_NEAR(b[1], -3.7F, 3.7e-6F) << format;
    }
}

/// Largest element 7 = 1.75 * 2^2; e4m3's largest power of two is 2^8, so the factor is 2^-6 and 7 is 448.
TEST(NumberFormats, MxFactorsArePowersOfTwo)
{
    std::vector<float> values(64, 0.01F);
    values[0] = 7.0F;
    values[32] = 0.02F;  // another block: the factor is 2^(-6 - 8)
    const auto b = values_of(quantised(row_of(values), "mxfp8-e4m3"));
    EXPECT_EQ(b[0], 7.0F);
    EXPECT_EQ(b[1], std::ldexp(0.625F, -6));    // 0.64 in units of 2^-6; e4m3 has 0.625 and 0.6875
    EXPECT_EQ(b[33], std::ldexp(160.0F, -14));  // 163.84 in units of 2^-14; e4m3 has 160 and 176
    const auto c = values_of(quantised(row_of({7.9F, 1.0F}), "mxfp8-e4m3"));
    EXPECT_EQ(c[0], 7.0F);  // 505.6 in units of 2^-6 saturates at 448
}

/// 7.9 is 505.6 in units of 2^-6, above e4m3's 448, so the factor is 2^-5: 252.8, between 240 and
/// 256. 7 is 448 in units of 2^-6.
TEST(NumberFormats, MxFactorsThatAreRoundedUpSaturateNothing)
{
    const auto a = values_of(quantised(row_of({7.9F, 1.0F}), "mxfp8-e4m3-up"));
    EXPECT_EQ(a[0], 8.0F);
    EXPECT_EQ(values_of(quantised(row_of({7.0F, 0.01F}), "mxfp8-e4m3-up")),
              values_of(quantised(row_of({7.0F, 0.01F}), "mxfp8-e4m3")));
    const float above = std::nextafter(7.0F, 8.0F);
    const auto b = values_of(quantised(row_of({above, std::ldexp(1.0F, -14)}), "mxfp8-e4m3-up"));
    EXPECT_EQ(b[0], 7.0F);
    EXPECT_EQ(b[1], std::ldexp(1.0F, -14));  // the least subnormal number, 2^-9, in units of 2^-5
    const auto c = values_of(quantised(row_of({0x1p-149F, 0.0F}), "mxfp8-e4m3-up"));  // a factor of 2^-127
    EXPECT_EQ(c[0], 0.0F);
}

/// x = e2m1 * block factor * tensor factor; tensor factor = 12 / (448 * 6), the block factors 12 / 6 and
/// 3 / 6 over it are 448 and 112.
TEST(NumberFormats, Nvfp4HasFactorsOfBlocksAndOfTheTensor)
{
    std::vector<float> values(32, 0.0F);
    values[0] = 12.0F;
    values[1] = 5.4F;  // 2.7 in units of 2: 3
    values[16] = -3.0F;
    values[17] = 1.4F;  // 2.8 in units of 0.5: 3
    const auto b = values_of(quantised(row_of(values), "nvfp4"));
    EXPECT_FLOAT_EQ(b[0], 12.0F);
    EXPECT_FLOAT_EQ(b[1], 6.0F);
    EXPECT_FLOAT_EQ(b[16], -3.0F);
    EXPECT_FLOAT_EQ(b[17], 1.5F);
}

TEST(NumberFormats, ZerosStayZeros)
{
    for (const NumberFormat& format : number_formats) {
        Matrix<float> a(2, 40);
        quantise(a, format, {}, {});
        EXPECT_EQ(values_of(a), std::vector<float>(80, 0.0F)) << format.name;
    }
}

TEST(NumberFormats, StochasticRoundingDependsOnSeedTensorAndTile)
{
    const Matrix<float> a = random_tensor({}, 4, 64);
    const RoundingChoice how{Rounding::stochastic, 3};
    const auto b = values_of(quantised(a, "mxfp8-e4m3", how, {1, 2}));
    EXPECT_EQ(values_of(quantised(a, "mxfp8-e4m3", how, {1, 2})), b);
    EXPECT_NE(values_of(quantised(a, "mxfp8-e4m3", how, {2, 2})), b);
    EXPECT_NE(values_of(quantised(a, "mxfp8-e4m3", how, {1, 3})), b);
    EXPECT_NE(values_of(quantised(a, "mxfp8-e4m3", {Rounding::stochastic, 4}, {1, 2})), b);
}

/// Elements have a standard deviation of at most half a unit: the mean of n has one
/// of at most unit / (2 sqrt(n)).
TEST(NumberFormats, TheMeanOfAStochasticallyRoundedTensorIsUnbiased)
{
    Matrix<float> a(64, 128);
    std::fill(a.values().begin(), a.values().end(), 1.03F);  // between 1 and 1.125
    round_elements(a, element::e4m3, {Rounding::stochastic, 1}, {});
    double sum = 0.0;
    for (const float x : a.values()) {
        EXPECT_TRUE(x == 1.0F || x == 1.125F);
        sum += x;
    }
    EXPECT_NEAR(sum / 8192.0, 1.03, 4.0 * 0.125 / 2.0 / std::sqrt(8192.0));
}

TEST(NumberFormats, AreFoundByTheirNames)
{
    for (const NumberFormat& format : number_formats) {
        ASSERT_NE(number_format(format.name), nullptr);
        EXPECT_EQ(number_format(format.name)->name, format.name);
        EXPECT_NE(number_format_names().find(format.name), std::string::npos);
    }
    EXPECT_EQ(number_format("fp7"), nullptr);
}

}  // namespace
}  // namespace prismopt

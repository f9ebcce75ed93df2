#include "tests/support/number_codes.hpp"

#include "model/base/random.hpp"
#include "model/numerics/formats/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All codes of formats of up to 19 bits; of the others about 400,000.
std::uint32_t stride_of(const ElementFormat& format)
{
    return format.bits() > 22 ? 9973 : format.bits() > 19 ? 11 : 1;
}

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

/// A test for each element format.
class RoundingOf : public testing::TestWithParam<ElementFormat> {
protected:
    const ElementFormat format = GetParam();
    const Rounder rounder{format};
};

TEST_P(RoundingOf, EachCodeIsItsOwnRounding)
{
    const std::uint32_t sign = 1U << (format.bits() - 1);
    for (const std::uint32_t positive : finite_codes(format, stride_of(format))) {
        for (const std::uint32_t code : {positive, positive | sign}) {
            const double x = decoded(code, format);
            if (std::isnan(x)) {
                continue;  // FNUZ's NaN
            }
            ASSERT_EQ(bits_of(rounder.nearest_even(x)), bits_of(x)) << code;
            ASSERT_EQ(bits_of(rounder.toward_zero(x)), bits_of(x)) << code;
            ASSERT_EQ(bits_of(rounder.stochastic(x, 0.0)), bits_of(x)) << code;
            ASSERT_EQ(bits_of(rounder.stochastic(x, 0.999999)), bits_of(x)) << code;
        }
    }
}

TEST_P(RoundingOf, MidpointsGoToTheEvenCodeAndTheirNeighboursToTheNearest)
{
    const auto codes = finite_codes(format, stride_of(format));
    for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
        if (codes[i + 1] != codes[i] + 1) {
            continue;
        }
        const double low = decoded(codes[i], format);
        const double high = decoded(codes[i + 1], format);
        const double middle = 0.5 * (low + high);
        const bool exact = static_cast<float>(middle) == middle;  // else the format is as fine as FP32 there
        const double below =
            exact ? std::nextafter(static_cast<float>(middle), 0.0F) : std::nextafter(middle, 0.0);
        const double above =
            exact ? std::nextafter(static_cast<float>(middle), HUGE_VALF) : std::nextafter(middle, infinity);
        for (const double sign : {1.0, -1.0}) {
            ASSERT_EQ(rounder.nearest_even(sign * middle), sign * (codes[i] % 2 == 0 ? low : high)) << middle;
            ASSERT_EQ(rounder.nearest_even(sign * below), sign * low) << middle;
            ASSERT_EQ(rounder.nearest_even(sign * above), sign * high) << middle;
            ASSERT_EQ(rounder.toward_zero(sign * above), sign * low) << middle;
            ASSERT_EQ(rounder.stochastic(sign * middle, 0.49), sign * high) << middle;
            ASSERT_EQ(rounder.stochastic(sign * middle, 0.51), sign * low) << middle;
        }
    }
}

TEST_P(RoundingOf, LargestAndLeastNumbersAreThoseOfTheCodes)
{
    const auto codes = finite_codes(format, stride_of(format));
    EXPECT_EQ(format.least_subnormal(), decoded(1, format));
    EXPECT_EQ(format.least_normal(), decoded(1U << format.mantissa_bits, format));
    double largest = 0.0;
    for (std::uint32_t code = codes.back();
         std::isfinite(decoded(code, format)) && code < 1U << (format.bits() - 1); ++code) {
        largest = decoded(code, format);
    }
    EXPECT_EQ(format.largest(), largest);
}

TEST_P(RoundingOf, BeyondTheLargestSaturatesOrBecomesSpecial)
{
    const Rounder saturating(format, Overflow::saturate);
    const Rounder special(format, Overflow::special);
    const double largest = format.largest();
    const double unit = std::ldexp(1.0, format.largest_exponent() - format.mantissa_bits);
    const bool has_infinity = format.specials == Specials::ieee;
    for (const double sign : {1.0, -1.0}) {
        for (const double x : {largest + unit, infinity}) {
            EXPECT_EQ(saturating.nearest_even(sign * x), sign * largest);
            const double rounded = special.nearest_even(sign * x);
            EXPECT_TRUE(has_infinity ? rounded == sign * infinity : std::isnan(rounded)) << rounded;
        }
        EXPECT_EQ(special.nearest_even(sign * (largest + 0.499 * unit)), sign * largest);
        EXPECT_EQ(special.toward_zero(sign * (largest + unit)), sign * largest);
    }
}

TEST_P(RoundingOf, NaNStaysNaN)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Overflow overflow : {Overflow::saturate, Overflow::special}) {
        const Rounder of(format, overflow);
        EXPECT_TRUE(std::isnan(of.nearest_even(nan)));
        EXPECT_TRUE(std::isnan(of.toward_zero(nan)));
        EXPECT_TRUE(std::isnan(of.stochastic(nan, 0.5)));
    }
}

TEST_P(RoundingOf, OnlyFnuzHasNoNegativeZero)
{
    EXPECT_EQ(std::signbit(rounder.nearest_even(-0.25 * format.least_subnormal())),
              format.specials != Specials::fnuz);
}

/// Binomial: the standard error of the mean of n draws that round up with probability
/// p is sqrt(p (1 - p) / n) units.
TEST_P(RoundingOf, TheMeanOfStochasticRoundingIsWithinFourStandardErrors)
{
    constexpr std::uint32_t draws = 20'000;
    constexpr double share = 0.3;
    for (const double low : {format.least_subnormal(), format.least_normal(), 1.0}) {
        const double unit = std::max(low, format.least_normal()) * std::ldexp(1.0, -format.mantissa_bits);
        const double x = low + share * unit;
        double up = 0.0;
        for (std::uint32_t draw = 0; draw < draws; ++draw) {
            const double rounded = rounder.stochastic(
                -x, philox(5, {draw, 0, 0, use(Stream::rounding, Purpose::search)})[0] * 0x1p-32);
            ASSERT_TRUE(rounded == -low || rounded == -(low + unit)) << rounded;
            up += rounded == -low ? 0.0 : 1.0;
        }
        EXPECT_NEAR(up / draws, share, 4.0 * std::sqrt(share * (1.0 - share) / draws)) << low;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RoundingOf, testing::ValuesIn(element_formats), [](const auto& test) {
    std::string name(test.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

/// OFP8 1.0; IEEE 754; MX 1.0; for FNUZ arXiv 2206.02915.
TEST(ElementFormats, HaveThePublishedLimits)
{
    EXPECT_EQ(element::e4m3.largest(), 448.0);
    EXPECT_EQ(element::e4m3.least_normal(), 0x1p-6);
    EXPECT_EQ(element::e4m3.least_subnormal(), 0x1p-9);
    EXPECT_EQ(element::e5m2.largest(), 57344.0);
    EXPECT_EQ(element::e5m2.least_normal(), 0x1p-14);
    EXPECT_EQ(element::e5m2.least_subnormal(), 0x1p-16);
    EXPECT_EQ(element::e4m3_fnuz.largest(), 240.0);
    EXPECT_EQ(element::e4m3_fnuz.least_subnormal(), 0x1p-10);
    EXPECT_EQ(element::e5m2_fnuz.largest(), 57344.0);
    EXPECT_EQ(element::e5m2_fnuz.least_subnormal(), 0x1p-17);
    EXPECT_EQ(element::e2m1.largest(), 6.0);
    EXPECT_EQ(element::e2m1.least_subnormal(), 0.5);
    EXPECT_EQ(element::fp16.largest(), 65504.0);
    EXPECT_EQ(element::fp32.largest(), std::numeric_limits<float>::max());
    EXPECT_EQ(element::fp32.least_subnormal(), std::numeric_limits<float>::denorm_min());
    EXPECT_EQ(element::bf16.unit_roundoff(), 0x1p-8);
}

/// Numbers halfway to what would be the next one: OFP8's overflow begins above 464 in E4M3, at 61440 in E5M2.
TEST(ElementFormats, OverflowBeginsHalfwayBeyondTheLargest)
{
    const Rounder e4m3(element::e4m3, Overflow::special);
    EXPECT_EQ(e4m3.nearest_even(464.0), 448.0);
    EXPECT_TRUE(std::isnan(e4m3.nearest_even(std::nextafter(464.0F, 500.0F))));
    const Rounder e5m2(element::e5m2, Overflow::special);
    EXPECT_EQ(e5m2.nearest_even(std::nextafter(61440.0F, 0.0F)), 57344.0);
    EXPECT_EQ(e5m2.nearest_even(61440.0), infinity);
    const Rounder fp16(element::fp16);
    EXPECT_EQ(fp16.nearest_even(std::nextafter(65520.0F, 0.0F)), 65504.0);
    EXPECT_EQ(fp16.nearest_even(65520.0), infinity);
    const Rounder fnuz(element::e4m3_fnuz, Overflow::special);
    EXPECT_EQ(fnuz.nearest_even(std::nextafter(248.0F, 0.0F)), 240.0);
    EXPECT_TRUE(std::isnan(fnuz.nearest_even(248.0)));
}

}  // namespace
}  // namespace prismopt

#include "model/numerics/accumulation.hpp"
#include "model/numerics/linear.hpp"
#include "model/numerics/random_tensor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace prismopt {
namespace {

const NumberFormat& bf16 = *number_format("bf16");

const Accumulator& accumulator(std::string_view name)
{
    for (const Accumulator& of : accumulators) {
        if (of.name == name) {
            return of;
        }
    }
    throw std::logic_error("no such accumulator");
}

/// Each sum rounded by hand.
TEST(Accumulation, RoundsEachSum)
{
    const Matrix<float> a = random_tensor({.tensor = 1}, 3, 300);
    const Matrix<float> b = random_tensor({.tensor = 2}, 40, 300);
    for (const Accumulator& of : accumulators) {
        const Matrix<float> result = accumulated_product(a, b, of);
        const Rounder rounder(of.format);
        for (const std::size_t j : {0U, 31U, 32U, 39U}) {
            double sum = 0.0;
            double terms = 0.0;
            float total = 0.0F;
            for (std::size_t k = 0; k < 300; ++k) {
                terms += static_cast<double>(a.row(2)[k]) * b.row(j)[k];
                if ((k + 1) % of.terms_at_once == 0 || k == 299) {
                    sum = of.rounding == Rounding::nearest_even ? rounder.nearest_even(sum + terms)
                                                                : rounder.toward_zero(sum + terms);
                    terms = 0.0;
                }
                if (of.promoted_after > 0 && (k + 1) % of.promoted_after == 0) {
                    total += static_cast<float>(sum);
                    sum = 0.0;
                }
            }
            EXPECT_EQ(result.row(2)[j], total + static_cast<float>(sum)) << of.name;
        }
    }
}

TEST(Accumulation, FewerBitsAndMoreTermsDeviateMore)
{
    const auto rms = [](const char* name, std::size_t terms) {
        return sum_deviation(bf16, accumulator(name), terms, 1).rms;
    };
    for (const char* name : {"fp32", "fp22", "fp16", "bf16"}) {
        EXPECT_GT(rms(name, 4096), 2.0 * rms(name, 256)) << name;
    }
    EXPECT_LT(rms("fp32", 4096), rms("fp16", 4096));
    EXPECT_LT(rms("fp16", 4096), rms("bf16", 4096));
    // Truncation drifts: 32 times as many terms.
    EXPECT_LT(rms("fp22, FP32 every 128", 4096), 0.3 * rms("fp22", 4096));
    // Promotion ends the drift.
    EXPECT_LT(rms("fp22, FP32 every 128", 4096), 1.1 * rms("fp22, FP32 every 128", 256));
}

/// DeepSeek-V3, arXiv 2412.19437, section 3.3.2: with 4,096 terms the largest relative
/// error of FP8 products is near 2 %.
TEST(Accumulation, TruncatedSumsOfFp8DeviateAsPublished)
{
    const double largest = sum_deviation(*number_format("fp8-e4m3"), accumulator("fp22"), 4096, 1).largest;
    EXPECT_GT(largest, 0.005);
    EXPECT_LT(largest, 0.05);
}

TEST(Accumulation, ChainsDeviateMoreTheLongerTheyAre)
{
    const std::vector<Deviation> after =
        chain_deviations(bf16, accumulator("fp22"), {.rows = 16, .width = 128, .products = 4}, 1);
    ASSERT_EQ(after.size(), 4U);
    for (std::size_t n = 1; n < after.size(); ++n) {
        EXPECT_GT(after[n].rms, after[n - 1].rms);
    }
}

TEST(Linear, DeviatesByTheRoundingOfItsOperands)
{
    const LinearInputs<float> in = random_linear(64, 256, 48, 1);
    const LinearInputs<double> wide = widened(in);
    const Matrix<double> exact = linear_output(wide, ExactArithmetic());
    const LinearGradients<double> gradients = linear_gradients(wide, ExactArithmetic());
    double before = 0.0;
    for (const char* format : {"bf16", "mxfp8-e4m3", "nvfp4"}) {
        const Emulated arithmetic(*number_format(format), Arithmetic::fp32_accumulation);
        const LinearGradients<float> of = linear_gradients(in, arithmetic);
        const double forward = deviation(linear_output(in, arithmetic), exact).rms;
        EXPECT_GT(forward, before) << format;
        before = forward;
        // The same mean error of each operand, whichever product it is in.
        EXPECT_NEAR(deviation(of.x, gradients.x).rms / forward, 1.0, 0.25) << format;
        EXPECT_NEAR(deviation(of.weights, gradients.weights).rms / forward, 1.0, 0.25) << format;
    }
    EXPECT_LT(before, 0.25);
}

/// Uniform relative errors of up to u in both operands: RMS between u / (2 sqrt(3)) and u /
/// sqrt(3) each, e4m3: u = 1 / 16.
TEST(Linear, Fp8DeviatesAsItsUnitRoundoffSays)
{
    const LinearInputs<float> in = random_linear(64, 512, 64, 1);
    const double rms =
        deviation(linear_output(in, Emulated(*number_format("mxfp8-e4m3"), Arithmetic::fp32_accumulation)),
                  linear_output(widened(in), ExactArithmetic()))
            .rms;
    EXPECT_GT(rms, std::sqrt(2.0) / 16.0 / (2.0 * std::sqrt(3.0)));
    EXPECT_LT(rms, std::sqrt(2.0) / 16.0 / std::sqrt(3.0) * 1.1);
}

}  // namespace
}  // namespace prismopt

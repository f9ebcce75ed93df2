#include "model/base/matrix.hpp"
#include "model/numerics/deviation.hpp"
#include "model/numerics/formats/exponential.hpp"
#include "model/numerics/random_tensor.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <cmath>
#include <limits>
#include <vector>

namespace prismopt {
namespace {

template <class T>
Matrix<T> plain_product(const Matrix<T>& a, const Matrix<T>& b)
{
    Matrix<T> result(a.rows(), b.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < b.rows(); ++j) {
            T sum = 0;
            for (std::size_t k = 0; k < a.columns(); ++k) {
                sum += a.row(i)[k] * b.row(j)[k];
            }
            result.row(i)[j] = sum;
        }
    }
    return result;
}

template <class T>
std::vector<T> values_of(const Matrix<T>& a)
{
    return {a.values().begin(), a.values().end()};
}

TEST(MatrixProduct, HasTheBitsOfThePlainLoop)
{
    for (const std::size_t rows : {1U, 5U, 67U}) {
        for (const std::size_t columns : {1U, 31U, 33U, 70U}) {
            for (const std::size_t terms : {1U, 17U, 64U}) {
                const Matrix<float> a = random_tensor({.tensor = 1}, rows, terms);
                const Matrix<float> b = random_tensor({.tensor = 2}, columns, terms);
                EXPECT_EQ(values_of(product(a, b)), values_of(plain_product(a, b)))
                    << rows << " " << columns << " " << terms;
                EXPECT_EQ(values_of(product(widened(a), widened(b))),
                          values_of(plain_product(widened(a), widened(b))));
            }
        }
    }
}

TEST(MatrixProduct, DoesNotDependOnThreads)
{
    const int before = omp_get_max_threads();
    const Matrix<float> a = random_tensor({.tensor = 1}, 300, 40);
    omp_set_num_threads(1);
    const auto alone = values_of(product(a, a));
    omp_set_num_threads(3);
    EXPECT_EQ(values_of(product(a, a)), alone);
    omp_set_num_threads(before);
}

TEST(Exponential, IsWithinFourUnitsOfTheSixteenthDigit)
{
    double worst = 0.0;
    for (double x = -699.0; x < 699.0; x += 0.0137) {
        const long double truth = std::exp(static_cast<long double>(x));
        worst = std::max(worst, static_cast<double>(std::fabs(exponential(x) / truth - 1.0L)));
    }
    EXPECT_LT(worst, 4e-16);
    EXPECT_EQ(exponential(0.0), 1.0);
    EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_EQ(static_cast<float>(exponential(-1e30)), 0.0F);
}

/// Four standard errors of the mean and, for normal numbers, of the variance: sqrt(2 / n).
TEST(RandomTensor, HasTheMomentsOfItsDistribution)
{
    constexpr double n = 65'536;
    for (const auto& [elements, mean, variance] : {std::tuple{Elements::normal, 0.0, 1.0},
                                                   {Elements::uniform, 0.5, 1.0 / 12.0},
                                                   {Elements::outliers, 0.0, 1.1}}) {
        const Matrix<float> a = random_tensor({.elements = elements}, 256, 256);
        double sum = 0.0;
        double squares = 0.0;
        for (const float x : a.values()) {
            sum += x - mean;
            squares += (x - mean) * (x - mean);
        }
        EXPECT_NEAR(sum / n, 0.0, 4.0 * std::sqrt(variance / n));
        // Outliers: fourth moment 3 + 0.001 (6 * 100 + 3 * 10,000) = 33.6.
        const double fourth = elements == Elements::outliers ? 33.6 : 3.0 * variance * variance;
        EXPECT_NEAR(squares / n, variance, 4.0 * std::sqrt(fourth / n));
    }
    EXPECT_NE(values_of(random_tensor({.tensor = 1}, 2, 2)), values_of(random_tensor({.tensor = 2}, 2, 2)));
    EXPECT_NE(values_of(random_tensor({.seed = 1}, 2, 2)), values_of(random_tensor({.seed = 2}, 2, 2)));
}

TEST(Deviations, AreRelativeToTheRootMeanSquare)
{
    Matrix<double> exact(1, 4);
    Matrix<float> result(1, 4);
    const std::vector<double> values{3.0, -3.0, 3.0, -3.0};
    const std::vector<float> results{3.0F, -3.0F, 3.3F, -3.6F};
    std::copy(values.begin(), values.end(), exact.values().begin());
    std::copy(results.begin(), results.end(), result.values().begin());
    const Deviation of = deviation(result, exact);
    EXPECT_NEAR(of.largest, 0.2, 1e-6);
    EXPECT_NEAR(of.rms, std::sqrt((0.1 * 0.1 + 0.2 * 0.2) / 4.0), 1e-6);
    EXPECT_NEAR(of.p50, 0.0, 1e-6);
    EXPECT_NEAR(of.p99, 0.2, 1e-6);
    result.row(0)[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isinf(deviation(result, exact).largest));
    EXPECT_TRUE(std::isinf(deviation(result, exact).rms));
}

TEST(Deviations, WassersteinDistanceOfAShiftIsTheShift)
{
    const std::vector<float> a{3.0F, 1.0F, 2.0F};
    const std::vector<float> b{2.25F, 3.25F, 1.25F};
    EXPECT_DOUBLE_EQ(wasserstein_distance(a, b), 0.25);
    EXPECT_DOUBLE_EQ(wasserstein_distance(a, a), 0.0);
    EXPECT_DOUBLE_EQ(wasserstein_distance(std::vector{0.0F, 0.0F}, std::vector{-1.0F, 1.0F}), 1.0);
}

}  // namespace
}  // namespace prismopt

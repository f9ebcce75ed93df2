#include "model/numerics/accumulation.hpp"

#include "model/base/parallel.hpp"
#include "model/base/registers.hpp"
#include "model/numerics/random_tensor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace prismopt {

namespace {

constexpr std::size_t columns_together = 32;
constexpr std::size_t sampled = 64;  // rows and columns of products whose sums are long

/// One row of the left operand times columns of the transposed right one, from `column` on.
template <class Round>
[[gnu::always_inline]] inline void sum_terms(std::span<const float> row, const Matrix<float>& columns,
                                             std::size_t column, const Accumulator& how, const Round& round,
                                             std::span<float> out)
{
    double sums[columns_together] = {};
    double terms_of[columns_together] = {};  // not yet in the sums
    float totals[columns_together] = {};
    const std::size_t count = out.size();
    for (std::size_t k = 0; k < row.size(); ++k) {
        const float* terms = columns.row(k).data() + column;
        for (std::size_t j = 0; j < count; ++j) {
            terms_of[j] += static_cast<double>(row[k]) * terms[j];
        }
        const bool last = k + 1 == row.size();
        if (last || (k + 1) % how.terms_at_once == 0) {
            for (std::size_t j = 0; j < count; ++j) {
                sums[j] = round(sums[j] + terms_of[j]);
                terms_of[j] = 0.0;
            }
        }
        if (last || (how.promoted_after > 0 && (k + 1) % how.promoted_after == 0)) {
            for (std::size_t j = 0; j < count; ++j) {
                totals[j] += static_cast<float>(sums[j]);
                sums[j] = 0.0;
            }
        }
    }
    std::copy_n(totals, count, out.begin());
}

Matrix<float> random_operand(const NumberFormat& format, std::size_t rows, std::size_t columns,
                             std::uint32_t tensor, double factor, std::uint64_t seed)
{
    Matrix<float> a = random_tensor({.seed = seed, .tensor = tensor, .factor = factor}, rows, columns);
    quantise(a, format, {}, {});
    return a;
}

}  // namespace

Matrix<float> accumulated_product(const Matrix<float>& a, const Matrix<float>& b,
                                  const Accumulator& accumulator)
{
    assert(a.columns() == b.columns() && accumulator.rounding != Rounding::stochastic);
    const Matrix<float> columns = transposed(b);
    Matrix<float> result(a.rows(), b.rows());
    const Rounder rounder(accumulator.format);
    const bool nearest = accumulator.rounding == Rounding::nearest_even;
    parallel_for(static_cast<std::int64_t>(a.rows()), [&](int, std::int64_t row) {
        const auto i = static_cast<std::size_t>(row);
        on_registers([&](auto) PRISMOPT_INLINE {
            for (std::size_t j = 0; j < result.columns(); j += columns_together) {
                const auto out = result.row(i).subspan(j, std::min(columns_together, result.columns() - j));
                if (nearest) {
                    sum_terms(
                        a.row(i), columns, j, accumulator,
                        [&](double x) PRISMOPT_INLINE { return rounder.nearest_even(x); }, out);
                } else {
                    sum_terms(
                        a.row(i), columns, j, accumulator,
                        [&](double x) PRISMOPT_INLINE { return rounder.toward_zero(x); }, out);
                }
            }
        });
    });
    return result;
}

std::vector<Deviation> chain_deviations(const NumberFormat& format, const Accumulator& accumulator,
                                        const ChainShape& shape, std::uint64_t seed)
{
    Matrix<float> x = random_operand(format, shape.rows, shape.width, 0, 1.0, seed);
    Matrix<double> exact = widened(x);
    std::vector<Deviation> deviations;
    for (std::size_t n = 1; n <= shape.products; ++n) {
        const Matrix<float> weights =
            random_operand(format, shape.width, shape.width, static_cast<std::uint32_t>(n),
                           1.0 / std::sqrt(static_cast<double>(shape.width)), seed);
        quantise(x, format, {}, {});
        x = accumulated_product(x, weights, accumulator);
        round_elements(x, element::bf16, {}, {});
        exact = product(exact, widened(weights));
        deviations.push_back(deviation(x, exact));
    }
    return deviations;
}

Deviation sum_deviation(const NumberFormat& format, const Accumulator& accumulator, std::size_t terms,
                        std::uint64_t seed)
{
    const Matrix<float> a = random_operand(format, sampled, terms, 0, 1.0, seed);
    const Matrix<float> b = random_operand(format, sampled, terms, 1, 1.0, seed);
    return deviation(accumulated_product(a, b, accumulator), product(widened(a), widened(b)));
}

}  // namespace prismopt

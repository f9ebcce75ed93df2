#include "model/numerics/deviation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

double root_mean_square(std::span<const double> values)
{
    double sum = 0.0;
    for (const double x : values) {
        sum += x * x;
    }
    return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

void DeviationCount::add(const Matrix<float>& result, const Matrix<double>& exact)
{
    assert(result.rows() == exact.rows() && result.columns() == exact.columns());
    const double unit = root_mean_square(exact.values());
    for (std::size_t i = 0; i < exact.values().size(); ++i) {
        const double error = std::fabs(result.values()[i] - exact.values()[i]) / unit;
        errors_.push_back(std::isfinite(error) ? error : std::numeric_limits<double>::infinity());
    }
}

Deviation DeviationCount::summary() const
{
    std::vector<double> sorted = errors_;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&sorted](double level) {  // the smallest with at least this share at or below it
        const auto rank = static_cast<std::size_t>(std::ceil(level * static_cast<double>(sorted.size())));
        return sorted[std::max<std::size_t>(rank, 1) - 1];
    };
    return {sorted.back(), root_mean_square(errors_), quantile(0.5), quantile(0.99)};
}

Deviation deviation(const Matrix<float>& result, const Matrix<double>& exact)
{
    DeviationCount count;
    count.add(result, exact);
    return count.summary();
}

double wasserstein_distance(std::span<const float> a, std::span<const float> b)
{
    assert(a.size() == b.size() && !a.empty());
    std::vector<float> first(a.begin(), a.end());
    std::vector<float> second(b.begin(), b.end());
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    double sum = 0.0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        sum += std::fabs(static_cast<double>(first[i]) - second[i]);
    }
    return sum / static_cast<double>(first.size());
}

}  // namespace prismopt

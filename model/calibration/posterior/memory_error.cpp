#include "model/calibration/posterior/memory_error.hpp"

#include "model/base/powers.hpp"
#include "model/base/root.hpp"
#include "model/base/statistics.hpp"
#include "model/calibration/posterior/posterior_draws.hpp"

#include <boost/math/constants/constants.hpp>
#include <boost/math/tools/minima.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// Logarithm of the standard normal distribution function; of its tail by Abramowitz and
/// Stegun 26.2.12, to 1e-5 below -20.
double log_cdf(double x)
{
    constexpr double tail = -20.0;
    if (x > tail) {
        return std::log(normal_probability(x));
    }
    return -0.5 * square(x) - std::log(-x * boost::math::constants::root_two_pi<double>()) - 1.0 / square(x);
}

/// Logarithm of the density of the common error, without a constant. Concave.
double log_density(const MemoryError& error, double common)
{
    double sum = -0.5 * square((common - error.mean) / error.deviation);
    for (const double limit : error.ran) {
        sum += log_cdf((limit - common) / error.own);
    }
    for (const double limit : error.failed) {
        sum += log_cdf((common - limit) / error.own);
    }
    return sum;
}

/// Where a concave function that is largest at `top` has fallen by `fall`, in the direction of `step`.
template <class Function>
double fallen(const Function& f, double top, double step, double fall)
{
    const double limit = f(top) - fall;
    double near = top;
    while (f(near + step) > limit) {
        near += step;
        step *= 2.0;
    }
    const auto is_above = [&](double x) { return f(x) > limit; };
    return bisect({near, near + step}, {.halvings = 30}, is_above).high;
}

}  // namespace

MemoryError after(MemoryError before, double log_ratio, double noise)
{
    const double weight =
        square(before.deviation) / (square(before.deviation) + square(before.own) + square(noise));
    before.mean += weight * (log_ratio - before.mean);
    before.deviation *= std::sqrt(1.0 - weight);
    return before;
}

double surprise(const MemoryError& error, double log_ratio, double noise)
{
    return (log_ratio - error.mean) / std::sqrt(square(error.deviation) + square(error.own) + square(noise));
}

std::vector<double> draw(const MemoryError& error, std::size_t draws, std::uint64_t seed)
{
    std::vector<double> result;
    if (error.ran.empty() && error.failed.empty()) {
        for (std::size_t d = 0; d < draws; ++d) {
            result.push_back(error.mean +
                             error.deviation * posterior_normal(seed, d, PosteriorKind::memory, 0));
        }
        return result;
    }
    const auto density = [&error](double common) { return log_density(error, common); };
    const double wide = 8.0 * (error.deviation + error.own);
    double low = error.mean;
    double high = error.mean;
    for (const std::vector<double>* limits : {&error.ran, &error.failed}) {
        for (const double limit : *limits) {
            low = std::min(low, limit);
            high = std::max(high, limit);
        }
    }
    const double top =
        boost::math::tools::brent_find_minima([&](double x) { return -density(x); }, low - wide, high + wide,
                                              std::numeric_limits<double>::digits / 2)
            .first;
    // Beyond, the density is less than e^-40 of the largest.
    constexpr double negligible = 40.0;
    const double step = 1e-3 * error.deviation;
    const double first = fallen(density, top, -step, negligible);
    const double last = fallen(density, top, step, negligible);
    constexpr std::size_t points = 4096;
    const double width = (last - first) / points;
    std::vector<double> below{0.0};  // [point]: integral up to it, by trapezoids
    double before = 0.0;
    for (std::size_t i = 1; i <= points; ++i) {
        const double here = std::exp(density(first + width * static_cast<double>(i)) - density(top));
        below.push_back(below.back() + 0.5 * (before + here));
        before = here;
    }
    for (std::size_t d = 0; d < draws; ++d) {
        const double share =
            normal_probability(posterior_normal(seed, d, PosteriorKind::memory, 0)) * below.back();
        const auto after = std::upper_bound(below.begin() + 1, below.end() - 1, share);
        const auto i = static_cast<double>(after - below.begin());
        const double fraction = std::clamp((share - *(after - 1)) / (*after - *(after - 1)), 0.0, 1.0);
        result.push_back(first + width * (i - 1.0 + fraction));
    }
    return result;
}

double draw_own(const MemoryError& error, std::size_t plan, std::size_t draw, std::uint64_t seed)
{
    return error.own * posterior_normal(seed, draw, PosteriorKind::memory, 1 + plan);
}

}  // namespace prismopt

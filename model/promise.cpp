#include "model/promise.hpp"

#include "model/base/root.hpp"
#include "model/base/statistics.hpp"

#include <cmath>

namespace prismopt {

namespace {

/// At most the probability that the logarithm of a part is below x: above its mean that falls with
/// the deviation, below it rises.
double most_below(double x, const LeastModelError::Component& component)
{
    const double distance = x - component.mean;
    const double deviation = distance > 0.0 ? component.deviation : component.most;
    const bool surely = std::isinf(distance) || deviation <= 0.0;
    return surely ? 1.0 : normal_probability(distance / deviation);
}

double most_below(double x, const LeastModelError& error)
{
    double sum = 0.0;
    for (const LeastModelError::Component& component : error.components) {
        sum += component.weight * most_below(x, component);
    }
    return sum;
}

}  // namespace

std::vector<double> promise_quantiles(const Promise& promise, double least)
{
    if (promise.probability < least) {
        return {};
    }
    if (!promise.model_error) {
        return {promise.probability};
    }
    return {least, 0.5 * (least + promise.probability)};
}

/// The training time T is below its quantile b with at most the probability q, and the error C is independent
/// of it: P(T C <= x) <= q + (1 - q) P(C <= x / b).
double promise_factor(const Promise& promise, double quantile, const LeastModelError& error)
{
    if (!promise.model_error) {
        return 1.0;
    }
    const double of_error = (promise.probability - quantile) / (1.0 - quantile);
    const Bracket logarithms{-10.0, 10.0};
    const auto is_less = [&](double x) { return most_below(x, error) < of_error; };
    if (most_below(logarithms.low, error) >= of_error) {
        return 0.0;
    }
    return std::exp(bisect(logarithms, {.width = 1e-6}, is_less).low);
}

}  // namespace prismopt

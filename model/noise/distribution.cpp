#include "model/noise/distribution.hpp"

#include "model/noise/quantile_table.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/tools/roots.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace prismopt {

namespace {

using boost::math::complement;

/// The families as Boost.Math distributions of mean one.
boost::math::normal as_boost(const Normal& law) { return {1.0, law.cv}; }

boost::math::lognormal as_boost(const LogNormal& law)
{
    const double variance = std::log1p(law.cv * law.cv);
    return {-0.5 * variance, std::sqrt(variance)};
}

boost::math::gamma_distribution<> as_boost(const Gamma& law)
{
    const double shape = 1.0 / (law.cv * law.cv);
    return {shape, 1.0 / shape};
}

double cv_of(const Family& family)
{
    if (const auto* normal = std::get_if<Normal>(&family)) {
        return normal->cv;
    }
    if (const auto* lognormal = std::get_if<LogNormal>(&family)) {
        return lognormal->cv;
    }
    if (const auto* gamma = std::get_if<Gamma>(&family)) {
        return gamma->cv;
    }
    return 0.0;
}

/// A family without spread, and without a pool, is a constant.
bool degenerate(const Family& family)
{
    const auto* pool = std::get_if<Empirical>(&family);
    return pool == nullptr ? cv_of(family) == 0.0 : pool->values.size() < 2;
}

/// The truncated family lives on (0, cap]; a normal law is cut at zero too. Smallest value that any factor may take.
constexpr double smallest_factor = 1e-3;

}  // namespace

LawQuantile::LawQuantile(const Law& law) : law_(law)
{
    if (auto* pool = std::get_if<Empirical>(&law_.family)) {
        sorted_ = pool->values;
        std::sort(sorted_.begin(), sorted_.end());
        const double mean = std::accumulate(sorted_.begin(), sorted_.end(), 0.0) / static_cast<double>(sorted_.size());
        for (double& value : sorted_) {
            value /= mean;
        }
    }
    if (!constant()) {
        // The mean of the mixture follows from the core's: its own quantile function may jump, which no quadrature likes.
        mean_ = moments([this](double p, bool upper) { return component(p, upper); }).mean *
                (1.0 + law_.slow.probability * law_.slow.excess);
    }
}

bool LawQuantile::constant() const { return degenerate(law_.family) && law_.slow.probability == 0.0; }

double LawQuantile::operator()(double p, bool upper) const
{
    if (!(p > 0.0 && p < 1.0)) {
        throw std::domain_error("a quantile needs a probability between 0 and 1");
    }
    return constant() ? 1.0 : raw(p, upper) / mean_;
}

/// Quantile of the core family, before the slow mode and the normalisation.
double LawQuantile::component(double p, bool upper) const
{
    if (degenerate(law_.family)) {
        return 1.0;
    }
    double value = 1.0;
    if (!sorted_.empty()) {
        // Linear between order statistics at (i + 1/2) / n, flat beyond the first and last.
        const auto n = static_cast<double>(sorted_.size());
        const double at = std::clamp((upper ? 1.0 - p : p) * n - 0.5, 0.0, n - 1.0);
        const auto below = static_cast<std::size_t>(at);
        const std::size_t above = std::min(below + 1, sorted_.size() - 1);
        value = sorted_[below] + (at - static_cast<double>(below)) * (sorted_[above] - sorted_[below]);
    } else if (const auto* normal = std::get_if<Normal>(&law_.family)) {
        const auto d = as_boost(*normal);
        value = upper ? quantile(complement(d, p)) : quantile(d, p);
    } else if (const auto* lognormal = std::get_if<LogNormal>(&law_.family)) {
        const auto d = as_boost(*lognormal);
        value = upper ? quantile(complement(d, p)) : quantile(d, p);
    } else if (const auto* gamma = std::get_if<Gamma>(&law_.family)) {
        const auto d = as_boost(*gamma);
        value = upper ? quantile(complement(d, p)) : quantile(d, p);
    }
    return std::clamp(value, smallest_factor, law_.cap);
}

double LawQuantile::component_survival(double x) const
{
    if (x <= smallest_factor) {
        return 1.0;
    }
    if (x >= law_.cap) {
        return 0.0;
    }
    if (degenerate(law_.family)) {
        return x < 1.0 ? 1.0 : 0.0;
    }
    if (!sorted_.empty()) {
        const auto above = std::upper_bound(sorted_.begin(), sorted_.end(), x);
        return static_cast<double>(sorted_.end() - above) / static_cast<double>(sorted_.size());
    }
    if (const auto* normal = std::get_if<Normal>(&law_.family)) {
        return cdf(complement(as_boost(*normal), x));
    }
    if (const auto* lognormal = std::get_if<LogNormal>(&law_.family)) {
        return cdf(complement(as_boost(*lognormal), x));
    }
    return cdf(complement(as_boost(std::get<Gamma>(law_.family)), x));
}

/// The core, or with the slow mode the mixture (1 - q) X + q (1 + excess) X, inverted by bisection on the survival function.
double LawQuantile::raw(double p, bool upper) const
{
    const double q = law_.slow.probability;
    if (q == 0.0) {
        return component(p, upper);
    }
    const double stretch = 1.0 + law_.slow.excess;
    const auto survival = [&](double x) { return (1.0 - q) * component_survival(x) + q * component_survival(x / stretch); };
    const double target = upper ? p : 1.0 - p;
    double low = smallest_factor;
    double high = law_.cap * stretch;
    for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
        const double middle = 0.5 * (low + high);
        (survival(middle) > target ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace prismopt

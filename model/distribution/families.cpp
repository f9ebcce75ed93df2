#include "model/distribution/distribution.hpp"

#include "model/base/root.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/distributions/weibull.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/roots.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace prismopt {

namespace {

/// Distributions without promotion to long double, which takes thrice the time for the last two digits.
using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

constexpr double infinite = std::numeric_limits<double>::infinity();

void require(bool fulfilled, const char* what)
{
    if (!fulfilled) {
        throw std::domain_error(std::string("a distribution of durations needs ") + what);
    }
}

FamilyFunctions functions(Quantile quantile, std::function<double(double, bool)> probability,
                          std::vector<double> more_knots = {})
{
    constexpr int octaves = 60;  // beyond, 2^-60, nothing adds to a mean of finite factors
    std::vector<double>& knots = more_knots;
    for (int octave = 1; octave <= octaves; ++octave) {
        knots.push_back(quantile(std::ldexp(1.0, -octave), false));
        knots.push_back(quantile(std::ldexp(1.0, -octave), true));
    }
    std::sort(knots.begin(), knots.end());
    knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
    return {std::move(quantile), std::move(probability), std::move(knots)};
}

/// shift + scale * X for a distribution X of Boost.Math.
template <class Distribution>
FamilyFunctions of_boost(const Distribution& d, double scale = 1.0, double shift = 0.0)
{
    const double start = support(d).first;
    return functions(
        [=](double p, bool upper) {
            using boost::math::complement;
            return shift + scale * (upper ? quantile(complement(d, p)) : quantile(d, p));
        },
        [=](double x, bool upper) {
            using boost::math::complement;
            const double at = (x - shift) / scale;
            if (at <= start) {
                return upper ? 1.0 : 0.0;
            }
            return upper ? cdf(complement(d, at)) : cdf(d, at);
        });
}

FamilyFunctions of(const Constant& /*unused*/)
{
    return functions([](double, bool) { return 1.0; },
                     [](double x, bool upper) { return (x < 1.0) == upper ? 1.0 : 0.0; });
}

FamilyFunctions of(const Normal& distribution)
{
    return distribution.cv == 0.0
               ? of(Constant{})
               : of_boost(boost::math::normal_distribution<double, Plain>(1.0, distribution.cv));
}

FamilyFunctions of(const LogNormal& distribution)
{
    require(distribution.cv >= 0.0, "a cv of at least zero");
    if (distribution.cv == 0.0) {
        return of(Constant{});
    }
    const double variance = std::log1p(distribution.cv * distribution.cv);
    return of_boost(boost::math::lognormal_distribution<double, Plain>(-0.5 * variance, std::sqrt(variance)));
}

FamilyFunctions of(const ShiftedGamma& distribution)
{
    require(distribution.cv >= 0.0, "a cv of at least zero");
    require(distribution.shift >= 0.0 && distribution.shift < 1.0, "a shift in [0, 1)");
    if (distribution.cv == 0.0) {
        return of(Constant{});
    }
    const double shape =
        (1.0 - distribution.shift) * (1.0 - distribution.shift) / (distribution.cv * distribution.cv);
    // Quantiles differ from the normal's by (z^2 - 1) / 3 / shape of the mean
    // (Cornish and Fisher): below a float's digits. The incomplete gamma function needs
    // sqrt(shape) terms in the tails, and gives up at a million.
    constexpr double as_good_as_normal = 1e9;
    if (shape > as_good_as_normal) {
        return of(Normal{distribution.cv});
    }
    return of_boost(boost::math::gamma_distribution<double, Plain>(shape), (1.0 - distribution.shift) / shape,
                    distribution.shift);
}

FamilyFunctions of(const Gamma& distribution) { return of(ShiftedGamma{distribution.cv, 0.0}); }

/// With shape k the mean is scale * gamma(1 + 1/k), and 1 + cv^2 = gamma(1 + 2/k) / gamma(1 + 1/k)^2.
/// Source: Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1 (1994), chapter 21.
FamilyFunctions of(const Weibull& distribution)
{
    require(distribution.cv >= 0.0 && distribution.cv < 15.0, "a cv in [0, 15)");
    if (distribution.cv == 0.0) {
        return of(Constant{});
    }
    const auto log_gamma1p = [](double x) { return std::log1p(boost::math::tgamma1pm1(x)); };
    const auto excess = [&](double inverse_shape) {
        return log_gamma1p(2.0 * inverse_shape) - 2.0 * log_gamma1p(inverse_shape) -
               std::log1p(distribution.cv * distribution.cv);
    };
    // 1 + cv^2 >= 1 + 0.6 / k^2 for all k, and cv^2 = 69 at 1/k = 4.
    const auto inverse_shape = root_between(excess, 0.0, 1.0 + 2.0 * distribution.cv, 52);
    require(inverse_shape && *inverse_shape > 0.0, "a cv for which a Weibull shape exists");
    return of_boost(boost::math::weibull_distribution<double, Plain>(1.0 / *inverse_shape,
                                                                     std::exp(-log_gamma1p(*inverse_shape))));
}

FamilyFunctions of(const StudentT& distribution)
{
    require(distribution.degrees_of_freedom >= 1.0, "at least 1 degree of freedom");
    require(distribution.scale >= 0.0, "a scale of at least zero");
    if (distribution.scale == 0.0) {
        return of(Constant{});
    }
    return of_boost(boost::math::students_t_distribution<double, Plain>(distribution.degrees_of_freedom),
                    distribution.scale, 1.0);
}

/// ((e^(-y))^(-shape) - 1) / shape = expm1(shape * y) / shape, and its limit y
/// for shape zero; and the inverse.
double power_tail(double y, double shape) { return shape == 0.0 ? y : std::expm1(shape * y) / shape; }
double power_tail_inverse(double g, double shape)
{
    if (shape == 0.0) {
        return g;
    }
    if (shape * g <= -1.0) {  // outside the support
        return shape > 0.0 ? -infinite : infinite;
    }
    return std::log1p(shape * g) / shape;
}

/// F(x) = exp(-e^(-y)) with z = (x - location) / scale = (e^(shape y) - 1) / shape.
/// Source: Jenkinson, Q. J. R. Meteorol. Soc. 81 (1955) 158-171, with the sign of the shape as in Coles, An
/// Introduction to Statistical Modeling of Extreme Values (2001), equation 3.2.
FamilyFunctions of(const GeneralizedExtremeValue& distribution)
{
    require(distribution.scale >= 0.0, "a scale of at least zero");
    require(std::isfinite(distribution.shape), "a finite shape");
    if (distribution.scale == 0.0) {
        return of(Constant{});
    }
    const double median = power_tail(-std::log(std::log(2.0)), distribution.shape);
    return functions(
        [=](double p, bool upper) {
            const double y = -std::log(upper ? -std::log1p(-p) : -std::log(p));
            return 1.0 + distribution.scale * (power_tail(y, distribution.shape) - median);
        },
        [=](double x, bool upper) {
            const double minus_log_f =
                std::exp(-power_tail_inverse((x - 1.0) / distribution.scale + median, distribution.shape));
            return upper ? -std::expm1(-minus_log_f) : std::exp(-minus_log_f);
        });
}

/// Linear between order statistics at (i + 1/2) / n, flat beyond the first and last,
/// so that the mean is the pool's.
FamilyFunctions of(const Empirical& distribution)
{
    require(!distribution.values.empty(), "at least one measured value");
    auto pool = std::make_shared<std::vector<double>>(distribution.values);
    std::sort(pool->begin(), pool->end());
    require(pool->front() > 0.0, "positive measured values");
    const auto n = static_cast<double>(pool->size());
    const double mean = std::accumulate(pool->begin(), pool->end(), 0.0) / n;
    for (double& value : *pool) {
        value /= mean;
    }
    return functions(
        [pool, n](double p, bool upper) {
            const double at = std::clamp((upper ? n - p * n : p * n) - 0.5, 0.0, n - 1.0);
            const auto below = static_cast<std::size_t>(at);
            const double next = (*pool)[std::min(below + 1, pool->size() - 1)];
            return (*pool)[below] + (at - static_cast<double>(below)) * (next - (*pool)[below]);
        },
        [pool, n](double x, bool upper) {
            const auto above = std::upper_bound(pool->begin(), pool->end(), x);
            if (above == pool->begin() || above == pool->end()) {
                return (above == pool->begin()) == upper ? 1.0 : 0.0;
            }
            const double low = *(above - 1);
            const double within = (x - low) / (*above - low);
            const auto rank = static_cast<double>(above - pool->begin());  // values up to x
            return (upper ? (n - rank) + 0.5 - within : rank - 0.5 + within) / n;
        },
        *pool);
}

/// P(X <= x) is the weighted sum of the parts'; the quantile inverts it, between the least and
/// the largest of the parts' own.
FamilyFunctions of(const Mixture& distribution)
{
    struct Component {
        double weight;
        double at;
        FamilyFunctions functions;
    };
    require(!distribution.components.empty(), "at least one component of a mixture");
    auto components = std::make_shared<std::vector<Component>>();
    std::vector<double> knots;
    double total = 0.0;
    for (const MixtureComponent& component : distribution.components) {
        require(component.weight >= 0.0 && component.at > 0.0,
                "mixture components with a nonnegative weight and a positive location");
        total += component.weight;
        if (component.weight > 0.0) {
            components->push_back({component.weight, component.at, functions_of(component.family)});
            for (const double knot : components->back().functions.knots) {
                knots.push_back(component.at * knot);
            }
        }
    }
    require(std::abs(total - 1.0) < 1e-9, "mixture weights that sum to one");
    const auto probability = [components](double x, bool upper) {
        double sum = 0.0;
        for (const Component& component : *components) {
            sum += component.weight * component.functions.probability(x / component.at, upper);
        }
        return sum;
    };
    const auto quantile = [components, probability](double p, bool upper) {
        double low = infinite;
        double high = -infinite;
        for (const Component& component : *components) {
            const double value = component.at * component.functions.quantile(p, upper);
            low = std::min(low, value);
            high = std::max(high, value);
        }
        const auto too_far = [&](double x) {
            return upper ? p - probability(x, true) : probability(x, false) - p;
        };
        const double at_low = too_far(low);
        const double at_high = too_far(high);
        if (low == high || at_low >= 0.0) {
            return low;
        }
        if (at_high <= 0.0) {
            return high;
        }
        std::uintmax_t iterations = 200;
        return boost::math::tools::toms748_solve(too_far, low, high, at_low, at_high,
                                                 boost::math::tools::eps_tolerance<double>(51), iterations)
            .second;
    };
    return functions(quantile, probability, std::move(knots));
}

/// Excess over the threshold u: P(X > x) = probability * (1 + shape (x - u) / scale)^(-1/shape).
/// Source: Pickands, Ann. Statist. 3 (1975) 119-131.
FamilyFunctions of(const ParetoTail& distribution)
{
    require(distribution.probability > 0.0 && distribution.probability < 1.0,
            "a tail probability between 0 and 1");
    require(distribution.scale > 0.0, "a positive tail scale");
    require(std::isfinite(distribution.shape), "a finite shape");
    const FamilyFunctions core = of(distribution.core);
    const double threshold = core.quantile(distribution.probability, true);
    std::vector<double> knots = core.knots;
    knots.push_back(threshold);
    return functions(
        [=](double p, bool upper) {
            const double survival = upper ? p : 1.0 - p;
            if (survival >= distribution.probability) {
                return std::min(core.quantile(p, upper), threshold);
            }
            return threshold + distribution.scale * power_tail(std::log(distribution.probability / survival),
                                                               distribution.shape);
        },
        [=](double x, bool upper) {
            if (x < threshold) {
                return core.probability(x, upper);
            }
            const double survival =
                distribution.probability *
                std::exp(-power_tail_inverse((x - threshold) / distribution.scale, distribution.shape));
            return upper ? survival : 1.0 - survival;
        },
        std::move(knots));
}

}  // namespace

FamilyFunctions functions_of(const Family& family)
{
    return std::visit([](const auto& distribution) { return of(distribution); }, family);
}

}  // namespace prismopt

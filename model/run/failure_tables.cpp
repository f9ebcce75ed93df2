#include "model/run/failure_tables.hpp"

#include "model/distribution/distribution.hpp"

#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/roots.hpp>

#include <cmath>
#include <cstdint>

namespace prismopt {

namespace {

/// Neither truncated nor raised, as factors of durations are: a gap may be as short as it likes.
QuantileTable table_of(const Family& family) { return QuantileTable(functions_of(family).quantile); }

// As in model/distribution/families.cpp.
using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

/// What is left of a gap X of mean one, seen at any time, is less than x with probability
/// E[min(X, x)]: density P(X > x), a length-biased gap times a uniform number. Source: Cox,
/// Renewal Theory (1962), section 5.
///
/// Gamma gaps of shape k, scale 1/k: the length-biased one has shape k + 1, so E[min(X, x)]
/// = P(k + 1, k x) + x Q(k, k x).
double rest_of_gamma(double shape, double x, bool upper)
{
    const double z = shape * x;
    const double longer = x * boost::math::gamma_q(shape, z, Plain());
    return upper ? boost::math::gamma_q(shape + 1.0, z, Plain()) - longer
                 : boost::math::gamma_p(shape + 1.0, z, Plain()) + longer;
}
Quantile rest_of_gamma(double cv)
{
    return [shape = 1.0 / (cv * cv)](double p, bool upper) {
        // In between: E[min(X, x)] <= x, and no rest exceeds its gap.
        const double low = upper ? 1.0 - p : p;
        const double high = (upper ? boost::math::gamma_q_inv(shape + 1.0, p, Plain())
                                   : boost::math::gamma_p_inv(shape + 1.0, p, Plain())) /
                            shape;
        const auto excess = [&](double log_x) {
            const double at = rest_of_gamma(shape, std::exp(log_x), upper);
            return upper ? p - at : at - p;
        };
        const double from = std::log(low);
        const double to = std::log(high);
        const double at_from = excess(from);
        const double at_to = excess(to);
        if (at_from >= 0.0 || at_to <= 0.0) {  // nothing in between but rounding
            return at_from >= 0.0 ? low : high;
        }
        constexpr int bits = 40;  // of a float's 24
        std::uintmax_t iterations = 100;
        const auto bracket = boost::math::tools::toms748_solve(
            excess, from, to, at_from, at_to, boost::math::tools::eps_tolerance<double>(bits), iterations);
        return std::exp(0.5 * (bracket.first + bracket.second));
    };
}

/// Weibull gaps of shape k: E[min(X, x)] = P(1/k, (x / scale)^k), the integral of
/// e^(-(t / scale)^k) from 0 to x.
Quantile rest_of_weibull(double cv)
{
    // X = scale (-log p)^(1/k) at upper probability p.
    const Quantile gap = functions_of(Weibull{cv}).quantile;
    const double scale = gap(std::exp(-1.0), true);
    const double inverse_shape = std::log(gap(std::exp(-std::exp(1.0)), true) / scale);
    return [=](double p, bool upper) {
        return scale * std::pow(upper ? boost::math::gamma_q_inv(inverse_shape, p, Plain())
                                      : boost::math::gamma_p_inv(inverse_shape, p, Plain()),
                                inverse_shape);
    };
}

}  // namespace

const QuantileTable& FailureTables::gaps(const GapDistribution& distribution)
{
    if (distribution.family == GapFamily::exponential) {
        return *exponential_;
    }
    const std::pair key{distribution.family, distribution.cv};
    const auto found = gaps_.find(key);
    if (found != gaps_.end()) {
        return found->second;
    }
    const auto table = [&distribution] {
        switch (distribution.family) {
            case GapFamily::gamma: return table_of(Gamma{distribution.cv});
            case GapFamily::weibull: return table_of(Weibull{distribution.cv});
            default: return QuantileTable([](double, bool) { return 1.0; });
        }
    };
    return gaps_.emplace(key, table()).first->second;
}

const QuantileTable& FailureTables::first_gaps(const GapDistribution& distribution)
{
    // The first gap is as the others.
    if (distribution.family == GapFamily::exponential || distribution.family == GapFamily::constant) {
        return gaps(distribution);
    }
    const std::pair key{distribution.family, distribution.cv};
    const auto found = first_gaps_.find(key);
    return found != first_gaps_.end()
               ? found->second
               : first_gaps_
                     .emplace(key, QuantileTable(distribution.family == GapFamily::gamma
                                                     ? rest_of_gamma(distribution.cv)
                                                     : rest_of_weibull(distribution.cv)))
                     .first->second;
}

const QuantileTable& FailureTables::repair(double cv)
{
    const auto found = repair_.find(cv);
    return found != repair_.end() ? found->second
                                  : repair_.emplace(cv, table_of(LogNormal{cv})).first->second;
}

const QuantileTable& FailureTables::rate(double cv) { return gaps({GapFamily::gamma, cv}); }

}  // namespace prismopt

#include "model/base/statistics.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace prismopt {

namespace {

template <class Distribution>
double quantile_of(const Distribution& distribution, double p, bool upper)
{
    return upper ? quantile(complement(distribution, p)) : quantile(distribution, p);
}

}  // namespace

double normal_quantile(double p, bool upper) { return quantile_of(boost::math::normal(), p, upper); }

double student_quantile(double freedom, double p, bool upper)
{
    return quantile_of(boost::math::students_t(freedom), p, upper);
}

double normal_probability(double z) { return cdf(boost::math::normal(), z); }

double chi_squared_beyond(double freedom, double x)
{
    return cdf(complement(boost::math::chi_squared(freedom), x));
}

double fisher_beyond(double freedom, double freedom_of_divisor, double x)
{
    return cdf(complement(boost::math::fisher_f(freedom, freedom_of_divisor), x));
}

double fisher_limit(double freedom, double freedom_of_divisor, double p)
{
    return quantile_of(boost::math::fisher_f(freedom, freedom_of_divisor), p, true);
}

StatisticLimits variance_limits(double variance, double freedom)
{
    constexpr double tail = 0.025;
    const boost::math::chi_squared distribution(freedom);
    return {variance * freedom / quantile(distribution, 1.0 - tail),
            variance * freedom / quantile(distribution, tail)};
}

StatisticLimits share_limits(double count, double hits, double tail)
{
    using boost::math::binomial;
    return {binomial::find_lower_bound_on_p(count, hits, tail),
            binomial::find_upper_bound_on_p(count, hits, tail)};
}

}  // namespace prismopt

#include "model/calibration/fit/outliers.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Degrees of freedom of the median absolute deviation of so many normal values, over their number: of its
/// asymptotic variance (Rousseeuw and Croux, J. Am. Stat. Assoc. 88 (1993) 1273-1283: an efficiency of 36.7
/// %, where the standard deviation has n).
constexpr double freedom_of_mad = 0.367;

/// Probability of a distance from the median, in standard deviations of which `seen` is estimated from that
/// many values: Student's t with Satterthwaite's degrees of freedom (Biometrics Bulletin 2 (1946) 110-114).
double beyond_median(double distance, double deviation, double seen, std::size_t values)
{
    const double z = distance / deviation;
    const double estimated = seen / deviation;  // part of it
    const double freedom = freedom_of_mad * static_cast<double>(values) / std::pow(estimated, 4.0);
    constexpr double many = 1e6;
    if (!(freedom < many)) {
        return 0.5 * std::erfc(z / std::sqrt(2.0));
    }
    return boost::math::cdf(boost::math::complement(boost::math::students_t(std::max(1.0, freedom)), z));
}

}  // namespace

std::vector<Outlier> outliers(const std::vector<double>& values, const std::vector<double>& errors)
{
    constexpr double level = 0.01;
    constexpr std::size_t least = 4;  // of two or three nobody knows which one is slow
    if (values.size() < least) {
        return {};
    }
    const double median = median_of(values);
    std::vector<double> distance(values.size());
    std::transform(values.begin(), values.end(), distance.begin(),
                   [&](double x) { return std::abs(x - median); });
    // a normal distribution's standard deviation, errors included
    const double seen = 1.4826 * median_of(distance);
    const double usual_error = median_of(errors);
    const double spread = std::sqrt(std::max(0.0, seen * seen - usual_error * usual_error));
    std::vector<Outlier> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        found.push_back(
            {i, beyond_median(values[i] - median, std::hypot(spread, errors[i]), seen, values.size())});
    }
    std::sort(found.begin(), found.end(),
              [](const Outlier& a, const Outlier& b) { return a.probability < b.probability; });
    double before = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i].probability =
            std::max(before, std::min(1.0, found[i].probability * static_cast<double>(found.size() - i)));
        before = found[i].probability;
        if (before > level) {
            found.resize(i);
        }
    }
    return found;
}

std::vector<Outlier> with_their_mode(const std::vector<double>& values, std::vector<Outlier> found)
{
    constexpr int most_rounds = 10;
    std::vector<char> is_out(values.size(), 0);
    for (const Outlier& outlier : found) {
        is_out[outlier.index] = 1;
    }
    for (int round = 0; round < most_rounds && !found.empty() && 2 * found.size() < values.size(); ++round) {
        std::vector<double> usual;
        std::vector<double> out;
        for (std::size_t i = 0; i < values.size(); ++i) {
            (is_out[i] != 0 ? out : usual).push_back(values[i]);
        }
        const double centre = median_of(usual);
        std::vector<double> distance(usual.size());
        std::transform(usual.begin(), usual.end(), distance.begin(),
                       [&](double x) { return std::abs(x - centre); });
        const double spread = 1.4826 * median_of(distance);
        const double excess = mean_of(out) - centre;
        const double odds = std::log(static_cast<double>(usual.size()) / static_cast<double>(out.size()));
        const double limit = centre + 0.5 * excess + spread * spread / excess * odds;
        const std::size_t before = found.size();
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (is_out[i] == 0 && values[i] > limit) {
                is_out[i] = 1;
                found.push_back({i, 0.5 * std::erfc((values[i] - centre) / spread / std::sqrt(2.0))});
            }
        }
        if (found.size() == before) {
            break;
        }
    }
    return found;
}

}  // namespace prismopt

#include "model/calibration/fit/outliers.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

std::vector<Outlier> outliers(const std::vector<double>& values, const std::vector<double>& errors)
{
    constexpr double level = 0.01;
    constexpr std::size_t least = 4;  // of two or three nobody knows which one is slow
    if (values.size() < least) {
        return {};
    }
    const double median = median_of(values);
    std::vector<double> distance(values.size());
    std::transform(values.begin(), values.end(), distance.begin(), [&](double x) { return std::abs(x - median); });
    const double spread = 1.4826 * median_of(distance);  // a normal distribution's standard deviation
    std::vector<Outlier> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double z = (values[i] - median) / std::hypot(spread, errors[i]);
        found.push_back({i, 0.5 * std::erfc(z / std::sqrt(2.0))});
    }
    std::sort(found.begin(), found.end(), [](const Outlier& a, const Outlier& b) { return a.probability < b.probability; });
    double before = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i].probability = std::max(before, std::min(1.0, found[i].probability * static_cast<double>(found.size() - i)));
        before = found[i].probability;
        if (before > level) {
            found.resize(i);
        }
    }
    return found;
}

}  // namespace prismopt

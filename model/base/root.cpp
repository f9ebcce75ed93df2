#include "model/base/root.hpp"

#include <boost/math/tools/roots.hpp>

#include <cmath>
#include <cstdint>

namespace prismopt {

std::optional<double> root_between(const std::function<double(double)>& function, double low, double high,
                                   int bits)
{
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
        return std::nullopt;
    }
    const double at_low = function(low);
    const double at_high = function(high);
    // Also refuses values that are not numbers.
    if (!((at_low <= 0.0 && at_high >= 0.0) || (at_low >= 0.0 && at_high <= 0.0))) {
        return std::nullopt;
    }
    if (at_low == 0.0 || at_high == 0.0) {
        return at_low == 0.0 ? low : high;
    }
    constexpr std::uintmax_t most{most_halvings};
    std::uintmax_t halvings = most;
    const auto bracket = boost::math::tools::bisect(
        function, low, high, boost::math::tools::eps_tolerance<double>(bits), halvings);
    if (halvings >= most) {
        return std::nullopt;
    }
    return 0.5 * (bracket.first + bracket.second);
}

}  // namespace prismopt

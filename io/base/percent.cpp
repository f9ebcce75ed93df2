#include "io/base/percent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr double rounding_of_sums = 1e-9;  // shares are sums

}  // namespace

std::string percent_figure(double share, int decimals)
{
    if (!std::isfinite(share)) {
        return "-";
    }
    const double step = std::pow(10.0, -decimals);
    const double least = 0.005 * step;
    if (share > rounding_of_sums && share < least) {
        return fmt::format("<{:.{}f}", step, decimals);
    }
    if (share < -rounding_of_sums && share > -least) {
        return fmt::format(">{:.{}f}", -step, decimals);
    }
    if (share < 1.0 - rounding_of_sums && share >= 1.0 - least) {
        return fmt::format(">{:.{}f}", 100.0 - step, decimals);
    }
    const bool none = std::abs(share) <= rounding_of_sums;
    return fmt::format("{:.{}f}", none ? 0.0 : 100.0 * share, decimals);
}

std::string percent_text(double share, int decimals) { return percent_figure(share, decimals) + " %"; }

std::string chance_figure(double probability)
{
    constexpr double edge = 1e-3;
    return percent_figure(std::clamp(probability, edge, 1.0 - edge), 0);
}

std::string chance_text(double probability) { return chance_figure(probability) + " %"; }

std::string probability_text(double probability)
{
    constexpr double small = 0.1;
    constexpr double likely = 0.99;
    if (probability > 0.0 && probability < small) {
        return relative_text(probability, 2);
    }
    return percent_text(probability, probability > likely && probability < 1.0 ? 1 : 0);
}

std::string change_text(double difference, int decimals)
{
    return fmt::format("{:+.{}f} %", 100.0 * difference, decimals);
}

std::string relative_text(double amount, int digits)
{
    return fmt::format("{:.{}g} %", 100.0 * amount, digits);
}

}  // namespace prismopt

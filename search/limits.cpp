#include "search/limits.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace prismopt {

void Limits::add(std::size_t owner, const std::vector<double>& high)
{
    if (!std::all_of(high.begin(), high.end(), [](double limit) { return std::isfinite(limit); })) {
        return;
    }
    for (const Limit& other : limits_) {
        if (std::equal(high.begin(), high.end(), other.high.begin(), std::greater_equal<>())) {
            return;
        }
    }
    std::erase_if(limits_, [&](const Limit& other) { return dominates(high, other.high); });
    limits_.push_back({++newest_, owner, high});
}

bool Limits::rule_out(std::size_t owner, std::span<const double> low, std::uint64_t after) const
{
    for (auto limit = limits_.rbegin(); limit != limits_.rend() && limit->number > after; ++limit) {
        if (limit->owner != owner && dominates(limit->high, low)) {
            return true;
        }
    }
    return false;
}

Limits::Nearest Limits::nearest(std::span<const double> low) const
{
    const auto excess = [low](const Limit& limit) {
        double most = 0.0;
        for (std::size_t k = 0; k < low.size(); ++k) {
            if (limit.high[k] > low[k]) {
                most = std::max(most, (limit.high[k] - low[k]) / std::abs(limit.high[k]));
            }
        }
        return most;
    };
    const Limit& nearest = *std::ranges::min_element(limits_, {}, excess);
    return {nearest.owner, excess(nearest)};
}

std::size_t Limits::owner_of_least(std::size_t objective) const
{
    const auto by_limit = [objective](const Limit& a, const Limit& b) {
        return a.high[objective] < b.high[objective];
    };
    return std::min_element(limits_.begin(), limits_.end(), by_limit)->owner;
}

std::vector<std::vector<double>> Limits::sorted() const
{
    std::vector<std::vector<double>> sorted;
    for (const Limit& limit : limits_) {
        sorted.push_back(limit.high);
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

}  // namespace prismopt

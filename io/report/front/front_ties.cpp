#include "io/report/front/front_ties.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// An interval without an end, of too few draws, decides nothing.
bool inside(double value, const Estimate& of)
{
    return std::isfinite(of.low) && std::isfinite(of.high) && of.low <= value && value <= of.high;
}

bool equal_estimates(const Estimate& a, const Estimate& b)
{
    return a.value == b.value || (inside(a.value, b) && inside(b.value, a));
}

}  // namespace

bool tie(const FrontPoint& a, const FrontPoint& b)
{
    return std::equal(a.objectives.begin(), a.objectives.end(), b.objectives.begin(), b.objectives.end(),
                      equal_estimates);
}

std::vector<std::vector<std::uint64_t>> ties(const std::vector<FrontPoint>& front)
{
    std::vector<std::vector<std::uint64_t>> result(front.size());
    for (std::size_t i = 0; i < front.size(); ++i) {
        for (std::size_t j = 0; j < front.size(); ++j) {
            if (i != j && tie(front[i], front[j])) {
                result[i].push_back(front[j].index);
            }
        }
    }
    return result;
}

}  // namespace prismopt

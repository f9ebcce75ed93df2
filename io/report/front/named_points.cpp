#include "io/report/front/named_points.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace prismopt {

namespace {

bool may_be_named(const FrontPoint& point)
{
    return !point.dominated &&
           std::all_of(point.objectives.begin(), point.objectives.end(),
                       [](const Estimate& objective) { return std::isfinite(objective.value); });
}

/// Distance from the best of every objective, squared, in the box of `members`.
double distance(const FrontPoint& point, const std::vector<FrontPoint>& front,
                const std::vector<std::size_t>& members)
{
    double sum = 0.0;
    for (std::size_t k = 0; k < point.objectives.size(); ++k) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (const std::size_t i : members) {
            low = std::min(low, front[i].objectives[k].value);
            high = std::max(high, front[i].objectives[k].value);
        }
        const double share = high > low ? (point.objectives[k].value - low) / (high - low) : 0.0;
        sum += share * share;
    }
    return sum;
}

}  // namespace

NamedPoints named_points(const Results& results)
{
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        if (may_be_named(results.front[i])) {
            members.push_back(i);
        }
    }
    const auto least = [&](const std::function<double(const FrontPoint&)>& of) -> std::optional<std::size_t> {
        const auto found =
            std::min_element(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
                return of(results.front[a]) < of(results.front[b]);
            });
        return found == members.end() ? std::nullopt : std::optional(*found);
    };
    return {least([](const FrontPoint& p) { return p.objectives.front().value; }),
            least([&](const FrontPoint& p) { return distance(p, results.front, members); }),
            least([](const FrontPoint& p) { return p.prediction.cost_usd.value; })};
}

std::vector<std::size_t> positions(const NamedPoints& named)
{
    std::vector<std::size_t> list;
    for (const auto& position : {named.best, named.knee, named.cheapest}) {
        if (position && std::find(list.begin(), list.end(), *position) == list.end()) {
            list.push_back(*position);
        }
    }
    return list;
}

}  // namespace prismopt

#include "io/results/may_not_fit.hpp"

#include <algorithm>

namespace prismopt {

bool is_nowhere_worse(const std::vector<Estimate>& a, const std::vector<Estimate>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](const Estimate& x, const Estimate& y) { return x.value <= y.value; });
}

void sift_may_not_fit(Results& results)
{
    const std::vector<FrontPoint> all = results.may_not_fit.plans;
    std::erase_if(results.may_not_fit.plans, [&](const FrontPoint& plan) {
        const auto matches_it = [&plan](const FrontPoint& other) {
            return is_nowhere_worse(other.objectives, plan.objectives);
        };
        const auto replaces_it = [&](const FrontPoint& other) {
            const double more = other.prediction.fit_probability - plan.prediction.fit_probability;
            const bool equal = more == 0.0 && is_nowhere_worse(plan.objectives, other.objectives);
            return more >= 0.0 && !equal && matches_it(other);
        };
        return std::any_of(results.front.begin(), results.front.end(), matches_it) ||
               std::any_of(all.begin(), all.end(), replaces_it);
    });
}

}  // namespace prismopt

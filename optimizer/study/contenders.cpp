#include "optimizer/study/contenders.hpp"

#include "model/base/median.hpp"
#include "search/near_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

bool is_known(double value) { return std::isfinite(value) && value > 0.0; }

/// How far drawn plans are above what is known without draws (bounds, or estimates),
/// by number of GPUs and objective.
class AboveKnown {
public:
    void add(const Contender& drawn, const std::vector<double>& known)
    {
        for (std::size_t k = 0; k < known.size(); ++k) {
            if (is_known(known[k])) {
                const double ratio = drawn.values[k] / known[k];
                ratios_[{drawn.gpus, k}].push_back(ratio);
                ratios_[{all, k}].push_back(ratio);
            }
        }
    }

    double usual(int gpus, std::size_t objective) const
    {
        const std::vector<double>* ratios = of(gpus, objective);
        return ratios == nullptr ? 1.0 : median_of(*ratios);
    }
    double least(int gpus, std::size_t objective) const
    {
        const std::vector<double>* ratios = of(gpus, objective);
        return ratios == nullptr ? 1.0 : *std::min_element(ratios->begin(), ratios->end());
    }

private:
    static constexpr int all = 0;

    /// Those of this number of GPUs, else of all numbers; nullptr: no plan was drawn.
    const std::vector<double>* of(int gpus, std::size_t objective) const
    {
        auto found = ratios_.find({gpus, objective});
        if (found == ratios_.end()) {
            found = ratios_.find({all, objective});
        }
        return found == ratios_.end() ? nullptr : &found->second;
    }

    std::map<std::pair<int, std::size_t>, std::vector<double>> ratios_;
};

/// Those that are near the best of their number of GPUs.
std::vector<Contender> near_the_best(std::vector<Contender> all, const std::vector<ObjectiveInfo>& objectives)
{
    std::set<std::size_t> chosen;
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        if (!follows_step(objectives[k].name)) {
            continue;
        }
        std::map<int, std::vector<std::size_t>> by_gpus;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!std::isnan(all[i].values[k])) {
                by_gpus[all[i].gpus].push_back(i);
            }
        }
        for (auto& [size, members] : by_gpus) {
            std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
                return all[a].values[k] < all[b].values[k];
            });
            const double limit = (1.0 + near_best) * all[members.front()].values[k];
            for (std::size_t m = 0;
                 m < std::min(members.size(), most_near) && all[members[m]].values[k] <= limit; ++m) {
                chosen.insert(members[m]);
            }
        }
    }
    std::vector<Contender> result;
    for (const std::size_t i : chosen) {
        result.push_back(std::move(all[i]));
    }
    return result;
}

/// Values of a plan that was not drawn: what is known of it, times how far drawn plans are above that.
void set_values(Contender& contender, const std::vector<double>& known, const AboveKnown& above,
                double (AboveKnown::*ratio)(int, std::size_t) const)
{
    for (std::size_t k = 0; k < known.size(); ++k) {
        contender.values[k] = is_known(known[k]) ? known[k] * (above.*ratio)(contender.gpus, k)
                                                 : std::numeric_limits<double>::quiet_NaN();
    }
}

/// All plans of the results, by index. What was not drawn is judged by its stored bounds, times the least
/// ratio: bounds contain nothing of what a run waits for nodes, of which plans with few spares have much.
std::vector<Contender> all_plans(const StudyModel& model, const Results& results)
{
    std::map<std::uint64_t, const FrontPoint*> confirmed;
    for (const FrontPoint& point : results.front) {
        confirmed[point.index] = &point;
    }
    AboveKnown above;
    std::vector<Contender> all(results.evaluations.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const EvaluatedPoint& point = results.evaluations[i];
        all[i].index = point.index;
        all[i].gpus = model.designs.plan(model.designs.space().point(point.index)).gpus();
        const auto front = confirmed.find(point.index);
        all[i].on_front = front != confirmed.end();
        all[i].drawn = all[i].on_front || !point.objectives.empty();
        all[i].values.resize(results.objectives.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t k = 0; all[i].drawn && k < all[i].values.size(); ++k) {
            all[i].values[k] =
                (front != confirmed.end() ? front->second->objectives : point.objectives)[k].value;
        }
        if (all[i].drawn) {
            above.add(all[i], point.bounds);
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].drawn) {
            set_values(all[i], results.evaluations[i].bounds, above, &AboveKnown::least);
        }
    }
    return all;
}

}  // namespace

std::vector<Contender> contenders_of(const StudyModel& model, const Results& results, const FindFacts& find)
{
    std::vector<Contender> near = near_the_best(all_plans(model, results), results.objectives);
    FactsRequest request{FactsRequest::Kind::estimates, {}};
    for (const Contender& contender : near) {
        request.points.push_back(contender.index);
    }
    // A sweep stores the first bound that excludes a plan, so stored bounds are not equally tight, and none
    // contains what a run waits for nodes; these estimates do.
    const std::vector<PlanFacts> facts = find(request);
    AboveKnown above;
    for (std::size_t i = 0; i < near.size(); ++i) {
        near[i].memory_share = facts[i].memory_share;
        near[i].variant = model.designs.variant(model.designs.space().point(near[i].index));
        if (near[i].drawn) {
            above.add(near[i], facts[i].estimates);
        }
    }
    for (std::size_t i = 0; i < near.size(); ++i) {
        if (!near[i].drawn) {
            set_values(near[i], facts[i].estimates, above, &AboveKnown::usual);
        }
    }
    return near_the_best(std::move(near), results.objectives);
}

}  // namespace prismopt

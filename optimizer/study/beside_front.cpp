#include "optimizer/study/beside_front.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace prismopt {

namespace {

/// Numbers of GPUs below the answer's whose plans are drawn: the lower bound of a plan may promise
/// less than the plan then needs.
constexpr std::size_t most_smaller_sizes = 3;

/// What counts as least: what the question minimises, otherwise the first objective.
std::size_t aim_of(const StudyModel& model)
{
    const auto& question = model.scenario.question;
    return question ? model.position_of(objective_of(question->minimise)) : 0;
}

/// Whether a search may have excluded plans because they would be late, although they
/// have less of what is minimised.
bool can_show_too_few(const StudyModel& model)
{
    return model.limits_promise() && model.scenario.question->minimise != QuestionAim::time;
}

/// GPUs of the plan of the front that has the least among those that keep the limits; zero if none does.
int gpus_of_answer(const StudyModel& model, const Archive& archive, std::span<const std::uint64_t> front)
{
    const std::size_t aim = aim_of(model);
    double least = std::numeric_limits<double>::infinity();
    int gpus = 0;
    for (const std::uint64_t index : front) {
        const Evaluation& evaluation = archive.evaluations().at(index);
        if (keeps(evaluation.keeping) && evaluation.objectives[aim].value < least) {
            least = evaluation.objectives[aim].value;
            gpus = model.designs.plan(model.designs.space().point(index)).gpus();
        }
    }
    return gpus;
}

std::set<std::size_t> machines_of(const StudyModel& model, std::span<const std::uint64_t> front)
{
    std::set<std::size_t> machines;
    for (const std::uint64_t index : front) {
        machines.insert(model.cluster(model.designs.space().point(index)));
    }
    return machines;
}

/// Of each region and number of spares the plan with the least of a figure: bounds do not know
/// of the waiting that spares save.
class LeastOfRegions {
public:
    explicit LeastOfRegions(const StudyModel& model) : model_(model) {}

    void add(double figure, std::uint64_t index)
    {
        const int spares = model_.designs.plan(model_.designs.space().point(index)).spares;
        const std::pair own{figure, index};
        const auto [found, added] = least_.try_emplace(std::pair{model_.region(index), spares}, own);
        found->second = std::min(found->second, own);
    }
    void put_into(std::set<std::uint64_t>& indices) const
    {
        for (const auto& [of, plan] : least_) {
            indices.insert(plan.second);
        }
    }

private:
    const StudyModel& model_;
    std::map<std::pair<std::uint64_t, int>, std::pair<double, std::uint64_t>> least_;  // by region and spares
};

const FrontPoint* best_by(std::span<const FrontPoint> plans,
                          const std::function<bool(const FrontPoint&)>& counts,
                          const std::function<bool(const FrontPoint&, const FrontPoint&)>& before)
{
    const FrontPoint* best = nullptr;
    for (const FrontPoint& plan : plans) {
        if (counts(plan) && (best == nullptr || before(plan, *best))) {
            best = &plan;
        }
    }
    return best;
}

}  // namespace

std::vector<std::uint64_t> candidates_beside_front(const StudyModel& model, const Archive& archive,
                                                   std::span<const std::uint64_t> front)
{
    if (!model.near_objective || front.empty()) {
        return {};
    }
    const std::set<std::size_t> shown = machines_of(model, front);
    const int answer = can_show_too_few(model) ? gpus_of_answer(model, archive, front) : 0;
    std::set<int> smaller;
    const auto gpus_of = [&](std::uint64_t index) {
        return model.designs.plan(model.designs.space().point(index)).gpus();
    };
    const std::vector<Bound> bounds = archive.bounds_and_near();
    for (const Bound& bound : bounds) {
        if (const int gpus = gpus_of(bound.index); gpus < answer) {
            smaller.insert(gpus);
        }
    }
    while (smaller.size() > most_smaller_sizes) {
        smaller.erase(smaller.begin());
    }
    const auto counts = [&](std::uint64_t index) {
        return !shown.contains(model.cluster(model.designs.space().point(index))) ||
               smaller.contains(gpus_of(index));
    };
    LeastOfRegions by_bound(model);
    for (const Bound& bound : bounds) {
        if (counts(bound.index)) {
            by_bound.add(bound.objectives[*model.near_objective], bound.index);
        }
    }
    LeastOfRegions drawn(model);
    for (const auto& [index, evaluation] : archive.evaluations()) {
        if (!keeps(evaluation.keeping) && counts(index)) {
            drawn.add(evaluation.objectives[*model.near_objective].value, index);
        }
    }
    std::set<std::uint64_t> indices;
    by_bound.put_into(indices);
    drawn.put_into(indices);
    return {indices.begin(), indices.end()};
}

std::vector<FrontPoint> shown_beside_front(const StudyModel& model, std::span<const FrontPoint> front,
                                           std::span<const FrontPoint> drawn)
{
    const std::size_t aim = aim_of(model);
    const auto amount = [aim](const FrontPoint& plan) { return plan.objectives[aim].value; };
    const auto is_kept = [&](const FrontPoint& plan) { return keeps(model.keeping(plan.prediction)); };
    const auto less = [&](const FrontPoint& a, const FrontPoint& b) { return amount(a) < amount(b); };
    const auto promised_s = [&](const FrontPoint& plan) {
        return is_kept(plan) ? 0.0 : plan.prediction.promised.value;
    };
    std::map<std::uint64_t, const FrontPoint*> shown;
    const FrontPoint* answer = best_by(front, is_kept, less);
    if (can_show_too_few(model) && answer != nullptr) {
        const auto too_late = [&](const FrontPoint& plan) {
            return !is_kept(plan) && (less(plan, *answer) || plan.prediction.gpus < answer->prediction.gpus);
        };
        const auto rank = [&](const FrontPoint& plan) {
            return std::tuple(!less(plan, *answer), -plan.prediction.gpus, promised_s(plan));
        };
        const auto by_rank = [&](const FrontPoint& a, const FrontPoint& b) { return rank(a) < rank(b); };
        if (const FrontPoint* miss = best_by(drawn, too_late, by_rank)) {
            shown[miss->index] = miss;
        }
    }
    std::set<std::size_t> missing;
    for (std::size_t machine = 0; machine < model.scenario.machines.size(); ++machine) {
        missing.insert(machine);
    }
    for (const FrontPoint& plan : front) {
        missing.erase(model.cluster(plan.point));
    }
    for (const std::size_t machine : missing) {
        const auto is_of_it = [&](const FrontPoint& plan) { return model.cluster(plan.point) == machine; };
        const auto before = [&](const FrontPoint& a, const FrontPoint& b) {
            return std::tuple(promised_s(a), amount(a)) < std::tuple(promised_s(b), amount(b));
        };
        if (const FrontPoint* best = best_by(drawn, is_of_it, before)) {
            shown[best->index] = best;
        }
    }
    for (const FrontPoint& plan : front) {
        shown.erase(plan.index);
    }
    std::vector<FrontPoint> result;
    for (const auto& [index, plan] : shown) {
        result.push_back(*plan);
    }
    return result;
}

}  // namespace prismopt

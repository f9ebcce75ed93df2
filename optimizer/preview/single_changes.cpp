#include "optimizer/preview/single_changes.hpp"

#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <variant>

namespace prismopt {

namespace {

/// Values that people try, whatever the space lists.
SpaceSettings usual_values()
{
    SpaceSettings space;
    space.tp = {1, 2, 4, 8};
    space.cp = {1, 2, 4, 8};
    space.pp = {1, 2, 4, 8, 16, 32};
    space.ep = {1, 2, 4, 8, 16, 32, 64};
    space.microbatch = {1, 2, 4};
    space.recompute = {Recompute::selective, Recompute::full};
    space.sharding = {Sharding::zero1, Sharding::zero2, Sharding::zero3};
    space.offload = {Offload::optimizer, Offload::activations};
    return space;
}

/// With as many replicas as the GPUs then have; nothing where these are not whole.
std::optional<ParallelPlan> on(int gpus, ParallelPlan plan)
{
    const int replica = plan.tp * plan.cp * plan.pp;
    if (replica > gpus || gpus % replica != 0) {
        return std::nullopt;
    }
    plan.dp = gpus / replica;
    return plan;
}

/// The words of a plan that name this axis: "recompute=full".
std::string words_of(std::string_view axis, const ParallelPlan& plan, const SpaceSettings& space)
{
    std::istringstream words(design_text(plan, space));
    const std::string begin = fmt::format("{}=", axis);
    for (std::string word; words >> word;) {
        if (word.starts_with(begin)) {
            return word;
        }
    }
    return "";
}

class Changes {
public:
    Changes(const Scenario& scenario, const Problem& problem) : scenario_(scenario), problem_(problem), predictor_(problem) {}

    void try_values(const ParallelPlan& plan, const SpaceSettings& values, bool in_space)
    {
        for_each_axis([&](const auto& axis) {
            for (const auto& value : values.*(axis.values)) {
                ParallelPlan changed = plan;
                changed.*(axis.choice) = value;
                if (!(changed == plan)) {
                    add(axis.name, on(plan.gpus(), changed), in_space);
                }
            }
        });
    }

    void try_gpus(const ParallelPlan& plan)
    {
        for (const int gpus : scenario_.space.gpus) {
            if (gpus != plan.gpus()) {
                add(gpus_axis.name, on(gpus, plan), true);
            }
        }
    }

    std::vector<SingleChange> take()
    {
        std::stable_sort(found_.begin(), found_.end(),
                         [](const SingleChange& a, const SingleChange& b) { return a.step_s < b.step_s; });
        return std::move(found_);
    }
    bool empty() const { return found_.empty(); }

private:
    void add(std::string_view axis, const std::optional<ParallelPlan>& changed, bool in_space)
    {
        if (!changed || structural_problem(*changed, problem_.phases, problem_.workload, problem_.cluster)) {
            return;
        }
        const auto bound = predictor_.bound(*changed);
        const auto* feasible = std::get_if<NoiseFree>(&bound);
        const std::string words = words_of(axis, *changed, scenario_.space);
        if (feasible != nullptr && !words.empty()) {
            found_.push_back({words, in_space, feasible->step_s, feasible->memory_bytes});
        }
    }

    const Scenario& scenario_;
    const Problem& problem_;
    Predictor predictor_;
    std::vector<SingleChange> found_;
};

}  // namespace

std::vector<SingleChange> single_changes(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem)
{
    Changes changes(scenario, problem);
    changes.try_values(plan, scenario.space, true);
    changes.try_gpus(plan);
    if (changes.empty()) {
        changes.try_values(plan, usual_values(), false);
    }
    return changes.take();
}

}  // namespace prismopt

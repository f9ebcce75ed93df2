#include "optimizer/space/stand_ins.hpp"

#include "model/plan/plan_axes.hpp"

#include <algorithm>
#include <numeric>

namespace prismopt {

namespace {

/// What the axis at this place (place_of()) can change.
Changes changes_of(std::size_t place)
{
    Changes changes;
    std::size_t at = 0;
    for_each_axis([&](const auto& axis) {
        ++at;  // behind the number of GPUs
        if (at == place) {
            changes = axis.changes;
        }
    });
    return changes;
}

/// All choices of the axes for which `varies(position)`, with the first label on the others.
template <class Varies>
std::vector<std::vector<int>> choices(std::span<const Axis> axes, Varies&& varies)
{
    std::vector<std::vector<int>> all{std::vector<int>(axes.size(), 0)};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::size_t known = varies(axis) ? all.size() : 0;
        for (std::size_t label = 1; label < axes[axis].labels.size(); ++label) {
            for (std::size_t i = 0; i < known; ++i) {
                all.push_back(all[i]);
                all.back()[axis] = static_cast<int>(label);
            }
        }
    }
    return all;
}

/// Whether a plan differs from the first one in an option of recompute that has no effect on it.
bool is_another_name(const ParallelPlan& plan, const ParallelPlan& first)
{
    return (plan.recompute != Recompute::full && plan.recomputed_layers != first.recomputed_layers) ||
           (plan.recompute != Recompute::selective && plan.recompute_modules != first.recompute_modules);
}

}  // namespace

StandIns::StandIns(const DesignMap& designs, std::size_t last_axis)
    : designs_(designs), depth_(designs.axes_of_variants() + last_axis + 1),
      least_work_(last_axis < place_of(&ParallelPlan::recomputed_layers))
{
    const std::vector<Axis>& axes = designs.space().axes();
    const std::size_t before = designs.axes_of_variants();
    const auto later = std::span(axes).subspan(depth_);
    const auto with = [&](auto&& matters) {
        return choices(later, [&](std::size_t axis) { return matters(changes_of(last_axis + 1 + axis)); });
    };
    ends_of_runs_ = with([](const Changes& changes) { return changes.run; });
    ends_of_steps_ = with(
        [this](const Changes& changes) { return changes.stages && !(least_work_ && changes.adds_work); });
    ends_of_memory_ = with([](const Changes& changes) { return changes.memory; });
    const std::size_t sharding = place_of(&ParallelPlan::sharding);
    if (sharding > last_axis) {
        Point point(axes.size(), 0);
        const auto level = [&](int label) {
            point[before + sharding] = label;
            return designs_.plan(point).sharding;
        };
        int highest = 0;
        for (int label = 1; label < static_cast<int>(axes[before + sharding].labels.size()); ++label) {
            if (level(label) > level(highest)) {
                highest = label;
            }
        }
        for (Labels& end : ends_of_memory_) {
            end[sharding - last_axis - 1] = highest;
        }
    }
}

bool StandIns::few() const
{
    constexpr std::size_t most = 64;  // an assumption: some 30 us, as many as one plan with a program
    return ends_of_steps_.size() + ends_of_memory_.size() + ends_of_runs_.size() <= most;
}

bool StandIns::few_of_memory() const
{
    constexpr std::size_t most = 64;               // an assumption, as of all stand-ins
    constexpr std::size_t least_combinations = 4;  // another: memory takes a quarter of a bound's time
    const auto later = std::span(designs_.space().axes()).subspan(depth_);
    const std::size_t combinations =
        std::accumulate(later.begin(), later.end(), std::size_t{1},
                        [](std::size_t product, const Axis& axis) { return product * axis.labels.size(); });
    return ends_of_memory_.size() <= most && combinations >= least_combinations * ends_of_memory_.size();
}

void StandIns::set(std::span<const int> leading)
{
    complete(leading, ends_of_steps_, steps_);
    if (least_work_) {
        for (ParallelPlan& plan : steps_) {
            plan.recompute = Recompute::none;
            plan.offload = Offload::none;
        }
    }
    complete(leading, ends_of_memory_, memory_);
    std::erase_if(memory_, [first = memory_.front()](const ParallelPlan& plan) {
        return is_another_name(plan, first);
    });
    complete(leading, ends_of_runs_, runs_);
}

void StandIns::complete(std::span<const int> leading, const std::vector<Labels>& ends,
                        std::vector<ParallelPlan>& plans) const
{
    Point point(leading.begin(), leading.end());
    plans.clear();
    for (const Labels& end : ends) {
        point.resize(depth_);
        point.insert(point.end(), end.begin(), end.end());
        plans.push_back(designs_.plan(point));
    }
}

}  // namespace prismopt

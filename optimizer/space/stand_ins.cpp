#include "optimizer/space/stand_ins.hpp"

#include "model/plan/plan_axes.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr std::array without_influence{place_of(&ParallelPlan::sharding), place_of(&ParallelPlan::dp_overlap),
                                       place_of(&ParallelPlan::node_order)};
constexpr std::array of_runs{place_of(&ParallelPlan::checkpoint_interval), place_of(&ParallelPlan::spares)};

template <std::size_t N>
bool contains(const std::array<std::size_t, N>& places, std::size_t place)
{
    return std::find(places.begin(), places.end(), place) != places.end();
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

}  // namespace

StandIns::StandIns(const DesignMap& designs) : designs_(designs)
{
    const std::vector<Axis>& axes = designs.space().axes();
    const std::size_t before = designs.axes_of_hardware();
    depth_ = before + place_of(&ParallelPlan::recomputed_layers) + 1;
    const auto later = std::span(axes).subspan(depth_);
    const auto place = [&](std::size_t axis) { return depth_ - before + axis; };
    ends_of_runs_ = choices(later, [&](std::size_t axis) { return contains(of_runs, place(axis)); });
    ends_of_steps_ = choices(later, [&](std::size_t axis) {
        return !contains(of_runs, place(axis)) && !contains(without_influence, place(axis));
    });
}

bool StandIns::few() const
{
    constexpr std::size_t most = 64;  // an assumption: some 30 us, as many as one plan with a program
    return ends_of_steps_.size() + ends_of_runs_.size() <= most;
}

void StandIns::set(std::span<const int> leading)
{
    complete(leading, ends_of_steps_, steps_);
    complete(leading, ends_of_runs_, runs_);
}

void StandIns::complete(std::span<const int> leading, const std::vector<Labels>& ends, std::vector<ParallelPlan>& plans) const
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

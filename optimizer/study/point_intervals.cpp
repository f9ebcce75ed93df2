#include "optimizer/study/point_intervals.hpp"

namespace prismopt {

namespace {

/// Each has compilers for all constants of its cluster.
constexpr std::size_t most_variants = 8;
constexpr std::size_t most_points = 4096;

/// Makes room for another entry.
template <class Map>
void make_room(Map& map, std::size_t most)
{
    if (map.size() >= most) {
        map.clear();
    }
}

}  // namespace

PointIntervals::OfVariant::OfVariant(const Problem& its_problem, const FittedModel& fitted)
    : problem(its_problem), intervals(setting_of(problem, problem.phases.front()), fitted)
{
}

PointIntervals::PointIntervals(const StudyModel& model)
    : model_(model), fitted_(fitted_model()), bench_(model.scenario, model.problem)
{
}

PointIntervals::OfVariant& PointIntervals::of_variant(const Point& point)
{
    const std::size_t variant = model_.designs.variant(point);
    if (!variants_.contains(variant)) {
        make_room(variants_, most_variants);
    }
    return variants_.try_emplace(variant, bench_.problem(variant), fitted_).first->second;
}

const ModelInterval& PointIntervals::of(std::uint64_t index)
{
    if (const auto found = known_.find(index); found != known_.end()) {
        return found->second;
    }
    make_room(known_, most_points);
    const Point point = model_.designs.space().point(index);
    OfVariant& variant = of_variant(point);
    return known_.emplace(index, variant.intervals.of(variant.in_first_phase(model_.designs.plan(point))))
        .first->second;
}

LeastModelError PointIntervals::least(std::uint64_t index)
{
    const Point point = model_.designs.space().point(index);
    OfVariant& variant = of_variant(point);
    return variant.intervals.least(variant.in_first_phase(model_.designs.plan(point)));
}

}  // namespace prismopt

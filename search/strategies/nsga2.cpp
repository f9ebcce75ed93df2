#include "search/strategies/nsga2.hpp"

namespace prismopt {
namespace {

std::vector<std::size_t> least_crowded(std::span<const Values> points, std::size_t keep)
{
    std::vector<std::size_t> best = by_rank_and_crowding(points);
    best.resize(std::min(best.size(), keep));
    return best;
}

}  // namespace

Nsga2::Nsga2(const Space& space, const StudyGoal& goal, GeneticOptions options)
    : Genetic(space, goal, {.survivors = least_crowded, .tournament = true}, options)
{
}

}  // namespace prismopt

#include "search/strategies/nsga3.hpp"

namespace prismopt {

Nsga3::Nsga3(const Space& space, const StudyGoal& goal, GeneticOptions options)
    : Genetic(space, goal,
              {.survivors = [directions = reference_directions(goal.objectives, options.population)](
                                std::span<const Values> points,
                                std::size_t keep) { return survivors_by_niche(points, directions, keep); },
               .tournament = false},
              options)
{
}

}  // namespace prismopt

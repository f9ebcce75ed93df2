#pragma once

#include "search/strategies/genetic.hpp"

namespace prismopt {

/// Evolution with non-dominated sorting and crowding distance, for two objectives.
/// Source: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182-197;
/// differences are described in genetic.hpp.
class Nsga2 final : public Genetic {
public:
    /// The space must outlive the search.
    Nsga2(const Space& space, const StudyGoal& goal, GeneticOptions options = {});
};

}  // namespace prismopt

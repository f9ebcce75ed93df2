#pragma once

#include "search/strategies/genetic.hpp"

namespace prismopt {

/// Evolution with non-dominated sorting and niches along reference directions, for many objectives.
/// Source: Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577-601; differences are described in genetic.hpp.
class Nsga3 final : public Genetic {
public:
    /// The space must outlive the search.
    Nsga3(const Space& space, const StudyGoal& goal, GeneticOptions options = {});
};

}  // namespace prismopt

#pragma once

#include "search/strategies/genetic.hpp"

namespace prismopt {

/// Evolution by layers and niches along reference directions, for many objectives.
/// Source: Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577-601; what differs is in genetic.hpp.
class Nsga3 final : public Genetic {
public:
    /// The space must outlive the search.
    Nsga3(const Space& space, const StudyGoal& goal, GeneticOptions options = {});
};

}  // namespace prismopt

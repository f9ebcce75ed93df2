#pragma once

#include "search/genetic.hpp"

namespace prismopt {

/// Evolution by layers and niches along reference directions, for many objectives.
/// Source: Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577-601; what differs is in genetic.hpp.
class Nsga3 final : public Strategy {
public:
    /// The space must outlive the search.
    Nsga3(const Space& space, const StudyGoal& goal, GeneticOptions options = {});

    std::optional<std::vector<Request>> ask() override { return search_.ask(); }
    void tell(std::span<const Answer> answers) override { search_.tell(answers); }
    Outcome outcome() const override { return search_.outcome(); }
    std::vector<std::uint64_t> front() const override { return search_.front(); }

private:
    Genetic search_;
};

}  // namespace prismopt

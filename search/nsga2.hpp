#pragma once

#include "search/genetic.hpp"

namespace prismopt {

/// Evolution by layers and crowding, for up to three objectives.
/// Source: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182-197; what differs is in genetic.hpp.
class Nsga2 final : public Strategy {
public:
    /// The space must outlive the search.
    Nsga2(const Space& space, const StudyGoal& goal, GeneticOptions options = {});

    std::optional<std::vector<Request>> ask() override { return search_.ask(); }
    void tell(std::span<const Answer> answers) override { search_.tell(answers); }
    Outcome outcome() const override { return search_.outcome(); }
    std::vector<std::uint64_t> front() const override { return search_.front(); }

private:
    Genetic search_;
};

}  // namespace prismopt

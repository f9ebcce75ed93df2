#pragma once

/// Noise-free times of many plans of a scenario, for which what they share is made once.

#include "optimizer/study/study_model.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {

/// The tables of a scenario, or those of a plan outside of [space], whose groups of GPUs have other sizes.
NoiseTables tables_for(const ParallelPlan& plan, const Scenario& scenario, const NoiseTables& of_space);

/// Use it from one thread at a time.
class PlanBounds {
public:
    /// `tables`: tables_of(scenario), which must outlive it.
    explicit PlanBounds(const NoiseTables& tables);
    ~PlanBounds();
    PlanBounds(const PlanBounds&) = delete;
    PlanBounds& operator=(const PlanBounds&) = delete;

    /// `variant`: of the scenario, which is that of this variant.
    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan, const Scenario& scenario,
                                              const std::string& variant);

private:
    class OfVariant;
    using Key = std::pair<std::string, std::vector<int>>;  // variant, sizes of groups without tables

    const NoiseTables& tables_;
    std::map<Key, std::unique_ptr<OfVariant>> variants_;
};

}  // namespace prismopt

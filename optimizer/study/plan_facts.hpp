#pragma once

/// What the posterior of a study computes of single plans, on whichever rank.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/study/variant_gradients.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace prismopt {

/// Computes facts of plans, with predictors of its own.
class PlanFactsMaker {
public:
    /// `pause` is called for each plan; its exceptions pass through. The model must outlive it.
    explicit PlanFactsMaker(
        const StudyModel& model, Pause pause = [] {})
        : model_(model), pause_(std::move(pause)), fitted_(fitted_model()),
          bench_(model.scenario, model.problem), gradients_(model, fitted_)
    {
    }
    PlanFactsMaker(const PlanFactsMaker&) = delete;
    PlanFactsMaker& operator=(const PlanFactsMaker&) = delete;
    ~PlanFactsMaker() = default;

    std::vector<PlanFacts> operator()(const FactsRequest& request);

private:
    PlanFacts estimates_of(const Point& point);
    PlanFacts gradients_of(const Point& point);

    const StudyModel& model_;
    Pause pause_;
    FittedModel fitted_;
    HardwareBench bench_;
    VariantGradients gradients_;
};

/// Returns the facts of plans in their order, computed here or elsewhere. Its exceptions pass through.
using FindFacts = std::function<std::vector<PlanFacts>(const FactsRequest& request)>;

/// Computed here.
FindFacts facts_by_own_work(const StudyModel& model, const Pause& pause);

}  // namespace prismopt

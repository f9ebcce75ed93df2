#pragma once

/// What the error of the model means for the choice among the plans of a study.

#include "io/measured/fitted_model.hpp"
#include "io/results/results.hpp"
#include "model/calibration/posterior/step_posterior.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/study/contenders.hpp"
#include "optimizer/study/evaluator.hpp"
#include "search/shortlist.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace prismopt {

/// Draws of the posterior of a study.
inline constexpr std::size_t posterior_draws = 256;

/// What was measured of a plan of a study.
struct MeasuredPlan {
    std::uint64_t index = 0;
    double step_s = 0.0;        // mean; 0: not measured
    double deviation = 0.0;     // relative, of that mean; at least that of repeated runs counts
    double memory_bytes = 0.0;  // peak of a GPU; 0: not measured
    bool out_of_memory = false;
};

/// A measured plan beside its prediction.
struct MeasuredAndPredicted {
    MeasuredPlan measured;
    double predicted_s = 0.0;   // mean step
    double memory_share = 0.0;  // predicted, of the accelerator's
    double surprise = 0.0;      // of the step, in standard deviations, to all the other measurements; NaN if not measured
};

/// Joint posterior of the contenders of a study.
class PlanPosterior {
public:
    /// From the bounds and draws in the results, what the scenario has learned, and what was measured since. The model must outlive
    /// it. `pause` is called several times per second; its exceptions pass through. Throws InputError where a
    /// measured plan is infeasible for the study for a reason other than memory.
    PlanPosterior(
        const StudyModel& model, const Results& results, const std::vector<MeasuredPlan>& measured = {},
        const Pause& pause = [] {});

    const std::vector<MeasuredAndPredicted>& measured() const { return measured_; }
    const FittedModel& fitted() const { return fitted_; }

    const std::vector<Contender>& contenders() const { return contenders_; }
    /// Of the errors of the catalog's predictions, before anything was learned.
    const StepPosterior& steps() const { return steps_; }
    /// The job of a network in these steps.
    int job_of(const std::string& network) const;
    /// What was learned by now: factors, and all measured steps. Its provenance is the caller's.
    Learned learned() const;
    /// What the posterior knows of a contender.
    const PlanOfPosterior& known(std::size_t contender) const { return plans_[contender]; }

    /// Numbers of GPUs of the contenders, increasing.
    std::vector<int> sizes() const;
    /// Positions of the contenders of a number of GPUs within 15 % of its best in this objective.
    std::vector<std::size_t> near(int gpus, std::size_t objective) const;

    /// Draws of an objective of some contenders. Times, costs and energies follow the step time; other objectives are not moved.
    /// Infinite: the plan does not fit into memory.
    JointDraws draws(std::span<const std::size_t> members, std::size_t objective, StepPosterior::Components components) const;

    /// Largest difference, relative, between step times at drawn constants and those extrapolated by their gradients, over the
    /// front and eight draws.
    double linearisation_error(const Results& results) const;

private:
    std::vector<StepObservation> observations() const;
    /// How the scenario's predictions differ from the catalog's, as a logarithm.
    double shift_of(const PlanOfPosterior& plan) const;
    /// Draws of log(actual / predicted) of the contenders, by the scenario's predictions.
    std::vector<double> drawn(StepPosterior::Components components, const Pause& pause) const;

    const StudyModel& model_;
    std::vector<ObjectiveInfo> objectives_;
    FittedModel fitted_;
    std::vector<double> learned_constants_;  // [constant]: logarithm of the factor that the scenario's predictions have
    std::vector<Contender> contenders_;
    std::vector<PlanOfPosterior> plans_;
    std::vector<MeasuredAndPredicted> measured_;
    std::vector<std::string> networks_;  // [job]
    std::vector<LearnedStep> learned_;   // of the scenario and measured since
    MemoryError memory_;
    std::map<std::uint64_t, bool> ran_;  // whether a measured plan fitted into memory
    StepPosterior steps_;
    std::vector<double> log_ratios_;                     // [draw * contenders + contender]
    std::vector<double> without_delta_;                  // the same without the discrepancy of plans
    std::vector<double> log_memory_;                     // [draw]
    std::map<std::size_t, std::vector<double>> longer_;  // runs, by hardware variant [draw]; empty: their tokens are known
};

/// Adds probabilities and regrets of all contenders, and how often the points of the front stay there. Calls `pause` several times per
/// second; if it throws, the results are incomplete.
void add_posterior(
    const StudyModel& model, Results& results, const Pause& pause = [] {});

}  // namespace prismopt

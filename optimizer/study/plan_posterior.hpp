#pragma once

/// What the error of the model means for the choice among the plans of a study.

#include "io/results/results.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "model/base/parallel.hpp"
#include "model/calibration/posterior/step_posterior.hpp"
#include "optimizer/study/contenders.hpp"
#include "optimizer/study/measured_plans.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/shortlist.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// Draws of the posterior of a study.
inline constexpr std::size_t posterior_draws = 1024;

/// Plans that no draw distinguishes (equivalents()): positions of contenders.
struct EquivalentPlans {
    std::size_t plan = 0;  // by which they are named
    std::vector<std::size_t> others;
};
std::vector<std::size_t> named(const std::vector<EquivalentPlans>& groups);

/// Joint posterior of the contenders of a study.
class PlanPosterior {
public:
    /// From the bounds and draws in the results, what the scenario has learned, and what was measured since.
    /// The model must outlive it. `find`: computes facts of plans; none: here. `pause` is called several
    /// times per second; its exceptions pass through. Throws InputError where a measured plan is infeasible
    /// for the study for a reason other than memory.
    PlanPosterior(
        const StudyModel& model, const Results& results, const std::vector<MeasuredPlan>& measured = {},
        const Pause& pause = [] {}, const FindFacts& find = {});

    const std::vector<MeasuredAndPredicted>& measured() const { return measured_.rows; }
    const FittedModel& fitted() const { return fitted_; }

    const std::vector<Contender>& contenders() const { return contenders_; }
    /// Of the errors of the catalog's predictions, before anything was learned.
    const StepPosterior& steps() const { return steps_; }
    /// The job of a network in these steps.
    int job_of(const std::string& network) const;
    /// What was learned by now: factors, and all measured steps. The origin of the
    /// new ones is the caller's to add.
    Learned learned() const;
    /// What the posterior knows of a contender.
    const PlanOfPosterior& known(std::size_t contender) const { return plans_[contender]; }

    /// Numbers of GPUs of the contenders, increasing.
    std::vector<int> sizes() const;
    /// The contenders of a number of GPUs near its best (near_best) in this
    /// objective, grouped by equivalence.
    std::vector<EquivalentPlans> near(int gpus, std::size_t objective) const;

    /// Draws of an objective of some contenders. Times, costs and energies follow the step time;
    /// other objectives are not moved. Infinite: the plan does not fit into memory, or the
    /// software of the draw does not run it.
    JointDraws draws(std::span<const std::size_t> members, std::size_t objective,
                     StepPosterior::Components components) const;
    /// Probability that the plan fits into memory.
    double fits(std::size_t contender) const;
    /// Whether that is less than the scenario asks for, by more than three standard errors of the draws.
    bool may_not_fit(std::size_t contender) const;
    /// The interval of a value, of such draws. Before anything was measured, the error that all plans share
    /// is taken out: it does not make one better than another, and model intervals have it.
    Central90 interval(std::size_t contender, std::size_t objective) const;

    /// Largest difference, relative, between step times at drawn constants and those extrapolated by their
    /// gradients, over the front and eight draws.
    double linearisation_error(const Results& results) const;

private:
    /// Several measurements of one plan as one, by their positions.
    StepObservation observation_of(const std::vector<std::size_t>& rows) const;
    /// Takes measured steps into the posterior, without those that contradict the others.
    void learn_steps();
    void draw_memory();
    /// Draws the software of a job that does not say it; plans that the drawn one does not
    /// run are impossible in that draw.
    void draw_software();
    /// Draws of log(actual / predicted) of the contenders, by the scenario's predictions.
    std::vector<double> drawn(StepPosterior::Components components, const Pause& pause) const;

    const StudyModel& model_;
    std::vector<ObjectiveInfo> objectives_;
    FittedModel fitted_;
    std::vector<Contender> contenders_;
    std::vector<PlanOfPosterior> plans_;  // [contender]
    struct Names {
        std::string whole;
        std::string first;  // of the plan in the first phase
    };
    std::vector<Names> names_;    // [contender]
    std::vector<double> shifts_;  // [contender]: logarithm of the scenario's prediction over the catalog's
    // [contender][possible software]: VariantGradients::by_software()
    std::vector<std::vector<std::optional<double>>> by_software_;
    Measurements measured_;
    std::vector<std::string> networks_;  // [job]
    StepPosterior steps_;
    std::vector<double> log_ratios_;     // [draw * contenders + contender]
    std::vector<double> without_delta_;  // the same without the discrepancy of plans
    std::vector<char> fits_;             // into memory, [draw * contenders + contender]
    std::vector<char> runs_;             // by the software of the draw, [draw * contenders + contender]
    // software, by hardware variant; empty: it was given
    std::map<std::size_t, std::vector<PossibleSoftware>> possible_;
    // runs, by hardware variant [draw]; empty: their tokens are known
    std::map<std::size_t, std::vector<double>> longer_;
};

/// Adds probabilities and regrets of all contenders, and how often the points of the front stay there.
/// `find`, `pause`: as above; if one throws, the results are incomplete.
void add_posterior(
    const StudyModel& model, Results& results, const Pause& pause = [] {}, const FindFacts& find = {});

}  // namespace prismopt

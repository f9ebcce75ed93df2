#pragma once

/// Plans of a scenario: by their values, by their number in results, listed and counted.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/space/design_text.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// Thrown where only a feasible plan will do. Functions that may find a plan
/// infeasible return that as a value.
class InfeasiblePlan : public std::runtime_error {
public:
    InfeasiblePlan(Infeasible why, const std::string& message)
        : std::runtime_error(message), why_(std::move(why))
    {
    }

    const Infeasible& why() const { return why_; }

private:
    Infeasible why_;
};

/// The refusal of a plan that was chosen by its number.
InfeasiblePlan infeasible_point(std::uint64_t number, const Infeasible& why);

/// A plan and the scenario that it runs in.
struct ChosenPlan {
    Scenario scenario;  // with the variant of the plan if the study chooses more than plans
    ParallelPlan plan;
    std::string variant;  // values of the choices, as "node.bandwidth=900GB/s"; empty: none, or none chosen
    std::string price;    // of a GPU-hour, with its source
    double longer = 1.0;  // the run, by its precision
};

/// Returns the plan with these values (parse_design()), those of choices and [[knob]]s included:
/// "node.bandwidth=900GB/s tp=8 pp=2". Throws InputError.
ChosenPlan plan_with(const Scenario& as_written, const std::string& words);
/// Returns the plan alone, of a scenario that chooses nothing but plans, or of one of
/// its variants. Throws InputError.
ParallelPlan parsed_plan(const std::string& words, const Scenario& scenario);
/// Returns the plan of this number in results; nothing: the first plan of the front. Throws InputError for
/// numbers that the space does not have, and for those of infeasible plans.
ChosenPlan plan_at(const Results& results, std::optional<std::int64_t> number);

/// A feasible plan of a space.
struct PlanInSpace {
    std::uint64_t number = 0;  // in results of this scenario
    ParallelPlan plan;
    std::string design;  // plan_with() restores the plan
    // lower bounds of the objectives, in SI units and USD; minus infinity: none is known
    std::vector<double> bounds;
};
/// Returns the first feasible plans of [space], at most `most`, whether they meet [question] or not.
std::vector<PlanInSpace> feasible_plans(
    const Scenario& scenario, std::size_t most, const Pause& pause = [] {});

/// Counts of the combinations of values in [space], whatever [question] asks. A space of more than 100
/// million is examined in part.
struct PlanCount {
    std::uint64_t combinations = 0;
    std::uint64_t examined = 0;
    std::uint64_t feasible = 0;      // of the examined ones
    std::vector<Rejected> rejected;  // of the examined ones, by reason

    /// Random branches that the rules allow, examined where no other examined combination is feasible.
    struct Sample {
        double feasible = 0.0;     // plans of the whole space, estimated
        std::uint64_t judged = 0;  // combinations in the sample
        bool found = false;        // a feasible plan
        // upper 95 % confidence limit of the share of feasible ones, if none was found
        double share_below = 0.0;
        std::string text;  // that none was found, in words; empty: some were
    };
    std::optional<Sample> sample;

    bool whole() const { return examined == combinations; }
    /// Returns a count of examined combinations, scaled to all.
    std::uint64_t in_all(std::uint64_t seen) const;
};
/// Throws InputError, with the reasons and the closest plan, if no plan of the space is feasible.
PlanCount count_plans(
    const Scenario& scenario, const Pause& pause = [] {});

/// Returns the random samples of GPUs for at least this number of step draws, in whole blocks.
int fleets_for(int draws, int steps);

/// Message that no plan of the first combinations is feasible, with reasons; empty: some are.
std::string first_check(const Scenario& scenario);

}  // namespace prismopt

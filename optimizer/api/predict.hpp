#pragma once

/// Prediction of one plan: times with their errors, memory, cost, stages, task orders, timelines.

#include "io/report/network_size.hpp"
#include "io/scenario/figure_origin.hpp"
#include "model/base/parallel.hpp"
#include "model/objective.hpp"
#include "model/plan/layout.hpp"
#include "model/prediction.hpp"
#include "model/step/compile/breakdown.hpp"
#include "model/step/timeline.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/improve/single_changes.hpp"
#include "optimizer/nodes/assign_nodes.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

struct FittedModel;
struct StepError;

/// Use of a pipeline stage in the first phase.
struct StageUse {
    std::vector<Chunk> chunks;  // that the stage holds, in order
    double forward_s = 0.0;     // per microbatch, at mean times
    double backward_s = 0.0;
    MemoryUse memory;
};

/// 95 % prediction interval of the measured peak memory, in bytes.
struct MemoryInterval {
    double low = 0.0;
    double high = 0.0;
    std::string basis = {};  // what it rests on
};

struct WrittenAssignment {
    std::string path;  // of the file it was written to; empty: none
    AssignedNodes assigned;
};

struct PlanPrediction {
    ParallelPlan plan;
    Prediction prediction;
    ModelInterval model;                  // error of the mean model
    std::vector<PhasePrediction> phases;  // empty if there is only one
    bool nodes_known = false;
    std::optional<WrittenAssignment> positions;
    std::string tokens = {};  // of the run, and its steps
    // measured runs behind the model interval of a mixture of experts; empty: not applicable
    std::string moe_note = {};
    std::string price = {};  // of a GPU-hour, with its source
    FigureOrigin price_origin = FigureOrigin::unknown;
    FigureOrigin power_origin = FigureOrigin::unknown;
    SpaceSettings space = {};  // for which designs are written
    std::string variant = {};  // values of the choices; empty: none
    // "tp_overlap=on": what the software brought, as no one chose it
    std::vector<std::string> of_software = {};
    std::string software = {};  // "megatron-bridge 26.04", with "(assumed)" where it was not given
    int listed_nodes = 0;       // nodes of the cluster with known factors
    int cluster_nodes = 0;
    int idle_nodes = 0;            // nodes of the cluster that neither work nor are spares
    std::string energy_note = {};  // on power that energy excludes; empty: none
    std::string placement = {};    // note on where process groups lie; empty: none
    std::string host = {};         // note on what waiting for the host costs; empty: none
    std::vector<StageUse> stages = {};
    NetworkSize network = {};
    WorkloadTask task = WorkloadTask::training;
    std::string layout = {};  // of the chunks of the pipeline, in the notation of Megatron Core
    MemoryInterval memory_interval = {};
    std::vector<std::string> memory_assumes = {};  // what no key of the scenario chooses
    int gpus_per_node = 1;
    std::vector<std::string> lacking{};  // degrees that the software does not have
    bool host_memory_known = false;      // and a limit
    // of a plan that fits with less than the probability of the limit
    std::optional<Infeasible> may_not_fit{};
    // Of an infeasible plan, whose prediction is what it would take with enough
    // memory, if that is what it lacks:
    double usable_bytes = 0.0;
    std::vector<SingleChange> changes = {};
};

/// A task order other than the schedule's; at most one member is set.
struct TaskOrder {
    std::string file = {};  // PyTorch's table of pipeline actions, which must be valid in every phase
    // searched: a stage holds the activations of at most so many (chunk, microbatch) pairs
    std::optional<int> most_held{};
};

/// One plan of a scenario, compiled once. Use it from one thread at a time; its
/// draws use OMP_NUM_THREADS threads.
class PlanPredictor {
public:
    /// Throws InputError for a task order that the plan cannot have.
    explicit PlanPredictor(ChosenPlan chosen, const TaskOrder& order = {});
    PlanPredictor(PlanPredictor&&) noexcept;
    PlanPredictor& operator=(PlanPredictor&&) noexcept;
    ~PlanPredictor();

    /// Why the plan is infeasible; nothing: it is not, but it may not fit into memory
    /// (PlanPrediction::may_not_fit).
    const std::optional<Infeasible>& infeasible() const;
    const std::optional<Infeasible>& may_not_fit() const;
    /// Assigns the nodes of the cluster for the lowest p99 step time. What is predicted afterwards is on
    /// these nodes. Throws InputError if a slowdown factor is unknown, and InfeasiblePlan.
    const AssignedNodes& assign_nodes(const Rung& rung);
    /// Predicts the plan. Of an infeasible one: values that change that, and if it only lacks memory, what it
    /// takes with enough. `pause` is called between draws, several times per second.
    PlanPrediction predict(
        const Rung& rung, const Pause& pause = [] {});
    /// Step times of the last predict() in seconds, [phase][draw], without the factor common_step. Draws with
    /// the same number use the same random numbers for all plans.
    const std::vector<std::vector<double>>& draws() const&;
    std::vector<std::vector<double>> draws() &&;
    /// The first phase's step at mean times, or draw number `draw` of a rung. Throws InfeasiblePlan.
    std::vector<TimelineEvent> timeline(std::optional<int> draw, const Rung& rung) const;
    /// Where the step of the first phase at mean times and the memory go, [stage]; nothing of a plan that is
    /// infeasible, unless memory is all that it lacks.
    std::vector<StageBreakdown> breakdown() const;
    /// How the error of the step of the first phase goes together with those of other plans. Throws
    /// InfeasiblePlan, unless memory is all that the plan lacks.
    StepError step_error(const FittedModel& model) const;
    const ChosenPlan& chosen() const;
    /// The task order in the first phase, as PyTorch's table. Throws InfeasiblePlan.
    std::string orders_csv() const;

private:
    friend class ScenarioPredictor;
    struct State;
    explicit PlanPredictor(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

/// For users who name no plan, whose default plan this is: the plan of [space] with the best
/// noise-free first objective, if the default is infeasible or may not fit; nothing: it will do, or
/// the space has no feasible plan.
std::optional<ChosenPlan> stand_in(const PlanPredictor& usual);

/// Predicts plans of one scenario. It tabulates the distributions once, which takes longer than to predict a
/// plan. Any number of threads may use it; its copies share the tables.
class ScenarioPredictor {
public:
    explicit ScenarioPredictor(const Scenario& scenario);
    /// The same, with tables for these plans, too.
    ScenarioPredictor(const Scenario& scenario, std::span<const ParallelPlan> plans);

    /// `words`: of a plan, as in plan_with().
    PlanPredictor plan(const std::string& words, const TaskOrder& order = {}) const;
    /// A plan of this scenario, or of one with other settings of its network.
    PlanPredictor plan(ChosenPlan chosen, const TaskOrder& order = {}) const;
    PlanPrediction predict(const std::string& words, int draws = 0) const;
    /// Returns lower bounds of the means, without draws, or why the plan is infeasible. They include waits
    /// for the slowest member of each group, as Prediction::noise_free_step_s does not.
    std::variant<NoiseFree, Infeasible> lower_bounds(const std::string& words) const;
    /// The same for many plans, in order, which is faster: what they share is made once. Degrees that do not
    /// fit the number of GPUs make a plan infeasible here.
    void lower_bounds(std::span<const std::string> plans,
                      const std::function<void(const std::variant<NoiseFree, Infeasible>&)>& receive) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Returns the draws of `confirm` in [search]; with so many draws in all, rounded up to whole blocks of
/// fleets, if `draws` is not 0. Throws InputError beyond `most_draws`.
inline constexpr int most_draws = 100'000'000;  // 0.8 GB for each phase
Rung rung_of(const Scenario& scenario, int draws = 0);

/// Predicts one plan: predict(plan_with(scenario, "tp=8 pp=2")). For several plans, use a ScenarioPredictor.
PlanPrediction predict(const ChosenPlan& chosen, int draws = 0);

}  // namespace prismopt

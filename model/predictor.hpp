#pragma once

/// Predictor: lower bounds of a plan, draws of its step, and the prediction of
/// step and training run from them.

#include "model/job.hpp"
#include "model/objective.hpp"
#include "model/plan/phase.hpp"
#include "model/prediction.hpp"
#include "model/run/failure_model.hpp"
#include "model/run/failure_tables.hpp"
#include "model/run/local_updates.hpp"
#include "model/schedule/program_paths.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/slowest_group.hpp"
#include "model/step/sample/sampler.hpp"
#include "model/training_quantile_errors.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {

/// A job of a scenario, which may have several networks and hardware variants,
/// with its distributions as tables.
struct Problem : Job {
    NoiseTables noise{};
    std::shared_ptr<const ChunkOrders> orders = nullptr;  // see Setting
    double deviation = 1.0;  // of the results of operators in its precision, relative to a reference
    LocalUpdates local{};    // price of local updates
    std::vector<double> promise_quantiles{};  // promise.hpp
    std::vector<double> promise_factors{};    // [promise quantile]: of any plan; empty: no bound is needed
};

/// Returns what the compilation of plans for a phase of the problem depends on; the problem
/// and the phase must outlive it.
Setting setting_of(const Problem& problem, const Phase& phase);

/// Returns the tokens that a phase needs with this plan, relative to those of synchronous training.
double tokens_factor(const Problem& problem, const ParallelPlan& plan, const Phase& phase);
/// Returns the phases with the tokens that the plan needs: more if its replicas train locally between
/// two exchanges, in whole steps.
std::vector<Phase> phases_of_plan(const Problem& problem, const ParallelPlan& plan);

/// A plan, compiled for each phase: what draws, summaries, stages, timelines and intervals are made from.
struct CompiledRun {
    ParallelPlan plan;
    std::vector<ParallelPlan> in_phase;  // [phase]
    std::vector<CompiledPlan> phases;    // [phase]
};

/// Step times, [phase][draw], as sample_steps() returns them for one range of draws.
using PhaseDraws = std::vector<std::vector<double>>;

/// Returns the quantile nodes of the factor of the whole step, which is integrated instead of
/// drawn; empty if it does not vary.
std::vector<DistributionNode> common_step_distribution(const NoiseTables& noise);

/// Which bounds are high enough; a tighter one is not needed then. Bounds nowhere lower than
/// one that suffices must suffice.
///
/// Remembers for each number of GPUs, checkpoint interval, number of spares and price of local updates the
/// shortest steps that sufficed, with their memory and the energy of their work: a longer one with as much of
/// both does, too, without the bounds of its run.
class Cutoff {
public:
    /// `by_memory`: whether more memory may help a bound to suffice. `tightest`: whether a bound that does
    /// not suffice is worth the longest paths of all stages.
    explicit Cutoff(std::function<bool(const NoiseFree&)> suffices, bool by_memory = true,
                    bool tightest = true)
        : suffices_(std::move(suffices)), by_memory_(by_memory), tightest_(tightest)
    {
    }

    bool suffices(const NoiseFree& bound) const { return suffices_(bound); }
    /// Reports a plan that lacks so many bytes: of others that lack as much or more, it need not be known how
    /// much, and bound() refuses them with a lower bound of what they lack.
    void missed_by(double bytes) { closest_miss_bytes_ = std::min(closest_miss_bytes_, bytes); }
    /// What the closest of the reported plans lacks; infinite without one.
    double closest_miss_bytes() const { return closest_miss_bytes_; }

private:
    friend class Predictor;
    using Run = std::tuple<const void*, int, int, double, int,
                           double>;  // predictor, GPUs, nodes, interval, spares, tokens

    struct Sufficient {
        double step_s = 0.0;
        double memory_bytes = 0.0;
        double work_j = 0.0;
    };
    static constexpr std::size_t most_sufficient = 8;  // of a run, the newest ones

    std::function<bool(const NoiseFree&)> suffices_;
    bool by_memory_;
    bool tightest_;
    double closest_miss_bytes_ = std::numeric_limits<double>::infinity();
    std::map<Run, std::vector<Sufficient>> sufficient_;
};

/// Predicts plans of one problem. Use one predictor per thread.
class Predictor {
public:
    /// The problem must outlive the predictor.
    explicit Predictor(const Problem& problem);

    /// Returns noise-free lower bounds of means (see Objective::quantile for quantiles), or the reason why
    /// the plan is infeasible, checked for every phase.
    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan);
    /// The same, but tries looser bounds that cost less first and stops at one that suffices: from the
    /// busiest stage of the plan with whatever sharding, at the means and with its slowest groups, before it
    /// is compiled (with `compiled` false, and only the step where that suffices); from the noise-free step;
    /// and the one above. The last one, if none suffices, is from the longest paths of all stages.
    ///
    /// A plan that lacks more memory than another one is refused without facts (Cutoff::missed_by()).
    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan, Cutoff& cutoff);

    /// Returns why the plan is infeasible, as bound() would, or nothing: without bounds, which take most of
    /// the time.
    std::optional<Infeasible> infeasibility(const ParallelPlan& plan);

    /// Plans that stand for a sub-space. The plans belong to the caller, and must outlive it.
    struct SubSpace {
        std::span<const ParallelPlan> steps;  // one for each work of a stage
        bool least_work = false;  // `steps` are without recompute and offload, whatever the sub-space has
        std::span<const ParallelPlan> runs;  // one for each way to run a job
        double memory_bytes = 0.0;           // least_memory() of the sub-space
    };
    /// Returns whether the cutoff excludes all plans of a sub-space before any of them is compiled.
    bool excludes(const SubSpace& sub_space, Cutoff& cutoff);
    /// Returns a lower bound of the memory per GPU of these plans, in bytes, from the layers of the first and
    /// the last stage. Zero if it is not known.
    double least_memory(std::span<const ParallelPlan> plans);
    /// Bytes per GPU that plans may use.
    double capacity_bytes() const { return compilers_.front().capacity_bytes(); }
    /// How full the memory for the paths of schedules is: between 0 and 1, nearly.
    double paths_fill() const
    {
        return static_cast<double>(cached_counts_) / static_cast<double>(most_counts);
    }

    /// Returns the plan compiled for every phase, or the reason why it is infeasible. Whether the run
    /// would end is problem_of_run().
    std::variant<CompiledRun, Infeasible> compile(const ParallelPlan& plan,
                                                  CompileFor purpose = CompileFor::sampling);
    /// Returns why a run of this plan would not end, or nothing.
    std::optional<Infeasible> problem_of_run(const CompiledRun& run) const;

    /// Draws every phase of each plan; a plan's draws do not depend on the other
    /// plans. The plans must be feasible.
    std::vector<PhaseDraws> sample(std::span<const ParallelPlan> plans, const DrawRange& range,
                                   const SamplerOptions& options);
    PhaseDraws sample(const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& options);
    /// Draws every phase of a plan compiled for sampling.
    PhaseDraws sample(const CompiledRun& run, const DrawRange& range, const SamplerOptions& options) const;

    /// Returns the prediction of a feasible plan from `draws` of fleets 0 ... with `steps` each.
    ///
    /// The step time is that of the first phase. The training time is, per fleet, all steps of all phases at
    /// the fleet's mean step time, corrected for the few steps drawn (productive_times.hpp), then one history
    /// of failures; its limits include the error of that correction. `model_error`: quantiles of measured
    /// over predicted time, at reported_probabilities, for a promised time that includes it.
    Prediction summarise(const CompiledRun& compiled, const PhaseDraws& draws, int steps,
                         const SamplerOptions& options, const Confidence& confidence,
                         std::span<const double> model_error = {});
    /// The same for a plan that is not compiled yet; only `infeasible` if it is that.
    Prediction summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                         const SamplerOptions& options, const Confidence& confidence,
                         std::span<const double> model_error = {});

    /// Returns the prediction of each phase from the same draws.
    std::vector<PhasePrediction> phases(const CompiledRun& run, const PhaseDraws& draws, int steps,
                                        const Confidence& confidence) const;

    /// Returns the training time per fleet, in seconds, as in summarise().
    std::vector<double> training_times(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                       const SamplerOptions& options);

private:
    /// Returns the promised time of runs that take this long; NaN if nobody asks, or the error
    /// that it includes is not known.
    Estimate promised(std::span<const double> training, std::span<const double> model_error,
                      const Confidence& confidence) const;
    /// Returns the TFLOP/s per GPU of a phase at this mean step time.
    double tflops_per_gpu(const Phase& phase, const ParallelPlan& here, double mean_step_s) const;
    TimeDistribution step_distribution(const std::vector<double>& draws, int steps,
                                       const Confidence& confidence) const;
    FailureModel failures(const ParallelPlan& plan) const;
    /// Joins consecutive phases on equally many GPUs to parts. `share[phase]`:
    /// fraction of the productive time.
    std::vector<RunSegment> run_segments(const ParallelPlan& plan, const std::vector<double>& productive_s,
                                         const std::vector<double>& share) const;
    int most_gpus(const ParallelPlan& plan) const;
    /// Probabilities of the quantiles over fleets, of the mean step of a fleet, that have
    /// lower bounds; in runs of one phase.
    static constexpr std::array bounded_quantiles{0.95, 0.99};
    /// Returns the paths of a schedule; nothing if it is infeasible.
    const ProgramPaths* paths_of(const ScheduleShape& shape);
    /// Returns the energy of the work of a run without failures, beyond waiting
    /// (PlanCompiler::step_energy()).
    double work_of(const ParallelPlan& plan);
    /// Returns a lower bound of it for all plans whose runs need as many tokens.
    double least_work_of(const ParallelPlan& plan) const;
    /// Returns the bound of the whole run, without memory. `work_j`: as above.
    std::variant<NoiseFree, Infeasible> bound_of_run(const ParallelPlan& plan,
                                                     std::span<const LeastStep> steps, double work_j) const;
    /// Least steps of each phase, [phase], of plans with whatever sharding and placement;
    /// nothing if they are not known.
    using LeastSteps = std::optional<std::vector<LeastStep>>;
    /// Calls of_phase(compiler, plan in the phase).
    template <class OfPhase>
    LeastSteps least_steps(const ParallelPlan& plan, OfPhase&& of_phase);
    LeastSteps busiest_stages(const ParallelPlan& plan);
    LeastSteps constant_busiest_stages(const ParallelPlan& plan);
    LeastSteps slowest_groups(const ParallelPlan& plan);
    /// The least of several plans; `of_plan`: one of the above.
    LeastSteps least_of(std::span<const ParallelPlan> plans,
                        LeastSteps (Predictor::*of_plan)(const ParallelPlan&));
    /// Returns the bound of the run if it suffices, else nothing.
    std::optional<NoiseFree> sufficient_bound(const ParallelPlan& plan, const std::vector<LeastStep>& steps,
                                              double memory_bytes, double work_j, Cutoff& cutoff) const;
    /// Bounds that need no program, of plans that differ in their runs only.
    struct EarlyBounds {
        ParallelPlan plan;  // without its run
        LeastSteps busiest;
        std::optional<LeastSteps> groups;    // once they were asked for
        std::optional<double> memory_bytes;  // same
    };
    EarlyBounds& early_bounds(const ParallelPlan& plan);
    /// `known`: bounds of the least steps from slowest groups, or none.
    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan, std::vector<LeastStep> known,
                                              Cutoff* cutoff);

    const Problem& problem_;
    std::vector<PlanCompiler> compilers_;  // [phase]
    std::vector<double> least_step_j_;     // [phase]: PlanCompiler::least_step_energy()
    FailureTables failure_tables_;
    TrainingQuantileErrors quantile_errors_;
    std::map<ScheduleShape, std::optional<ProgramPaths>> paths_;
    static constexpr std::size_t most_counts = 4U << 20;  // of 12 bytes
    std::size_t cached_counts_ = 0;                       // of ops, in paths_
    std::optional<EarlyBounds> early_bounds_;
};

}  // namespace prismopt

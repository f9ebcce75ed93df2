#pragma once

/// Judges a plan: a sound bound without noise, draws of the step, and what they say of the step and of the training run.

#include "model/hardware/power.hpp"
#include "model/objective.hpp"
#include "model/plan/phase.hpp"
#include "model/prediction.hpp"
#include "model/run/failure_model.hpp"
#include "model/run/failure_tables.hpp"
#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/sampler.hpp"

#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace prismopt {

/// Everything a study judges plans against.
struct Problem {
    Workload workload;
    std::vector<Phase> phases;
    Cluster cluster;
    Reliability reliability;
    double memory_headroom = 0.0;
    NoiseTables noise;
    std::shared_ptr<const PartOrders> orders = nullptr;  // see Setting
    Power power{};
    Seconds deadline{};  // zero: none
};

/// Step times by phase, as sample_steps() returns them for one range of draws.
using PhaseDraws = std::vector<std::vector<double>>;

/// The law of what scales a whole step and is integrated, not drawn; empty where it does not vary.
std::vector<LawNode> common_step_law(const NoiseTables& noise);

class Predictor {
public:
    /// The problem must outlive the predictor. One for each thread that calls it.
    explicit Predictor(const Problem& problem);

    /// Lower bounds of means, without noise (Objective::quantile says when they bound quantiles too), or why the plan cannot work (checked for every phase).
    std::variant<NoiseFree, Infeasible> bound(const ParallelPlan& plan);

    /// Draws of every phase, by plan; each plan's are those that it has alone. The plans must be feasible.
    std::vector<PhaseDraws> sample(std::span<const ParallelPlan> plans, const DrawRange& range, const SamplerOptions& options);
    PhaseDraws sample(const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& options);

    /// What all draws of a feasible plan say: `draws` of fleets 0 ... with `steps` each.
    ///
    /// Step time: of the first phase. Training time: for each fleet the steps of all phases at the fleet's mean step time,
    /// then one history of failures. A fleet's mean over few steps scatters more than the run's many steps would: what is done about that,
    /// and how uncertain it is, productive_times.hpp says; limits are widened by it.
    Prediction summarise(const ParallelPlan& plan, const PhaseDraws& draws, int steps, const SamplerOptions& options,
                         const Confidence& confidence);

    /// What the same draws say of each phase.
    std::vector<PhasePrediction> phases(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                        const Confidence& confidence);

    /// Seconds of the training by fleet, as summarise() counts them.
    std::vector<double> training_times(const ParallelPlan& plan, const PhaseDraws& draws, int steps,
                                       const SamplerOptions& options);

private:
    /// Of a step of a phase, by its mean time: TFLOP/s per GPU.
    double tflops_per_gpu(const Phase& phase, const ParallelPlan& here, double mean_step_s) const;
    TimeDistribution step_distribution(const std::vector<double>& draws, int steps, const Confidence& confidence) const;
    FailureModel failures(const ParallelPlan& plan) const;
    /// Phases in a row on equally many GPUs: one part. `share[phase]`: of the productive time.
    std::vector<RunPart> parts(const ParallelPlan& plan, const std::vector<double>& productive_s,
                               const std::vector<double>& share) const;
    int most_gpus(const ParallelPlan& plan) const;

    const Problem& problem_;
    std::vector<PlanCompiler> compilers_;  // [phase]
    FailureTables failure_tables_;
};

}  // namespace prismopt

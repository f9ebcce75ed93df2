#pragma once

/// Prediction of one design: the data shared by predict, search, results and reports.

#include "model/base/estimate.hpp"
#include "model/base/units.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"
#include "model/run/histories.hpp"
#include "model/step/graph/step_summary.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Probabilities at which a distribution is tabulated in results and reports.
inline constexpr std::array<double, 21> reported_probabilities{0.001, 0.005, 0.01, 0.025, 0.05, 0.1,   0.2,
                                                               0.3,   0.4,   0.45, 0.5,   0.55, 0.6,   0.7,
                                                               0.8,   0.9,   0.95, 0.975, 0.99, 0.995, 0.999};

/// Quantile of a time at a probability in percent.
struct TimeAtPercent {
    int percent = 0;
    Estimate time;
};

/// Distribution of a time, in seconds. `quantiles[i]` is at probability reported_probabilities[i].
struct TimeDistribution {
    Estimate mean;
    Estimate p50;
    Estimate p95;
    Estimate p99;
    std::vector<double> quantiles;
    std::vector<TimeAtPercent> asked{};  // at Job::percents
};

/// Losses of a run to one cause of failures.
struct NamedLoss {
    std::string name;
    CauseLoss loss;
};

/// Failures, checkpoints and power of the whole run, in seconds and GPU-seconds.
struct RunOutlook {
    std::vector<NamedLoss> losses;
    double checkpoint_gpu_s = 0.0;              // mean time for which training stops for checkpoints
    double mean_time_between_failures_s = 0.0;  // unplanned; infinite without any
    double interval_s = 0.0;                    // between checkpoints; infinite: none
    bool writes_checkpoints = false;            // some part of the run is longer than the interval
    double young_s = 0.0;                       // intervals by the formulas of failure_model.hpp
    double daly_s = 0.0;
    double optimal_s = 0.0;
    // Unproductive seconds of the mean training time; their sum is (1 - ETTR) of it.
    double checkpoint_s = 0.0;
    double rework_s = 0.0;
    double restart_s = 0.0;     // detection and restart
    double waiting_s = 0.0;     // for nodes
    double spare_gpus = 0.0;    // held for replacement; not those of enough_spares
    Seconds deadline{};         // zero: none
    Estimate miss_probability;  // probability that the training takes longer; NaN without a deadline
    double power_w = 0.0;  // of the building for the job, while all of its GPUs train and its spares wait
    double mean_power_w = 0.0;  // the same, on average over the run
    // of the building for the whole cluster, while the job trains and all other GPUs wait
    double cluster_power_w = 0.0;
    Estimate energy_j;  // at the mean training time; waiting GPUs draw idle power
    Estimate carbon_kg;
    Estimate electricity_usd;  // at the p99 training time; zero: the price of GPUs includes it
};

/// Prediction for one plan.
struct Prediction {
    std::optional<Infeasible> infeasible;  // if set, only `memory` may be filled
    std::uint64_t draws = 0;               // number of step draws
    double tokens = 0.0;                   // of the run
    double steps = 0.0;                    // of the run
    double noise_free_step_s = 0.0;
    TimeDistribution step;
    TimeDistribution training;
    Estimate promised;                 // training time that can be promised (promise.hpp); NaN if nobody asks
    double tflops_per_gpu = 0.0;       // model TFLOP/s at the mean step time
    double mfu = 0.0;                  // of `peak_tflops_per_gpu`
    double peak_tflops_per_gpu = 0.0;  // of the network's products, each at the dense peak of its precision
    double tokens_per_second = 0.0;    // whole job, at the mean step time
    double ettr = 0.0;                 // productive time over mean training time
    MemoryUse memory;
    double memory_headroom = 0.0;  // free fraction of the accelerator's memory
    double fit_probability = 0.0;  // MemoryLimit
    StepShares shares;
    RunOutlook run;
    Estimate cost_usd;  // GPUs, with spares, * price * p99 training time, and the electricity of that time
    Estimate expected_cost_usd;  // the same at the mean training time
    double gpu_price_usd_per_h = 0.0;
    double deviation = 1.0;  // Problem::deviation
    int gpus = 0;            // that the job uses

    /// GPUs that the job holds: those that it uses, and those of waiting spare nodes.
    double held_gpus() const { return gpus + run.spare_gpus; }
};

/// Prediction for one phase of the run.
struct PhasePrediction {
    ParallelPlan plan;  // as in this phase
    int sequence = 0;   // tokens
    double steps = 0.0;
    double productive_s = 0.0;  // mean, without failures and checkpoints
    TimeDistribution step;
    double tflops_per_gpu = 0.0;
    MemoryUse memory;
};

}  // namespace prismopt

#include "io/results/front_columns.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

/// Figures that only some studies or points have.
constexpr Allowed optional_share{allowed_share.least, allowed_share.most, true};
constexpr Allowed optional_number{0.0, 1e12, true};
constexpr Allowed optional_time{0.0, 1e13, true};
constexpr Allowed optional_ratio{0.0, 1e3, true};  // measured over predicted; model_error is below 1
constexpr Allowed allowed_tokens{0.0, 1e30};

}  // namespace

Allowed allowed_in(std::string_view units)
{
    // Plans with a mean training time above 1000 years, 3.2e10 s, are infeasible; prices and powers are below 1e30 each.
    static constexpr std::array<std::pair<std::string_view, double>, 8> most{
        {{"s", 1e13}, {"h", 1e20}, {"B", 1e30}, {"s-1", 1e30}, {"USD", 1e60}, {"USD/h", 1e40}, {"J", 1e60}, {"kg", 1e60}}};
    constexpr double other = 1e12;  // pure numbers
    const auto* const row = std::find_if(most.begin(), most.end(), [units](const auto& r) { return r.first == units; });
    return {.least = 0.0, .most = row == most.end() ? other : row->second};
}

std::span<const FrontColumn<Estimate>> front_estimates()
{
    static constexpr std::array columns{
        FrontColumn<Estimate>{"step_time_mean", "s", "mean step time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.step.mean; }},
        FrontColumn<Estimate>{"step_time_p50", "s", "median step time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.step.p50; }},
        FrontColumn<Estimate>{"step_time_p95", "s", "95th percentile of the step time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.step.p95; }},
        FrontColumn<Estimate>{"step_time_p99", "s", "99th percentile of the step time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.step.p99; }},
        FrontColumn<Estimate>{"training_time_mean", "s", "mean training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.training.mean; }},
        FrontColumn<Estimate>{"training_time_p50", "s", "median training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.training.p50; }},
        FrontColumn<Estimate>{"training_time_p95", "s", "95th percentile of the training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.training.p95; }},
        FrontColumn<Estimate>{"training_time_p99", "s", "99th percentile of the training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.training.p99; }},
        FrontColumn<Estimate>{"cost", "USD", "cost at the p99 training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.cost_usd; }},
        FrontColumn<Estimate>{"expected_cost", "USD", "cost at the mean training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.expected_cost_usd; }},
        FrontColumn<Estimate>{"energy", "J", "energy at the mean training time",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.run.energy_j; }, 3},
        FrontColumn<Estimate>{"carbon", "kg", "carbon dioxide emitted for that energy",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.run.carbon_kg; }, 3},
        FrontColumn<Estimate>{"miss_probability", "1",
                              "probability that the training takes longer than the deadline; NaN without a deadline",
                              [](FrontPoint& p) -> Estimate& { return p.prediction.run.miss_probability; }, 3, optional_share},
    };
    return columns;
}

std::span<const FrontColumn<double>> front_numbers()
{
    static constexpr std::array columns{
        FrontColumn<double>{"noise_free_step_time", "s", "step time with mean durations",
                            [](FrontPoint& p) -> double& { return p.prediction.noise_free_step_s; }},
        FrontColumn<double>{"tflops_per_gpu", "TFLOP/s",
                            "model floating-point operations per second per GPU at the mean step time",
                            [](FrontPoint& p) -> double& { return p.prediction.tflops_per_gpu; }},
        FrontColumn<double>{"mfu", "1", "model FLOP utilisation: share of peak_tflops_per_gpu at the mean step time",
                            [](FrontPoint& p) -> double& { return p.prediction.mfu; }, 0, allowed_share},
        FrontColumn<double>{
            "peak_tflops_per_gpu", "TFLOP/s",
            "rate of the network's products, each at the dense peak of its precision; NaN in older files, where mfu "
            "is a share of the peak in 16 bits",
            [](FrontPoint& p) -> double& { return p.prediction.peak_tflops_per_gpu; }, 10},
        FrontColumn<double>{"tokens_per_second", "s-1", "tokens per second of the whole job at the mean step time",
                            [](FrontPoint& p) -> double& { return p.prediction.tokens_per_second; }},
        FrontColumn<double>{"ettr", "1", "effective training time ratio: productive time over mean training time",
                            [](FrontPoint& p) -> double& { return p.prediction.ettr; }, 0, allowed_share},
        FrontColumn<double>{"memory_parameters", "B", "parameters on the fullest GPU",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.parameters.si; }},
        FrontColumn<double>{"memory_gradients", "B", "gradients on the fullest GPU",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.gradients.si; }},
        FrontColumn<double>{"memory_optimizer_state", "B", "optimizer state on the fullest GPU",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.optimizer_state.si; }},
        FrontColumn<double>{"memory_activations", "B", "peak of the activations on the fullest GPU",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.activations.si; }},
        FrontColumn<double>{"memory_workspace", "B", "largest temporaries on the fullest GPU",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.workspace.si; }},
        FrontColumn<double>{"memory_reserved", "B", "memory reserved by the accelerator",
                            [](FrontPoint& p) -> double& { return p.prediction.memory.reserved.si; }},
        FrontColumn<double>{"memory_headroom", "1", "free share of the fullest GPU's memory",
                            [](FrontPoint& p) -> double& { return p.prediction.memory_headroom; }, 0, Allowed{-1e9, 1.0}},
        FrontColumn<double>{"bubble_share", "1", "idle share of the busiest stage in the noise-free step",
                            [](FrontPoint& p) -> double& { return p.prediction.shares.bubble; }, 0, allowed_share},
        FrontColumn<double>{"exposed_communication_share", "1", "share of the noise-free step in exposed communication",
                            [](FrontPoint& p) -> double& { return p.prediction.shares.exposed_communication; }, 0, allowed_share},
        FrontColumn<double>{"checkpoint_time", "s", "part of the mean training time spent on checkpoints",
                            [](FrontPoint& p) -> double& { return p.prediction.run.checkpoint_s; }, 3},
        FrontColumn<double>{"rework_time", "s", "part of the mean training time spent on repeating work lost in failures",
                            [](FrontPoint& p) -> double& { return p.prediction.run.rework_s; }, 3},
        FrontColumn<double>{"restart_time", "s", "part of the mean training time spent on detecting failures and restarting",
                            [](FrontPoint& p) -> double& { return p.prediction.run.restart_s; }, 3},
        FrontColumn<double>{"waiting_time", "s", "part of the mean training time spent waiting for nodes",
                            [](FrontPoint& p) -> double& { return p.prediction.run.waiting_s; }, 3},
        FrontColumn<double>{"gpu_price", "USD/h", "price per GPU-hour with the hardware of the plan",
                            [](FrontPoint& p) -> double& { return p.prediction.gpu_price_usd_per_h; }, 3},
        FrontColumn<double>{"model_low", "1", "ratio of measured to predicted time: lower limit of the 95 % prediction interval",
                            [](FrontPoint& p) -> double& { return p.model_low; }, 2, optional_ratio},
        FrontColumn<double>{"model_high", "1", "ratio of measured to predicted time: upper limit of the 95 % prediction interval",
                            [](FrontPoint& p) -> double& { return p.model_high; }, 2, optional_ratio},
        FrontColumn<double>{
            "model_fitted", "1",
            "1: the prediction interval is from the fit to measured runs; 0: no measured run used this hardware as "
            "described, or its model_error sets the interval",
            [](FrontPoint& p) -> double& { return p.model_fitted; }, 2, allowed_share},
        FrontColumn<double>{"chance_best", "1",
                            "probability of being the best plan on this number of GPUs, given the error of the model",
                            [](FrontPoint& p) -> double& { return p.chance_best; }, 5, optional_share},
        FrontColumn<double>{"chance_fits", "1", "probability of fitting into memory, given the error of the model",
                            [](FrontPoint& p) -> double& { return p.chance_fits; }, 5, optional_share},
        FrontColumn<double>{"expected_regret", "1",
                            "expected excess over the best plan on this number of GPUs, given the error of the model",
                            [](FrontPoint& p) -> double& { return p.expected_regret; }, 5, optional_number},
        FrontColumn<double>{"chance_on_front", "1", "probability of being on the front, given the error of the model",
                            [](FrontPoint& p) -> double& { return p.chance_on_front; }, 5, optional_share},
        FrontColumn<double>{"tokens", "1", "tokens that the run trains, in all phases",
                            [](FrontPoint& p) -> double& { return p.prediction.tokens; }, 7, allowed_tokens},
        FrontColumn<double>{"steps", "1", "steps of the run, in all phases",
                            [](FrontPoint& p) -> double& { return p.prediction.steps; }, 7, allowed_tokens},
        FrontColumn<double>{"deviation", "1",
                            "largest ratio, over classes of operators, of the RMS deviation from FP64 to that of the reference",
                            [](FrontPoint& p) -> double& { return p.prediction.deviation; }, 7},
        FrontColumn<double>{"measured_step_time", "s",
                            "mean measured step time of this plan in what the scenario learned; NaN: not measured",
                            [](FrontPoint& p) -> double& { return p.measured_step_s; }, 10, optional_time},
    };
    return columns;
}

std::span<const FrontColumn<std::vector<double>>> front_quantiles()
{
    using Table = std::vector<double>;
    static constexpr std::array columns{
        FrontColumn<Table>{"step_time_quantile", "s", "quantile of the step time",
                           [](FrontPoint& p) -> Table& { return p.prediction.step.quantiles; }},
        FrontColumn<Table>{"training_time_quantile", "s", "quantile of the training time",
                           [](FrontPoint& p) -> Table& { return p.prediction.training.quantiles; }},
    };
    return columns;
}

}  // namespace prismopt

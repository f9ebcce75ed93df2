#include "io/results/plan_results.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

/// Figures that only some studies or points have.
constexpr Allowed optional_share{allowed_share.least, allowed_share.most, true};
constexpr Allowed free_share{
    -1.0, allowed_share.most};  // negative: a plan may fit although its predicted peak does not
constexpr Allowed optional_number{0.0, 1e12, true};
constexpr Allowed optional_time{0.0, 1e13, true};
constexpr Allowed optional_ratio{0.0, 1e3, true};  // measured over predicted; model_error is below 1
constexpr Allowed allowed_tokens{0.0, 1e30};

constexpr NumberStyle significant(int digits) { return {NumberStyle::Kind::significant_digits, digits}; }
constexpr NumberStyle decimals(int digits) { return {NumberStyle::Kind::decimals, digits}; }
constexpr NumberStyle percent(int digits) { return {NumberStyle::Kind::percent, digits}; }

using Estimated = ResultRow<Estimate>;
using Number = ResultRow<double>;
using Tabulated = ResultRow<std::vector<double>>;

/// By subject. Files and CSV have each kind in this order.
constexpr auto result_rows = std::to_array<std::variant<Estimated, Number, Tabulated>>({
    // The step.
    Estimated("step_time_mean", "s", "mean step time", {.follows_model = true, .outputs = {.phase = true}},
              [](auto& r) { return &r.prediction.step.mean; }),
    Estimated("step_time_p50", "s", "median step time", {.follows_model = true, .outputs = {.phase = true}},
              [](auto& r) { return &r.prediction.step.p50; }),
    Estimated("step_time_p95", "s", "95th percentile of the step time",
              {.follows_model = true, .outputs = {.phase = true}},
              [](auto& r) { return &r.prediction.step.p95; }),
    Estimated("step_time_p99", "s", "99th percentile of the step time",
              {.follows_model = true, .outputs = {.phase = true}},
              [](auto& r) { return &r.prediction.step.p99; }),
    Tabulated("step_time_quantile", "s", "quantile of the step time", {.outputs = {.phase = true}},
              [](auto& r) { return &r.prediction.step.quantiles; }),
    Number("noise_free_step_time", "s", "step time with mean durations", {},
           [](auto& r) { return &r.prediction.noise_free_step_s; }),
    // The run.
    Estimated("training_time_mean", "s", "mean training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.training.mean; }),
    Estimated("training_time_p50", "s", "median training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.training.p50; }),
    Estimated("training_time_p95", "s", "95th percentile of the training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.training.p95; }),
    Estimated("training_time_p99", "s", "99th percentile of the training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.training.p99; }),
    Tabulated("training_time_quantile", "s", "quantile of the training time", {},
              [](auto& r) { return &r.prediction.training.quantiles; }),
    Estimated("promised_time", "s",
              "training time that is kept with the probability of the question, and with the model error if "
              "the question includes "
              "it; NaN without a question",
              {.since = 16, .range = optional_time}, [](auto& r) { return &r.prediction.promised; }),
    // Speed.
    Number("tflops_per_gpu", "TFLOP/s",
           "model floating-point operations per second per GPU at the mean step time",
           {.style = decimals(0), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.tflops_per_gpu; }),
    Number("mfu", "1", "model FLOP utilisation: share of peak_tflops_per_gpu at the mean step time",
           {.style = percent(1)}, [](auto& r) { return &r.prediction.mfu; }),
    Number("peak_tflops_per_gpu", "TFLOP/s",
           "rate of the network's products, each at the dense peak of its precision; NaN in older files, "
           "where mfu is a share of "
           "the peak in 16 bits",
           {.style = decimals(0), .since = 10}, [](auto& r) { return &r.prediction.peak_tflops_per_gpu; }),
    Number("tokens_per_second", "s-1", "tokens per second of the whole job at the mean step time", {},
           [](auto& r) { return &r.prediction.tokens_per_second; }),
    Number("ettr", "1", "effective training time ratio: productive time over mean training time",
           {.style = percent(1)}, [](auto& r) { return &r.prediction.ettr; }),
    // Memory of the fullest GPU.
    Number("memory_parameters", "B", "parameters on the fullest GPU",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.parameters.si; }),
    Number("memory_gradients", "B", "gradients on the fullest GPU",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.gradients.si; }),
    Number("memory_optimizer_state", "B", "optimizer state on the fullest GPU",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.optimizer_state.si; }),
    Number("memory_activations", "B", "peak of the activations on the fullest GPU",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.activations.si; }),
    Number("memory_workspace", "B", "largest temporaries on the fullest GPU",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.workspace.si; }),
    Number("memory_reserved", "B", "memory reserved by the accelerator",
           {.style = decimals(1), .outputs = {.phase = true}},
           [](auto& r) { return &r.prediction.memory.reserved.si; }),
    Number("memory_host", "B",
           "offloaded states of each GPU in the memory of its host, which host_memory in [cluster] limits",
           {.style = decimals(1), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.memory.host.si; }),
    Number("memory_headroom", "1", "free share of the fullest GPU's memory",
           {.style = percent(1), .range = free_share}, [](auto& r) { return &r.prediction.memory_headroom; }),
    Number("fit_probability", "1",
           "probability of fitting into memory, given the scatter of measured peaks about predicted ones",
           {.style = percent(0), .since = 14, .range = optional_share},
           [](auto& r) { return &r.prediction.fit_probability; }),
    // Shares of the noise-free step.
    Number("bubble_share", "1", "idle share of the busiest stage in the noise-free step",
           {.style = percent(1)}, [](auto& r) { return &r.prediction.shares.bubble; }),
    Number("exposed_communication_share", "1", "share of the noise-free step in exposed communication",
           {.style = percent(1)}, [](auto& r) { return &r.prediction.shares.exposed_communication; }),
    Number("host_wait_share", "1",
           "share of the noise-free step in which the busiest stage waits for launches by the host",
           {.style = percent(1), .since = 13}, [](auto& r) { return &r.prediction.shares.host; }),
    // Failures and checkpoints.
    Number("checkpoint_time", "s", "part of the mean training time spent on checkpoints", {.since = 3},
           [](auto& r) { return &r.prediction.run.checkpoint_s; }),
    Number("rework_time", "s", "part of the mean training time spent on repeating work lost in failures",
           {.since = 3}, [](auto& r) { return &r.prediction.run.rework_s; }),
    Number("restart_time", "s", "part of the mean training time spent on detecting failures and restarting",
           {.since = 3}, [](auto& r) { return &r.prediction.run.restart_s; }),
    Number("waiting_time", "s", "part of the mean training time spent waiting for nodes", {.since = 3},
           [](auto& r) { return &r.prediction.run.waiting_s; }),
    Number("mean_time_between_failures", "s", "mean time between unplanned failures",
           {.style = significant(3), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.run.mean_time_between_failures_s; }),
    Number("checkpoint_interval", "s", "time between checkpoints",
           {.style = significant(3), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.run.interval_s; }),
    Number("young_interval", "s", "recommended interval, by Young's formula",
           {.style = significant(3), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.run.young_s; }),
    Number("daly_interval", "s", "recommended interval, by Daly's formula",
           {.style = significant(3), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.run.daly_s; }),
    Number("optimal_interval", "s", "interval with the lowest mean training time",
           {.style = significant(3), .outputs = {.study = false}},
           [](auto& r) { return &r.prediction.run.optimal_s; }),
    // Money, energy and the deadline.
    Estimated("cost", "USD", "cost at the p99 training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.cost_usd; }),
    Estimated("expected_cost", "USD", "cost at the mean training time", {.follows_model = true},
              [](auto& r) { return &r.prediction.expected_cost_usd; }),
    Estimated("electricity", "USD",
              "part of the cost that is the price of electricity; 0: the price of GPUs includes it",
              {.follows_model = true, .since = 17, .range = Allowed{0.0, 1e60, true}},
              [](auto& r) { return &r.prediction.run.electricity_usd; }),
    Number("gpu_price", "USD/h", "price per GPU-hour with the hardware of the plan", {.since = 3},
           [](auto& r) { return &r.prediction.gpu_price_usd_per_h; }),
    Number("spare_gpus", "1", "GPUs of waiting spare nodes, which the job holds beside those that it uses",
           {.since = 19, .range = Allowed{0.0, 1e9, true}},
           [](auto& r) { return &r.prediction.run.spare_gpus; }),
    Number("power", "W", "power of the building for the job while all of its GPUs train and its spares wait",
           {.style = significant(3), .since = 16, .range = Allowed{0.0, 1e30, true}},
           [](auto& r) { return &r.prediction.run.power_w; }),
    Number("mean_power", "W", "power of the building for the job on average over the run",
           {.style = significant(3), .since = 17, .range = Allowed{0.0, 1e30, true}},
           [](auto& r) { return &r.prediction.run.mean_power_w; }),
    Number("cluster_power", "W",
           "power of the building for the whole cluster while the job trains and all other GPUs wait",
           {.style = significant(3), .since = 17, .range = Allowed{0.0, 1e30, true}},
           [](auto& r) { return &r.prediction.run.cluster_power_w; }),
    Estimated("energy", "J", "energy at the mean training time", {.style = significant(3), .since = 3},
              [](auto& r) { return &r.prediction.run.energy_j; }),
    Estimated("carbon", "kg", "carbon dioxide emitted for that energy", {.style = significant(3), .since = 3},
              [](auto& r) { return &r.prediction.run.carbon_kg; }),
    Estimated("miss_probability", "1",
              "probability that the training takes longer than the deadline; NaN without a deadline",
              {.since = 3, .range = optional_share},
              [](auto& r) { return &r.prediction.run.miss_probability; }),
    // The error of the model.
    Number("model_low", "1",
           "ratio of measured to predicted time: lower limit of the 95 % prediction interval",
           {.since = 2, .range = optional_ratio}, [](auto& r) { return &r.model_low; }),
    Number("model_high", "1",
           "ratio of measured to predicted time: upper limit of the 95 % prediction interval",
           {.since = 2, .range = optional_ratio}, [](auto& r) { return &r.model_high; }),
    Tabulated("model_quantile", "1", "quantile of the ratio of measured to predicted time",
              {.since = 16, .range = optional_ratio}, [](auto& r) { return &r.model_quantiles; }),
    Number("model_fitted", "1",
           "1: the prediction interval is from the fit to measured runs; 0: no measured run used this "
           "hardware as described, or "
           "its model_error sets the interval",
           {.since = 2, .range = allowed_share}, [](auto& r) { return &r.model_fitted; }),
    Number("software_low", "1",
           "ratio of step times with the fastest software that the job may have to those predicted; 1: it is "
           "given",
           {.since = 12, .range = optional_ratio}, [](auto& r) { return &r.software_low; }),
    Number("software_high", "1", "the same with the slowest", {.since = 12, .range = optional_ratio},
           [](auto& r) { return &r.software_high; }),
    // The choice among plans, given that error.
    Number("chance_best", "1",
           "probability of being the best plan on this number of GPUs, given the error of the model",
           {.style = percent(0), .outputs = {.predict = false}, .since = 5, .range = optional_share},
           [](auto& r) { return &r.chance_best; }),
    Number("chance_fits", "1", "probability of fitting into memory, given the error of the model",
           {.style = percent(0), .outputs = {.predict = false}, .since = 5, .range = optional_share},
           [](auto& r) { return &r.chance_fits; }),
    Number("expected_regret", "1",
           "expected excess over the best plan on this number of GPUs, given the error of the model",
           {.style = percent(1), .outputs = {.predict = false}, .since = 5, .range = optional_number},
           [](auto& r) { return &r.expected_regret; }),
    Number("chance_on_front", "1", "probability of being on the front, given the error of the model",
           {.style = percent(0), .outputs = {.predict = false}, .since = 5, .range = optional_share},
           [](auto& r) { return &r.chance_on_front; }),
    // Size and learning.
    Number("tokens", "1", "tokens that the run trains, in all phases", {.since = 7, .range = allowed_tokens},
           [](auto& r) { return &r.prediction.tokens; }),
    Number("steps", "1", "steps of the run, in all phases", {.since = 7, .range = allowed_tokens},
           [](auto& r) { return &r.prediction.steps; }),
    Number(
        "deviation", "1",
        "largest ratio, over classes of operators, of the RMS deviation from FP64 to that of the reference",
        {.since = 7}, [](auto& r) { return &r.prediction.deviation; }),
    // Measurements.
    Number("measured_step_time", "s",
           "mean measured step time of this plan in what the scenario learned; NaN: not measured",
           {.outputs = {.predict = false}, .since = 10, .range = optional_time},
           [](auto& r) { return &r.measured_step_s; }),
});

}  // namespace

Allowed allowed_in(std::string_view units)
{
    // Plans with a mean training time above 1000 years, 3.2e10 s, are infeasible; prices
    // and powers are below 1e30 each.
    static constexpr std::array<std::pair<std::string_view, double>, 8> most{{{"s", 1e13},
                                                                              {"h", 1e20},
                                                                              {"B", 1e30},
                                                                              {"s-1", 1e30},
                                                                              {"USD", 1e60},
                                                                              {"USD/h", 1e40},
                                                                              {"J", 1e60},
                                                                              {"kg", 1e60}}};
    constexpr double other = 1e12;  // pure numbers
    const auto* const row =
        std::find_if(most.begin(), most.end(), [units](const auto& r) { return r.first == units; });
    return {.least = 0.0, .most = row == most.end() ? other : row->second};
}

template <class T>
std::vector<ResultRow<T>> plan_results(bool Outputs::*output)
{
    std::vector<ResultRow<T>> rows;
    for (const auto& any : result_rows) {
        if (const auto* row = std::get_if<ResultRow<T>>(&any); row != nullptr && row->facts.outputs.*output) {
            rows.push_back(*row);
        }
    }
    return rows;
}

template <class T>
const ResultRow<T>& plan_result(std::string_view name)
{
    for (const auto& any : result_rows) {
        if (const auto* row = std::get_if<ResultRow<T>>(&any); row != nullptr && row->name == name) {
            return *row;
        }
    }
    throw std::logic_error("plans have no result of the kind and name " + std::string(name));
}

template std::vector<Estimated> plan_results(bool Outputs::*);
template std::vector<Number> plan_results(bool Outputs::*);
template std::vector<Tabulated> plan_results(bool Outputs::*);
template const Estimated& plan_result(std::string_view);
template const Number& plan_result(std::string_view);

}  // namespace prismopt

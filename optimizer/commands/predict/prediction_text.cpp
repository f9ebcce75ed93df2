#include "optimizer/commands/predict/prediction_text.hpp"

#include "io/base/aligned.hpp"
#include "io/base/json_number.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/run_words.hpp"
#include "io/report/network_json.hpp"
#include "io/report/report.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <cmath>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gpu_hour = (1_h).si;
constexpr double gigabyte = (1_GB).si;

nlohmann::json to_json(const TimeDistribution& d, const ModelInterval& model)
{
    nlohmann::json json{{"mean", d.mean.value}, {"p50", d.p50.value}, {"p95", d.p95.value}, {"p99", d.p99.value}};
    json["p99_low"] = json_number(d.p99.low);
    json["p99_high"] = json_number(d.p99.high);
    json["p99_model_low"] = d.p99.value * model.low;
    json["p99_model_high"] = d.p99.value * model.high;
    json["mean_low"] = json_number(d.mean.low);
    json["mean_high"] = json_number(d.mean.high);
    for (std::size_t i = 0; i < reported_probabilities.size(); ++i) {
        json["quantiles"].push_back({reported_probabilities[i], d.quantiles[i]});
    }
    return json;
}

nlohmann::json to_json(const MemoryUse& memory)
{
    return {{"parameters", memory.parameters.si},
            {"gradients", memory.gradients.si},
            {"optimizer_state", memory.optimizer_state.si},
            {"activations", memory.activations.si},
            {"workspace", memory.workspace.si},
            {"reserved", memory.reserved.si},
            {"stage", memory.stage}};
}

/// The course of the run: failures, checkpoints, lost GPU-hours by cause, energy.
nlohmann::json run_json(const Prediction& p, const ModelInterval& model)
{
    const RunOutlook& run = p.run;
    nlohmann::json json{{"mean_time_between_failures_s", json_number(run.mean_time_between_failures_s)},
                        {"checkpoint_interval_s", json_number(run.interval_s)},
                        {"checkpoints_written", run.writes_checkpoints},
                        {"young_interval_s", json_number(run.young_s)},
                        {"daly_interval_s", json_number(run.daly_s)},
                        {"optimal_interval_s", json_number(run.optimal_s)},
                        {"checkpoint_gpu_hours", run.checkpoint_gpu_s / gpu_hour},
                        {"spare_gpus", run.spare_gpus},
                        {"energy_j", run.energy_j.value},
                        {"carbon_kg", run.carbon_kg.value}};
    if (run.deadline.si > 0.0) {
        json["deadline_s"] = run.deadline.si;
        json["miss_probability"] = stated("miss_probability", run.miss_probability).value;
        json["miss_probability_low"] = run.miss_probability.low;
        json["miss_probability_high"] = run.miss_probability.high;
        if (const auto risk = deadline_risk(p.training, run.deadline, model.low, model.high)) {
            json["miss_probability_with_model_error"] = risk->mean;
            json["miss_probability_model_low"] = risk->low;
            json["miss_probability_model_high"] = risk->high;
        }
    }
    json["causes"] = nlohmann::json::array();
    for (const NamedLoss& row : run.losses) {
        json["causes"].push_back({{"name", row.name},
                                  {"failures", row.loss.failures},
                                  {"rework_gpu_hours", row.loss.rework_gpu_s / gpu_hour},
                                  {"down_gpu_hours", row.loss.down_gpu_s / gpu_hour},
                                  {"waiting_gpu_hours", row.loss.waiting_gpu_s / gpu_hour}});
    }
    return json;
}

std::string limits(const Estimate& e, double unit)
{
    if (!std::isfinite(e.low) || !std::isfinite(e.high)) {
        return "no 95 % confidence interval: too few draws";
    }
    return fmt::format("{:.4g} to {:.4g} (95 % confidence interval, assuming the model is exact)", e.low / unit, e.high / unit);
}

void print_distribution(std::string_view title, const TimeDistribution& d, const ModelInterval& model)
{
    const auto [unit_name, unit] = reading_unit("s", d.p99.value);
    fmt::print("{} ({})\n  mean {:.4g}   p50 {:.4g}   p95 {:.4g}   p99 {:.4g}\n", title, unit_name, d.mean.value / unit,
               d.p50.value / unit, d.p95.value / unit, d.p99.value / unit);
    fmt::print("  p99 sampling error: {}\n  p99 model error: {:.4g} to {:.4g} ({})\n", limits(d.p99, unit),
               d.p99.value * model.low / unit, d.p99.value * model.high / unit, model_error_source(model.fitted));
}

/// Failures and, in training, checkpoints.
void print_interruptions(const RunOutlook& run, WorkloadTask task)
{
    const auto time = [](double seconds) { return time_text(seconds, 3); };
    const std::string checkpoints =
        !std::isfinite(run.interval_s) ? "no checkpoints"
        : run.writes_checkpoints
            ? fmt::format("a checkpoint every {}", time(run.interval_s))
            : fmt::format("no checkpoint is written, because no phase is longer than the interval of {}", time(run.interval_s));
    if (!trains(task)) {
        fmt::print("{}\n", std::isfinite(run.mean_time_between_failures_s)
                               ? fmt::format("mean time between failures {}", time(run.mean_time_between_failures_s))
                               : "no failures");
        return;
    }
    if (std::isfinite(run.mean_time_between_failures_s)) {
        fmt::print("mean time between failures {}; {} (recommended intervals: Young {}, Daly {}, optimal {})\n",
                   time(run.mean_time_between_failures_s), checkpoints, time(run.young_s), time(run.daly_s), time(run.optimal_s));
    } else {
        fmt::print("no failures; {}\n", checkpoints);
    }
    fmt::print("mean GPU-hours lost: {:.4g} to checkpoints\n", run.checkpoint_gpu_s / gpu_hour);
}

void print_run(const PlanPrediction& of)
{
    const RunOutlook& run = of.prediction.run;
    constexpr double megawatt_hour = 3.6e9;
    print_interruptions(run, of.task);
    for (const NamedLoss& row : run.losses) {
        fmt::print("  {:<20} {:8.4g} times: repeated work {:.4g}, detection and restart {:.4g}, waiting for nodes {:.4g}\n",
                   row.name, row.loss.failures, row.loss.rework_gpu_s / gpu_hour, row.loss.down_gpu_s / gpu_hour,
                   row.loss.waiting_gpu_s / gpu_hour);
    }
    const bool waits =
        std::any_of(run.losses.begin(), run.losses.end(), [](const NamedLoss& row) { return row.loss.waiting_gpu_s > 0.0; });
    if (waits && of.idle_nodes > 0) {
        fmt::print("  the job waits for nodes although {} nodes of the cluster are idle; set spares to use them\n",
                   of.idle_nodes);
    }
    if (run.deadline.si > 0.0) {
        const auto risk = deadline_risk(of.prediction.training, run.deadline, of.model.low, of.model.high);
        fmt::print("probability of exceeding {}: {} (95 % confidence interval {} to {}, assuming the model is exact){}\n",
                   time_text(run.deadline.si), probability_text(run.miss_probability), share_text(run.miss_probability.low),
                   share_text(run.miss_probability.high), risk ? "; " + deadline_risk_text(*risk) : "");
    }
    fmt::print("energy {:.4g} MWh, {:.4g} t of CO2{}\n", run.energy_j.value / megawatt_hour, run.carbon_kg.value / 1e3,
               placeholder_words(of.power_origin, "power"));
    if (!of.energy_note.empty()) {
        fmt::print("  {}\n", of.energy_note);
    }
}

void print_phases(const std::vector<PhasePrediction>& phases, const SpaceSettings& space)
{
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const PhasePrediction& p = phases[i];
        const auto [unit, size] = reading_unit("s", p.step.p99.value);
        fmt::print("phase {}: {} tokens per sequence, {} dp={}\n", i + 1, p.sequence, design_text(p.plan, space), p.plan.dp);
        fmt::print(
            "  {:.0f} steps, mean {:.4g} {}, p50 {:.4g}, p95 {:.4g}, p99 {:.4g}; {} without failures and checkpoints; "
            "{:.0f} TFLOP/s per GPU; {:.1f} GB\n",
            p.steps, p.step.mean.value / size, unit, p.step.p50.value / size, p.step.p95.value / size, p.step.p99.value / size,
            time_text(p.productive_s), p.tflops_per_gpu, p.memory.total().si / gigabyte);
    }
}

void print_assignment(const WrittenAssignment& positions)
{
    const AssignedNodes& assigned = positions.assigned;
    const std::string least = assigned.least_p99_s <= assigned.bound_p99_s
                                  ? "no assignment is better"
                                  : fmt::format("lower bound {:.4g} s, {:.2g} % lower", assigned.bound_p99_s,
                                                100.0 * (1.0 - assigned.bound_p99_s / assigned.least_p99_s));
    fmt::print(
        "node assignment with the lowest p99 step time found: {:.4g} s ({}); {:.4g} s in the given order ({}, on the same "
        "draws); written to {}\n",
        assigned.least_p99_s, least, assigned.given_p99_s,
        assigned.exact ? fmt::format("all {} assignments evaluated", assigned.judged)
                       : fmt::format("{} assignments evaluated by local search", assigned.judged),
        positions.path);
    if (assigned.cut) {
        fmt::print("  the local search stopped at its limit of evaluations{}\n",
                   assigned.work_limits ? ", which is lower for large jobs and many draws; fewer --draws raise it" : "");
    }
}

/// "0-3" or "0-1 32-33", with E and L where the embedding and the head are.
std::string layers_text(const StageUse& stage)
{
    std::string text;
    for (const Chunk& chunk : stage.chunks) {
        const int last = chunk.first_layer + chunk.layers - 1;
        const std::string layers = chunk.layers == 0   ? ""
                                   : chunk.layers == 1 ? std::to_string(last)
                                                       : fmt::format("{}-{}", chunk.first_layer, last);
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", chunk.embedding ? "E" : "", layers, chunk.head ? "L" : "");
    }
    return text;
}

void print_stages(const std::vector<StageUse>& stages, const std::string& layout)
{
    double longest = 0.0;
    std::size_t width = std::string("layers").size();
    for (const StageUse& stage : stages) {
        longest = std::max(longest, stage.forward_s + stage.backward_s);
        width = std::max(width, layers_text(stage).size());
    }
    const auto [unit_name, unit] = reading_unit("s", longest);
    fmt::print("layout {}\n", layout);
    fmt::print("stages in the first phase: mean {} per microbatch, GB per GPU\n", unit_name);
    fmt::print("  {:>5}  {:<{}}  {:>9} {:>9} {:>9}  {:>10} {:>9} {:>9} {:>11} {:>9} {:>6}\n", "stage", "layers", width, "forward",
               "backward", "both", "parameters", "gradients", "optimizer", "activations", "workspace", "all");
    for (const StageUse& stage : stages) {
        const MemoryUse& use = stage.memory;
        fmt::print("  {:>5}  {:<{}}  {:>9.4g} {:>9.4g} {:>9.4g}  {:>10.2f} {:>9.2f} {:>9.2f} {:>11.2f} {:>9.2f} {:>6.1f}\n",
                   use.stage, layers_text(stage), width, stage.forward_s / unit, stage.backward_s / unit,
                   (stage.forward_s + stage.backward_s) / unit, use.parameters.si / gigabyte, use.gradients.si / gigabyte,
                   use.optimizer_state.si / gigabyte, use.activations.si / gigabyte, use.workspace.si / gigabyte,
                   use.total().si / gigabyte);
    }
}

nlohmann::json to_json(const StageUse& stage)
{
    nlohmann::json json{{"forward_s", stage.forward_s},
                        {"backward_s", stage.backward_s},
                        {"memory_bytes", to_json(stage.memory)},
                        {"chunks", nlohmann::json::array()}};
    for (const Chunk& chunk : stage.chunks) {
        json["chunks"].push_back(
            {{"first_layer", chunk.first_layer}, {"layers", chunk.layers}, {"embedding", chunk.embedding}, {"head", chunk.head}});
    }
    return json;
}

nlohmann::json changes_json(const std::vector<SingleChange>& changes)
{
    nlohmann::json list = nlohmann::json::array();
    for (const SingleChange& change : changes) {
        list.push_back({{"change", change.design},
                        {"in_space", change.in_space},
                        {"least_step_time_s", change.step_s},
                        {"peak_memory_bytes", change.memory_bytes}});
    }
    return list;
}

/// Single changes that make an infeasible plan feasible.
std::string changes_text(const std::vector<SingleChange>& changes)
{
    if (changes.empty()) {
        return "  no change of a single axis makes it feasible\n";
    }
    constexpr std::size_t most = 8;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(most, changes.size()); ++i) {
        const SingleChange& change = changes[i];
        rows.push_back({"  " + change.design, fmt::format("step {}", time_text(change.step_s)),
                        fmt::format("{:.1f} GB", change.memory_bytes / gigabyte)});
    }
    const std::string more =
        changes.size() > most ? fmt::format("  and {} more (--json lists them)\n", changes.size() - most) : "";
    return fmt::format("Feasible with one change, to a value {} [space] (mean step at least, memory of the fullest GPU):\n{}{}",
                       changes.front().in_space ? "of" : "outside of", aligned(rows, 0), more);
}

}  // namespace

nlohmann::json to_json(const PlanPrediction& of)
{
    const Prediction& p = of.prediction;
    nlohmann::json json{{"feasible", !p.infeasible.has_value()},
                        {"reason", p.infeasible ? p.infeasible->text() : ""},
                        {"design", design_text(of.plan, of.space)},
                        {"network", network_json(of.network)},
                        {"draws", p.draws}};
    if (!of.hardware.empty()) {
        json["hardware"] = of.hardware;
    }
    if (p.infeasible) {
        json["changes"] = changes_json(of.changes);
    }
    if (p.draws == 0) {
        return json;
    }
    if (p.infeasible) {
        json["missing_bytes"] = p.memory.total().si - of.usable_bytes;
    }
    json["model_interval"] = of.model.fitted ? "fitted" : "extrapolated";
    if (!of.mixtures.empty()) {
        json["model_interval_of_mixtures"] = of.mixtures;
    }
    json["learning"] = of.tokens;
    json["tokens"] = p.tokens;
    json["steps"] = p.steps;
    json["deviation"] = p.deviation;
    json["quantiles_of"] = quantiles_of(of.nodes_known);
    json["listed_nodes"] = of.listed_nodes;
    json["idle_nodes"] = of.idle_nodes;
    json["energy_note"] = of.energy_note;
    json["placement_note"] = of.placement;
    json["step_time_s"] = to_json(p.step, of.model);
    json["training_time_s"] = to_json(p.training, of.model);
    json["noise_free_step_time_s"] = p.noise_free_step_s;
    json["tflops_per_gpu"] = p.tflops_per_gpu;
    json["mfu"] = p.mfu;
    json["peak_tflops_per_gpu"] = p.peak_tflops_per_gpu;
    json["tokens_per_second"] = p.tokens_per_second;
    json["ettr"] = p.ettr;
    json["run"] = run_json(p, of.model);
    json["peak_memory_bytes"] = p.memory.total().si;
    json["peak_memory_interval_bytes"] = {of.memory_interval.low, of.memory_interval.high};
    json["memory_bytes"] = to_json(p.memory);
    json["memory_headroom"] = p.memory_headroom;
    json["memory_assumes"] = of.memory_assumes;
    json["host_memory_bytes"] = p.memory.host.si;
    json["layout"] = of.layout;
    json["stages"] = nlohmann::json::array();
    for (const StageUse& stage : of.stages) {
        json["stages"].push_back(to_json(stage));
    }
    json["bubble_share"] = p.shares.bubble;
    json["exposed_communication_share"] = p.shares.exposed_communication;
    json["cost_usd"] = p.cost_usd.value;
    json["expected_cost_usd"] = p.expected_cost_usd.value;
    json["gpu_price"] = of.price;
    json["price_given"] = name(of.price_origin);
    json["power_given"] = name(of.power_origin);
    json["gpus"] = p.gpus;
    for (const PhasePrediction& phase : of.phases) {
        json["phases"].push_back({{"design", design_text(phase.plan, of.space)},
                                  {"sequence_length", phase.sequence},
                                  {"steps", phase.steps},
                                  {"step_time_s", to_json(phase.step, of.model)},
                                  {"productive_time_s", phase.productive_s},
                                  {"tflops_per_gpu", phase.tflops_per_gpu},
                                  {"peak_memory_bytes", phase.memory.total().si}});
    }
    if (of.positions) {
        const AssignedNodes& assigned = of.positions->assigned;
        json["assignment"] = {{"file", of.positions->path},
                              {"given_step_p99_s", assigned.given_p99_s},
                              {"assigned_step_p99_s", assigned.least_p99_s},
                              {"worst_step_p99_s", assigned.worst_p99_s},
                              {"step_p99_bound_s", assigned.bound_p99_s},
                              {"exact", assigned.exact},
                              {"ended_by_budget", assigned.cut},
                              {"judged", assigned.judged}};
    }
    return json;
}

void print_text(const PlanPrediction& of, StageTable table)
{
    const Prediction& p = of.prediction;
    fmt::print("{} dp={}\n", design_text(of.plan, of.space), of.plan.dp);
    if (!of.hardware.empty()) {
        fmt::print("variant {}\n", of.hardware);
    }
    fmt::print("{}", network_text(of.network));
    if (p.infeasible) {
        fmt::print("infeasible: {}\n{}", p.infeasible->text(), changes_text(of.changes));
        if (p.draws == 0) {
            return;
        }
        fmt::print("With {:.1f} GB more on each GPU, the plan would take:\n", (p.memory.total().si - of.usable_bytes) / gigabyte);
    }
    fmt::print("quantiles over {}{}\n", population(of.nodes_known),
               of.listed_nodes > 0 && !of.nodes_known
                   ? fmt::format("; {} of {} nodes are known, the others are drawn", of.listed_nodes, of.cluster_nodes)
                   : "");
    if (of.positions) {
        print_assignment(*of.positions);
    }
    print_distribution(of.phases.size() > 1 ? "step time of the first phase" : "step time", p.step, of.model);
    print_distribution(run_words(of.task).time, p.training, of.model);
    if (!of.mixtures.empty()) {
        fmt::print("  {}\n", of.mixtures);
    }
    fmt::print("  {}\n", of.tokens);
    print_phases(of.phases, of.space);
    fmt::print("noise-free step {}; bubble {:.1f} %, exposed communication {:.1f} % of it\n", time_text(p.noise_free_step_s),
               100.0 * p.shares.bubble, 100.0 * p.shares.exposed_communication);
    if (!of.placement.empty()) {
        fmt::print("placement: {}\n", of.placement);
    }
    fmt::print(
        "{:.0f} TFLOP/s per GPU (MFU {:.1f} % of {:.0f} TFLOP/s, the peak of the products in their precision), {:.4g} tokens/s, "
        "{} {:.1f} %\n",
        p.tflops_per_gpu, 100.0 * p.mfu, p.peak_tflops_per_gpu, p.tokens_per_second, run_words(of.task).effective,
        100.0 * p.ettr);
    print_run(of);
    fmt::print(
        "memory {:.1f} GB on stage {} (headroom {:.1f} %): parameters {:.1f}, {}"
        "activations {:.1f}, workspace {:.1f}, reserved {:.1f}\n",
        p.memory.total().si / gigabyte, p.memory.stage, 100.0 * p.memory_headroom, p.memory.parameters.si / gigabyte,
        trains(of.task) ? fmt::format("gradients {:.1f}, optimizer state {:.1f}, ", p.memory.gradients.si / gigabyte,
                                      p.memory.optimizer_state.si / gigabyte)
                        : "",
        p.memory.activations.si / gigabyte, p.memory.workspace.si / gigabyte, p.memory.reserved.si / gigabyte);
    fmt::print("  model error: {:.1f} to {:.1f} GB (95 % prediction interval, {})\n", of.memory_interval.low / gigabyte,
               of.memory_interval.high / gigabyte, of.memory_interval.basis);
    if (!of.memory_assumes.empty()) {
        fmt::print("  assumes {}\n", fmt::join(of.memory_assumes, "; "));
    }
    if (p.memory.host.si > 0.0) {
        fmt::print("  in host memory {:.1f} GB for each GPU, {:.1f} GB on a node of {}: whether hosts have it is not checked\n",
                   p.memory.host.si / gigabyte, of.gpus_per_node * p.memory.host.si / gigabyte, of.gpus_per_node);
    }
    if (table == StageTable::on) {
        print_stages(of.stages, of.layout);
    }
    const ReadingUnit unit = reading_unit("USD", p.cost_usd.value);
    fmt::print("cost {:.4g} {} at p99, {:.4g} {} expected, at {}; {} step draws\n", p.cost_usd.value / unit.size, unit.name,
               p.expected_cost_usd.value / unit.size, unit.name, of.price, p.draws);
}

}  // namespace prismopt

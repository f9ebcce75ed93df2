#include "optimizer/commands/predict/prediction_text.hpp"

#include "io/base/aligned.hpp"
#include "io/base/json_number.hpp"
#include "io/base/percent.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/run_words.hpp"
#include "io/report/network_json.hpp"
#include "io/report/report.hpp"
#include "io/report/result_text.hpp"
#include "io/report/results_json.hpp"
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

using Json = nlohmann::ordered_json;

/// What is written of this plan, and of one of its phases, by the table of results.
PlanResults results_of(const Prediction& prediction, const ModelInterval& model)
{
    PlanResults results;
    results.prediction = prediction;
    results.model_low = model.low;
    results.model_high = model.high;
    results.model_quantiles = model.quantiles();
    results.model_fitted = model.fitted ? 1.0 : 0.0;
    results.software_low = model.software_low;
    results.software_high = model.software_high;
    return results;
}

PlanResults results_of(const PhasePrediction& phase, const ModelInterval& model)
{
    Prediction prediction;
    prediction.step = phase.step;
    prediction.tflops_per_gpu = phase.tflops_per_gpu;
    prediction.memory = phase.memory;
    return results_of(prediction, model);
}

Json to_json(const MemoryUse& memory)
{
    return {{"parameters", memory.parameters.si},
            {"gradients", memory.gradients.si},
            {"optimizer_state", memory.optimizer_state.si},
            {"activations", memory.activations.si},
            {"workspace", memory.workspace.si},
            {"reserved", memory.reserved.si},
            {"stage", memory.stage}};
}

/// Failures and checkpoints beside what the table of results has.
Json run_json(const RunOutlook& run)
{
    Json json{{"checkpoints_written", run.writes_checkpoints},
              {"checkpoint_gpu_hours", run.checkpoint_gpu_s / gpu_hour},
              {"spare_gpus", run.spare_gpus},
              {"deadline_s", run.deadline.si > 0.0 ? Json(run.deadline.si) : Json()},
              {"causes", Json::array()}};
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
    if (const std::string others = other_software_text(model.software_low, model.software_high); !others.empty()) {
        fmt::print("  {}\n", others);
    }
}

/// Failures and, in training, checkpoints.
void print_interruptions(const PlanResults& results, WorkloadTask task)
{
    const RunOutlook& run = results.prediction.run;
    const auto text = [&results](std::string_view name) { return number_text(results, name); };
    const std::string failures = std::isfinite(run.mean_time_between_failures_s)
                                     ? "mean time between failures " + text("mean_time_between_failures")
                                     : "no failures";
    if (!trains(task)) {
        fmt::print("{}\n", failures);
        return;
    }
    std::string checkpoints = "no checkpoints";
    if (std::isfinite(run.interval_s)) {
        checkpoints = (run.writes_checkpoints ? "a checkpoint every "
                                              : "no checkpoint is written, because no phase is longer than the interval of ") +
                      text("checkpoint_interval");
    }
    const std::string recommended = std::isfinite(run.mean_time_between_failures_s)
                                        ? fmt::format(" (recommended intervals: Young {}, Daly {}, optimal {})",
                                                      text("young_interval"), text("daly_interval"), text("optimal_interval"))
                                        : "";
    fmt::print("{}; {}{}\nmean GPU-hours lost: {:.4g} to checkpoints\n", failures, checkpoints, recommended,
               run.checkpoint_gpu_s / gpu_hour);
}

void print_run(const PlanPrediction& of, const PlanResults& results)
{
    const RunOutlook& run = of.prediction.run;
    constexpr double megawatt_hour = 3.6e9;
    print_interruptions(results, of.task);
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
        const auto risk = deadline_risk(results, run.deadline);
        fmt::print("probability of exceeding {}: {} (95 % confidence interval {} to {}, assuming the model is exact){}\n",
                   time_text(run.deadline.si), probability_text(run.miss_probability), probability_text(run.miss_probability.low),
                   probability_text(run.miss_probability.high), risk ? "; " + deadline_risk_text(*risk) : "");
    }
    fmt::print("energy {:.4g} MWh, {:.4g} t of CO2{}\n", run.energy_j.value / megawatt_hour, run.carbon_kg.value / 1e3,
               placeholder_words(of.power_origin, "power"));
    constexpr double megawatt = 1e6;
    fmt::print("power of the building {:.4g} MW in training, {:.4g} MW on average; whole cluster {:.4g} MW\n",
               run.power_w / megawatt, run.mean_power_w / megawatt, run.cluster_power_w / megawatt);
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
                                  : fmt::format("lower bound {:.4g} s, {} lower", assigned.bound_p99_s,
                                                relative_text(1.0 - assigned.bound_p99_s / assigned.least_p99_s, 2));
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

Json to_json(const StageUse& stage)
{
    Json json{{"forward_s", stage.forward_s},
              {"backward_s", stage.backward_s},
              {"memory_bytes", to_json(stage.memory)},
              {"chunks", Json::array()}};
    for (const Chunk& chunk : stage.chunks) {
        json["chunks"].push_back(
            {{"first_layer", chunk.first_layer}, {"layers", chunk.layers}, {"embedding", chunk.embedding}, {"head", chunk.head}});
    }
    return json;
}

Json changes_json(const std::vector<SingleChange>& changes)
{
    Json list = Json::array();
    for (const SingleChange& change : changes) {
        list.push_back({{"change", change.design},
                        {"in_space", change.in_space},
                        {"least_step_time_s", change.step_s},
                        {"peak_memory_bytes", change.memory_bytes}});
    }
    return list;
}

Json to_json(const PhasePrediction& phase, const PlanPrediction& of)
{
    Json json{{"design", design_text(phase.plan, of.space)},
              {"sequence_length", phase.sequence},
              {"steps", phase.steps},
              {"productive_time_s", phase.productive_s},
              {"peak_memory_bytes", phase.memory.total().si}};
    json.update(results_json(results_of(phase, of.model), {}, &Outputs::phase));
    return json;
}

Json to_json(const WrittenAssignment& positions)
{
    const AssignedNodes& assigned = positions.assigned;
    return {{"file", positions.path},
            {"given_step_p99_s", assigned.given_p99_s},
            {"assigned_step_p99_s", assigned.least_p99_s},
            {"worst_step_p99_s", assigned.worst_p99_s},
            {"step_p99_bound_s", assigned.bound_p99_s},
            {"exact", assigned.exact},
            {"ended_by_budget", assigned.cut},
            {"judged", assigned.judged}};
}

/// Single changes that make an infeasible plan feasible, or a plan that may not fit, fit. `what`: they make it.
std::string changes_text(const std::vector<SingleChange>& changes, std::string_view what)
{
    if (changes.empty()) {
        return fmt::format("  no change of a single axis makes it {}\n", what);
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
    return fmt::format("{} with one change, to a value {} [space] (mean step at least, memory of the fullest GPU):\n{}{}",
                       what == "feasible" ? "Feasible" : "Fits", changes.front().in_space ? "of" : "outside of", aligned(rows, 0),
                       more);
}

}  // namespace

nlohmann::ordered_json to_json(const PlanPrediction& of)
{
    constexpr int format_version = 2;
    const Prediction& p = of.prediction;
    Json json{{"format", "prismopt predict"},
              {"format_version", format_version},
              {"feasible", !p.infeasible.has_value()},
              {"reason", p.infeasible ? p.infeasible->text() : ""},
              {"design", design_text(of.plan, of.space)},
              {"network", network_json(of.network)},
              {"software", of.software},
              {"of_software", of.of_software},
              {"not_of_software", of.lacking},
              {"draws", p.draws}};
    if (!of.variant.empty()) {
        json["variant"] = of.variant;
    }
    if (of.may_not_fit) {
        json["may_not_fit"] = of.may_not_fit->detail;
    }
    if (p.infeasible || of.may_not_fit) {
        json["changes"] = changes_json(of.changes);
    }
    if (p.draws == 0) {
        return json;
    }
    if (p.infeasible && p.infeasible->reason == Reason::out_of_memory) {
        json["missing_bytes"] = p.memory.total().si - of.usable_bytes;
    }
    json.update(Json{{"gpus", p.gpus},
                     {"learning", of.tokens},
                     {"quantiles_of", quantiles_of(of.nodes_known)},
                     {"listed_nodes", of.listed_nodes},
                     {"idle_nodes", of.idle_nodes},
                     {"gpu_price", of.price},
                     {"price_given", name(of.price_origin)},
                     {"power_given", name(of.power_origin)},
                     {"model_error_note", json_text<Json>(of.mixtures)},
                     {"energy_note", json_text<Json>(of.energy_note)},
                     {"placement_note", json_text<Json>(of.placement)},
                     {"host_note", json_text<Json>(of.host)},
                     {"columns", columns_json(&Outputs::predict)},
                     {"probabilities", reported_probabilities}});
    json.update(results_json(results_of(p, of.model), p.run.deadline, &Outputs::predict));
    json.update(Json{{"run", run_json(p.run)},
                     {"peak_memory_bytes", p.memory.total().si},
                     {"peak_memory_interval_bytes", {of.memory_interval.low, of.memory_interval.high}},
                     {"memory_stage", p.memory.stage},
                     {"memory_assumes", of.memory_assumes},
                     {"layout", of.layout},
                     {"stages", Json::array()}});
    for (const StageUse& stage : of.stages) {
        json["stages"].push_back(to_json(stage));
    }
    for (const PhasePrediction& phase : of.phases) {
        json["phases"].push_back(to_json(phase, of));
    }
    if (of.positions) {
        json["assignment"] = to_json(*of.positions);
    }
    return json;
}

namespace {

/// The plan and, if it is infeasible, what would make it feasible.
void print_plan(const PlanPrediction& of)
{
    fmt::print("{} dp={}\n", design_text(of.plan, of.space), of.plan.dp);
    if (!of.variant.empty()) {
        fmt::print("variant {}\n", of.variant);
    }
    fmt::print("{}software {}{}\n", network_text(of.network), of.software,
               of.of_software.empty() ? "" : fmt::format(", which brings {}", fmt::join(of.of_software, " ")));
    if (!of.lacking.empty()) {
        fmt::print("  it has no {}: this prediction is of a plan that it does not run\n", fmt::join(of.lacking, ", "));
    }
    const Prediction& p = of.prediction;
    if (p.infeasible) {
        fmt::print("infeasible: {}\n{}", p.infeasible->text(), changes_text(of.changes, "feasible"));
    }
    if (of.may_not_fit) {
        fmt::print("may not fit ({}): {}\n{}", chance_text(p.fit_probability), of.may_not_fit->detail,
                   changes_text(of.changes, "fit"));
    }
    if (p.infeasible && p.infeasible->reason == Reason::out_of_host_memory) {
        fmt::print("With enough host memory, the plan would take:\n");
    } else if (p.infeasible && p.draws > 0) {
        fmt::print("With {:.1f} GB more on each GPU, the plan would take:\n", (p.memory.total().si - of.usable_bytes) / gigabyte);
    }
}

void print_times(const PlanPrediction& of)
{
    const Prediction& p = of.prediction;
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
}

void print_speed(const PlanPrediction& of, const PlanResults& results)
{
    const auto text = [&results](std::string_view name) { return number_text(results, name); };
    fmt::print("noise-free step {}; bubble {}, exposed communication {}, waits for the host {} of it\n",
               text("noise_free_step_time"), text("bubble_share"), text("exposed_communication_share"), text("host_wait_share"));
    if (!of.placement.empty()) {
        fmt::print("placement: {}\n", of.placement);
    }
    if (!of.host.empty()) {
        fmt::print("host: {}\n", of.host);
    }
    fmt::print("{} per GPU (MFU {} of {}, the peak of the products in their precision), {} tokens/s, {} {}\n",
               text("tflops_per_gpu"), text("mfu"), text("peak_tflops_per_gpu"), number_figure(results, "tokens_per_second"),
               run_words(of.task).effective, text("ettr"));
}

void print_memory(const PlanPrediction& of, const PlanResults& results)
{
    const MemoryUse& memory = of.prediction.memory;
    const auto figure = [&results](std::string_view name) { return number_figure(results, name); };
    const std::string of_training = trains(of.task) ? fmt::format("gradients {}, optimizer state {}, ",
                                                                  figure("memory_gradients"), figure("memory_optimizer_state"))
                                                    : "";
    fmt::print(
        "memory {:.1f} GB on stage {} ({} free, fits with a probability of {}): parameters {}, {}activations {}, workspace {}, "
        "reserved {}\n",
        memory.total().si / gigabyte, memory.stage, number_text(results, "memory_headroom"),
        chance_text(of.prediction.fit_probability), figure("memory_parameters"), of_training, figure("memory_activations"),
        figure("memory_workspace"), figure("memory_reserved"));
    fmt::print("  model error: {:.1f} to {:.1f} GB (95 % prediction interval, {})\n", of.memory_interval.low / gigabyte,
               of.memory_interval.high / gigabyte, of.memory_interval.basis);
    if (!of.memory_assumes.empty()) {
        fmt::print("  assumes {}\n", fmt::join(of.memory_assumes, "; "));
    }
    if (memory.host.si > 0.0) {
        fmt::print("  in host memory {} for each GPU, {:.1f} GB on a node of {}{}\n", number_text(results, "memory_host"),
                   of.gpus_per_node * memory.host.si / gigabyte, of.gpus_per_node,
                   of.host_memory_known ? "" : ": whether hosts have it is not checked without host_memory in [cluster]");
    }
}

}  // namespace

void print_text(const PlanPrediction& of, StageTable table)
{
    print_plan(of);
    if (of.prediction.draws == 0) {
        return;
    }
    const PlanResults results = results_of(of.prediction, of.model);
    print_times(of);
    print_speed(of, results);
    print_run(of, results);
    print_memory(of, results);
    if (table == StageTable::on) {
        print_stages(of.stages, of.layout);
    }
    const bool powered = of.prediction.run.electricity_usd.value > 0.0;
    fmt::print("cost {} at p99{}, {} expected, at {}; {} step draws\n", estimate_text(results, "cost"),
               powered ? fmt::format(" (electricity {})", estimate_text(results, "electricity")) : "",
               estimate_text(results, "expected_cost"), of.price, of.prediction.draws);
}

}  // namespace prismopt

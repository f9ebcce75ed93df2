#include "optimizer/api/prediction_text.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/run_words.hpp"
#include "io/report/report.hpp"
#include "io/report/result_text.hpp"
#include "io/toml/reading_units.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gpu_hour = (1_h).si;
constexpr double gb = (1_GB).si;

/// Whether the draws bound a figure from both sides; where they do not, its value is that of the draws that
/// happened to be made: the quantiles of 64 fleets may all equal the mean.
bool is_supported(const Estimate& e) { return std::isfinite(e.low) && std::isfinite(e.high); }

std::string limits(const Estimate& e, double unit)
{
    if (!is_supported(e)) {
        return "no 95 % confidence interval: too few draws";
    }
    return fmt::format("{:.4g} to {:.4g} (95 % confidence interval, assuming the model is exact)",
                       e.low / unit, e.high / unit);
}

/// "0.01766"; "-" where there are too few draws.
std::string quantile_text(const Estimate& e, double unit)
{
    return is_supported(e) ? fmt::format("{:.4g}", e.value / unit) : "-";
}

std::string distribution_text(std::string_view title, const TimeDistribution& d, const ModelInterval& model)
{
    std::string printed;
    const auto [unit_name, unit] = reading_unit("s", d.p99.value);
    printed += fmt::format("{} ({})\n  mean {:.4g}   p50 {}   p95 {}   p99 {}\n", title, unit_name,
                           d.mean.value / unit, quantile_text(d.p50, unit), quantile_text(d.p95, unit),
                           quantile_text(d.p99, unit));
    const bool has_p99 = is_supported(d.p99);
    const double of_model = has_p99 ? d.p99.value : d.mean.value;
    printed += fmt::format("  p99 sampling error: {}\n  {} model error: {:.4g} to {:.4g} ({})\n",
                           limits(d.p99, unit), has_p99 ? "p99" : "mean", of_model * model.low / unit,
                           of_model * model.high / unit, model_error_source(model.fitted));
    if (const std::string others = other_software_text(model.software_low, model.software_high);
        !others.empty()) {
        printed += fmt::format("  {}\n", others);
    }
    return printed;
}

/// Failures and, in training, checkpoints.
std::string interruptions_text(const PlanResults& results, WorkloadTask task)
{
    std::string printed;
    const RunOutlook& run = results.prediction.run;
    const auto text = [&results](std::string_view name) { return number_text(results, name); };
    const std::string failures = std::isfinite(run.mean_time_between_failures_s)
                                     ? "mean time between failures " + text("mean_time_between_failures")
                                     : "no failures";
    if (!trains(task)) {
        printed += fmt::format("{}\n", failures);
        return printed;
    }
    std::string checkpoints = "no checkpoints";
    if (std::isfinite(run.interval_s)) {
        checkpoints = (run.writes_checkpoints
                           ? "a checkpoint every "
                           : "no checkpoint is written, because no phase is longer than the interval of ") +
                      text("checkpoint_interval");
    }
    const std::string recommended =
        std::isfinite(run.mean_time_between_failures_s)
            ? fmt::format(" (recommended intervals: Young {}, Daly {}, optimal {})", text("young_interval"),
                          text("daly_interval"), text("optimal_interval"))
            : "";
    printed += fmt::format("{}; {}{}\nmean GPU-hours lost: {:.4g} to checkpoints\n", failures, checkpoints,
                           recommended, run.checkpoint_gpu_s / gpu_hour);
    return printed;
}

std::string run_text(const PlanPrediction& of, const PlanResults& results)
{
    std::string printed;
    const RunOutlook& run = of.prediction.run;
    constexpr double megawatt_hour = 3.6e9;
    printed += interruptions_text(results, of.task);
    for (const NamedLoss& row : run.losses) {
        printed += fmt::format(
            "  {:<20} {:8.4g} times: repeated work {:.4g}, detection and restart {:.4g}, waiting for nodes "
            "{:.4g}\n",
            row.name, row.loss.failures, row.loss.rework_gpu_s / gpu_hour, row.loss.down_gpu_s / gpu_hour,
            row.loss.waiting_gpu_s / gpu_hour);
    }
    const bool waits = std::any_of(run.losses.begin(), run.losses.end(),
                                   [](const NamedLoss& row) { return row.loss.waiting_gpu_s > 0.0; });
    if (waits && of.idle_nodes > 0) {
        printed += fmt::format(
            "  the job waits for nodes although {} nodes of the cluster are idle; set spares to use them\n",
            of.idle_nodes);
    }
    if (run.deadline.si > 0.0) {
        const auto risk = deadline_risk(results, run.deadline);
        printed += fmt::format(
            "probability of exceeding {}: {} (95 % confidence interval {} to {}, assuming the model is "
            "exact){}\n",
            time_text(run.deadline.si), probability_text(run.miss_probability),
            probability_text(run.miss_probability.low), probability_text(run.miss_probability.high),
            risk ? "; " + deadline_risk_text(*risk) : "");
    }
    printed += fmt::format("energy {:.4g} MWh, {:.4g} t of CO2{}\n", run.energy_j.value / megawatt_hour,
                           run.carbon_kg.value / 1e3, placeholder_words(of.power_origin, "power"));
    constexpr double megawatt = 1e6;
    printed += fmt::format(
        "power of the building {:.4g} MW to provision, {:.4g} MW on average; whole cluster {:.4g} MW\n",
        run.power_w / megawatt, run.mean_power_w / megawatt, run.cluster_power_w / megawatt);
    if (!of.energy_note.empty()) {
        printed += fmt::format("  {}\n", of.energy_note);
    }
    return printed;
}

std::string phases_text(const std::vector<PhasePrediction>& phases, const SpaceSettings& space)
{
    std::string printed;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const PhasePrediction& p = phases[i];
        const auto [unit, size] = reading_unit("s", p.step.p99.value);
        printed += fmt::format("phase {}: {} tokens per sequence, {} dp={}\n", i + 1, p.sequence,
                               design_text(p.plan, space), p.plan.dp);
        printed += fmt::format(
            "  {:.0f} steps, mean {:.4g} {}, p50 {}, p95 {}, p99 {}; {} without failures and "
            "checkpoints; "
            "{:.0f} TFLOP/s per GPU; {:.1f} GB\n",
            p.steps, p.step.mean.value / size, unit, quantile_text(p.step.p50, size),
            quantile_text(p.step.p95, size), quantile_text(p.step.p99, size), time_text(p.productive_s),
            p.tflops_per_gpu, p.memory.total().si / gb);
    }
    return printed;
}

std::string assignment_text(const WrittenAssignment& positions)
{
    std::string printed;
    const AssignedNodes& assigned = positions.assigned;
    const std::string least =
        assigned.least_p99_s <= assigned.bound_p99_s
            ? "no assignment is better"
            : fmt::format("lower bound {:.4g} s, {} lower", assigned.bound_p99_s,
                          relative_text(1.0 - assigned.bound_p99_s / assigned.least_p99_s, 2));
    printed += fmt::format(
        "node assignment with the lowest p99 step time found: {:.4g} s ({}); {:.4g} s in the given order "
        "({}, on the same "
        "draws); written to {}\n",
        assigned.least_p99_s, least, assigned.given_p99_s,
        assigned.exact ? fmt::format("all {} assignments evaluated", assigned.judged)
                       : fmt::format("{} assignments evaluated by local search", assigned.judged),
        positions.path);
    if (assigned.cut) {
        printed += fmt::format("  the local search stopped at its limit of evaluations{}\n",
                               assigned.work_limits
                                   ? ", which is lower for large jobs and many draws; fewer --draws raise it"
                                   : "");
    }
    return printed;
}

/// "0-3" or "0"; empty: no layers.
std::string layer_numbers(const Chunk& chunk)
{
    if (chunk.layers == 0) {
        return "";
    }
    const int last = chunk.first_layer + chunk.layers - 1;
    return chunk.layers == 1 ? std::to_string(last) : fmt::format("{}-{}", chunk.first_layer, last);
}

/// "0-3" or "0-1 32-33", with E and L where the embedding and the head are.
std::string layers_text(const StageUse& stage)
{
    std::string text;
    for (const Chunk& chunk : stage.chunks) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", chunk.embedding ? "E" : "",
                            layer_numbers(chunk), chunk.head ? "L" : "");
    }
    return text;
}

std::string stages_text(const std::vector<StageUse>& stages, const std::string& layout)
{
    std::string printed;
    double longest = 0.0;
    std::size_t width = std::string("layers").size();
    for (const StageUse& stage : stages) {
        longest = std::max(longest, stage.forward_s + stage.backward_s);
        width = std::max(width, layers_text(stage).size());
    }
    const auto [unit_name, unit] = reading_unit("s", longest);
    printed += fmt::format("layout {}\n", layout);
    printed += fmt::format("stages in the first phase: mean {} per microbatch, GB per GPU\n", unit_name);
    printed += fmt::format("  {:>5}  {:<{}}  {:>9} {:>9} {:>9}  {:>10} {:>9} {:>9} {:>11} {:>9} {:>6}\n",
                           "stage", "layers", width, "forward", "backward", "both", "parameters", "gradients",
                           "optimizer", "activations", "workspace", "all");
    for (const StageUse& stage : stages) {
        const MemoryUse& use = stage.memory;
        printed += fmt::format(
            "  {:>5}  {:<{}}  {:>9.4g} {:>9.4g} {:>9.4g}  {:>10.2f} {:>9.2f} {:>9.2f} {:>11.2f} {:>9.2f} "
            "{:>6.1f}\n",
            use.stage, layers_text(stage), width, stage.forward_s / unit, stage.backward_s / unit,
            (stage.forward_s + stage.backward_s) / unit, use.parameters.si / gb, use.gradients.si / gb,
            use.optimizer_state.si / gb, use.activations.si / gb, use.workspace.si / gb, use.total().si / gb);
    }
    return printed;
}

/// Single changes that make an infeasible plan feasible, or a plan that may not
/// fit, fit. `what`: they make it.
std::string single_changes_text(const std::vector<SingleChange>& changes, std::string_view what)
{
    if (changes.empty()) {
        return fmt::format("  no change of a single axis makes it {}\n", what);
    }
    constexpr std::size_t most = 8;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(most, changes.size()); ++i) {
        const SingleChange& change = changes[i];
        rows.push_back({"  " + change.design, fmt::format("step {}", time_text(change.step_s)),
                        fmt::format("{:.1f} GB", change.memory_bytes / gb)});
    }
    const std::string more = changes.size() > most
                                 ? fmt::format("  and {} more (--json lists them)\n", changes.size() - most)
                                 : "";
    return fmt::format(
        "{} with one change, to a value {} [space] (mean step at least, memory of the fullest GPU):\n{}{}",
        what == "feasible" ? "Feasible" : "Fits", changes.front().in_space ? "of" : "outside of",
        aligned(rows, 0), more);
}

/// The plan and, if it is infeasible, what would make it feasible.
std::string plan_lines(const PlanPrediction& of)
{
    std::string printed = fmt::format("{} dp={}\n", design_text(of.plan, of.space), of.plan.dp);
    if (!of.variant.empty()) {
        printed += fmt::format("variant {}\n", of.variant);
    }
    printed += fmt::format(
        "{}software {}{}\n", network_text(of.network), of.software,
        of.of_software.empty() ? "" : fmt::format(", which brings {}", fmt::join(of.of_software, " ")));
    if (!of.lacking.empty()) {
        printed += fmt::format("  it has no {}: this prediction is of a plan that it does not run\n",
                               fmt::join(of.lacking, ", "));
    }
    const Prediction& p = of.prediction;
    if (p.infeasible) {
        printed += fmt::format("infeasible: {}\n{}", infeasible_text(*p.infeasible),
                               single_changes_text(of.changes, "feasible"));
    }
    if (of.may_not_fit) {
        printed += fmt::format("may not fit ({}): {}\n{}", chance_text(p.fit_probability),
                               detail_text(*of.may_not_fit), single_changes_text(of.changes, "fit"));
    }
    if (p.infeasible && p.infeasible->reason() == Reason::out_of_host_memory) {
        printed += fmt::format("With enough host memory, the plan would take:\n");
    } else if (p.infeasible && p.draws > 0) {
        printed += fmt::format("With {:.1f} GB more on each GPU, the plan would take:\n",
                               (p.memory.total().si - of.usable_bytes) / gb);
    }
    return printed;
}

std::string times_text(const PlanPrediction& of)
{
    std::string printed;
    const Prediction& p = of.prediction;
    printed += fmt::format("quantiles over {}{}\n", population(of.nodes_known),
                           of.listed_nodes > 0 && !of.nodes_known
                               ? fmt::format("; {} of {} nodes are known, the others are drawn",
                                             of.listed_nodes, of.cluster_nodes)
                               : "");
    if (of.positions) {
        printed += assignment_text(*of.positions);
    }
    printed += distribution_text(of.phases.size() > 1 ? "step time of the first phase" : "step time", p.step,
                                 of.model);
    printed += distribution_text(run_words(of.task).time, p.training, of.model);
    if (!of.moe_note.empty()) {
        printed += fmt::format("  {}\n", of.moe_note);
    }
    printed += fmt::format("  {}\n", of.tokens);
    printed += phases_text(of.phases, of.space);
    return printed;
}

std::string speed_text(const PlanPrediction& of, const PlanResults& results)
{
    std::string printed;
    const auto text = [&results](std::string_view name) { return number_text(results, name); };
    printed +=
        fmt::format("noise-free step {}; bubble {}, exposed communication {}, waits for the host {} of it\n",
                    text("noise_free_step_time"), text("bubble_share"), text("exposed_communication_share"),
                    text("host_wait_share"));
    if (!of.placement.empty()) {
        printed += fmt::format("placement: {}\n", of.placement);
    }
    if (!of.host.empty()) {
        printed += fmt::format("host: {}\n", of.host);
    }
    printed += fmt::format(
        "{} per GPU (MFU {} of {}, the peak of the products in their precision), {} tokens/s, {} {}\n",
        text("tflops_per_gpu"), text("mfu"), text("peak_tflops_per_gpu"),
        number_figure(results, "tokens_per_second"), run_words(of.task).effective, text("ettr"));
    return printed;
}

std::string memory_text(const PlanPrediction& of, const PlanResults& results)
{
    std::string printed;
    const MemoryUse& memory = of.prediction.memory;
    const auto figure = [&results](std::string_view name) { return number_figure(results, name); };
    const std::string of_training =
        trains(of.task) ? fmt::format("gradients {}, optimizer state {}, ", figure("memory_gradients"),
                                      figure("memory_optimizer_state"))
                        : "";
    printed += fmt::format(
        "memory {:.1f} GB on stage {} ({} free, fits with a probability of {}): parameters {}, {}activations "
        "{}, workspace {}, "
        "reserved {}\n",
        memory.total().si / gb, memory.stage, number_text(results, "memory_headroom"),
        chance_text(of.prediction.fit_probability), figure("memory_parameters"), of_training,
        figure("memory_activations"), figure("memory_workspace"), figure("memory_reserved"));
    printed +=
        fmt::format("  model error: {:.1f} to {:.1f} GB (95 % prediction interval, {})\n",
                    of.memory_interval.low / gb, of.memory_interval.high / gb, of.memory_interval.basis);
    if (!of.memory_assumes.empty()) {
        printed += fmt::format("  assumes {}\n", fmt::join(of.memory_assumes, "; "));
    }
    if (memory.host.si > 0.0) {
        printed += fmt::format(
            "  in host memory {} for each GPU, {:.1f} GB on a node of {}{}\n",
            number_text(results, "memory_host"), of.gpus_per_node * memory.host.si / gb, of.gpus_per_node,
            of.host_memory_known ? ""
                                 : ": whether hosts have it is not checked without host_memory in [cluster]");
    }
    return printed;
}

/// At p99, if the draws support it.
std::string cost_text(const PlanPrediction& of, const PlanResults& results)
{
    const bool powered = of.prediction.run.electricity_usd.value > 0.0;
    const bool has_p99 = is_supported(of.prediction.cost_usd);
    const std::string electricity =
        powered ? fmt::format(" (electricity {})", estimate_text(results, "electricity")) : "";
    const std::string at_p99 =
        has_p99 ? fmt::format("{} at p99{}, ", estimate_text(results, "cost"), electricity) : "";
    return fmt::format("cost {}{} expected, at {}; {} step draws{}\n", at_p99,
                       estimate_text(results, "expected_cost"), of.price, of.prediction.draws,
                       has_p99 ? "" : ", too few for the cost at p99");
}

}  // namespace

std::string prediction_text(const PlanPrediction& of, StageTable table)
{
    std::string printed = plan_lines(of);
    if (of.prediction.draws == 0) {
        return printed;
    }
    const PlanResults results = results_of(of);
    printed += times_text(of);
    printed += speed_text(of, results);
    printed += run_text(of, results);
    printed += memory_text(of, results);
    if (table == StageTable::on) {
        printed += stages_text(of.stages, of.layout);
    }
    return printed + cost_text(of, results);
}

}  // namespace prismopt

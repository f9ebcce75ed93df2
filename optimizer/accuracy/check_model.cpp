#include "optimizer/accuracy/check_model.hpp"

#include "io/base/input_error.hpp"
#include "io/measured/measured_kernels.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/base/powers.hpp"
#include "model/network/network.hpp"
#include "model/predictor.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace prismopt {

namespace {

/// Op-draws spent on a run. The mean of 256 steps is good to some 0.1 %, of 16 to
/// 0.5 %: long pipelines get fewer.
constexpr double most_op_draws = 2e7;
constexpr int most_fleets = 128;
constexpr int steps_per_fleet = 2;
constexpr int replicas_simulated = 4;

MeasuredRun planned(const RunRow& row)
{
    Scenario scenario;
    static_cast<Job&>(scenario) = row.run;
    scenario.space = row.space;
    MeasuredRun run = row.run;
    run.plan = parse_design(row.design, scenario);
    run.plan.sequence_parallel = row.sequence_parallel ? SequenceParallel::on : SequenceParallel::off;
    if (run.measured_s == 0.0 && !run.out_of_memory) {
        const double flops = model_flops_per_sequence(network_of(run.workload), run.phase().sequence) *
                             run.phase().global_batch;
        run.measured_s = flops / run.plan.gpus() / row.compute_rate.si;
    }
    return run;
}

MeasuredRuns planned(const std::vector<RunRow>& rows)
{
    MeasuredRuns result;
    for (const RunRow& row : rows) {
        if (!row.skipped.empty()) {
            result.skipped.push_back({row.run.source, row.run.row, row.skipped});
            continue;
        }
        try {
            MeasuredRun run = planned(row);
            (run.out_of_memory ? result.out_of_memory : result.runs).push_back(std::move(run));
        } catch (const InputError& error) {
            std::string reason = error.what();
            reason.erase(0, reason.starts_with("--design") ? 2 : 0);  // here, a column instead of an option
            result.skipped.push_back({row.run.source, row.run.row, reason});
        }
    }
    return result;
}

/// A figure without which no step has a time; empty if the machine has all of them.
std::string missing_figure(const MeasuredRun& run)
{
    const Accelerator& gpu = run.cluster.accelerator;
    if (!(gpu.peak(run.workload.precision).si > 0.0)) {
        return fmt::format("{} has no peak of {} products", gpu.name, name(run.workload.precision));
    }
    if (!(gpu.memory_bandwidth.si > 0.0)) {
        return gpu.name + " has no memory_bandwidth";
    }
    const auto tier =
        std::find_if(run.cluster.tiers.begin(), run.cluster.tiers.end(),
                     [](const NetworkTier& t) { return !(t.bandwidth.si > 0.0 && t.efficiency > 0.0); });
    return tier == run.cluster.tiers.end() ? "" : fmt::format("tier {} has no bandwidth", tier->name);
}

/// The part of the predicted memory that the measured peak counts. An allocator keeps freed blocks
/// until the accelerator is full.
Bytes memory_of(const MemoryUse& predicted, const MeasuredRun& run)
{
    if (run.memory_basis == MemoryBasis::allocated) {
        return predicted.total() - predicted.reserved;
    }
    const Accelerator& accelerator = run.cluster.accelerator;
    const Bytes device =
        std::max(predicted.total(), std::min(predicted.total() + predicted.cached, accelerator.memory));
    return run.memory_basis == MemoryBasis::device ? device : device - accelerator.memory_reserved;
}

/// The memory of a compiled run, and whether it fits.
void add_memory(const CompiledPlan& plan, CheckedRun& checked)
{
    const MeasuredRun& run = checked.run;
    checked.memory = plan.memory;
    const double whole = run.kept_bytes + run.undivided_bytes * (1.0 - 1.0 / run.plan.sharding_gpus());
    checked.memory.optimizer_state +=
        plan.memory.parameters * (whole / run.workload.optimizer.parameter_bytes());
    checked.memory_bytes = memory_of(checked.memory, run).si;
    const MemoryLimit limit = with_error({}, run.cluster.stack.name);
    checked.fits = fit_probability(limit, checked.memory.total(), run.cluster.accelerator.memory);
}

std::variant<CheckedRun, Infeasible> check(const MeasuredRun& run, const NoiseTables& noise,
                                           const FittedModel& fit)
{
    const Setting setting{run.workload, run.phase(), run.cluster, noise, no_memory_limit};
    PlanCompiler compiler(setting);
    auto compiled = compiler.compile(run.plan);
    if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    const auto& plan = std::get<CompiledPlan>(compiled);
    CheckedRun checked;
    checked.run = run;
    add_memory(plan, checked);
    if (run.out_of_memory) {
        return checked;
    }
    const NoiseFreeStep noise_free = noise_free_step(plan.graph);
    const double ops =
        static_cast<double>(plan.graph.program->ops.size()) * std::min(run.plan.dp, replicas_simulated);
    const int blocks = static_cast<int>(most_op_draws / (ops * steps_per_fleet * block_fleets));
    const int fleets = block_fleets * std::clamp(blocks, 1, std::max(1, most_fleets / block_fleets));
    const auto draws = sample_steps(plan.graph, noise, DrawRange{0, fleets, steps_per_fleet},
                                    SamplerOptions{1, Purpose::confirm, replicas_simulated});
    checked.noise_free_s = noise_free.step_s;
    checked.predicted_s =
        std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    checked.bubble = noise_free.shares.bubble;
    checked.exposed_communication = noise_free.shares.exposed_communication;
    checked.interval = model_interval(setting, run.plan, fit);
    return checked;
}

/// The run, or why it cannot be judged. What is wrong with one row does not end the check of the others.
std::variant<CheckedRun, std::string> judge(const MeasuredRun& run, const NoiseTables& noise,
                                            const FittedModel& fit)
{
    if (const std::string missing = missing_figure(run); !missing.empty()) {
        return missing + "; the catalog lacks what no public source states";
    }
    try {
        auto checked = check(run, noise, fit);
        if (const auto* refusal = std::get_if<Infeasible>(&checked)) {
            return infeasible_text(*refusal);
        }
        auto& result = std::get<CheckedRun>(checked);
        if (!run.out_of_memory && !(std::isfinite(result.predicted_s) && result.predicted_s > 0.0)) {
            return fmt::format("predicted step time of {} s", result.predicted_s);
        }
        return std::move(result);
    } catch (const std::exception& error) {
        return fmt::format("cannot be predicted ({})", error.what());
    }
}

}  // namespace

MeasuredRuns shipped_runs() { return planned(shipped_run_rows()); }

MeasuredRuns with_folder(MeasuredRuns shipped, const std::string& folder)
{
    const RunTables tables = read_run_tables(folder);
    std::vector<std::string> not_read = tables.not_read;
    std::erase_if(not_read,
                  [](const std::string& name) { return name == collectives_table || name == kernels_table; });
    if (!not_read.empty()) {
        log_warning(fmt::format("{}: not read, because they have no column design: {} ({})", folder,
                                fmt::join(not_read, ", "),
                                tables.published ? how_to_normalise(folder)
                                                 : "docs/accuracy.md has the columns of measured runs"));
    }
    MeasuredRuns result = planned(tables.rows);
    const auto in_folder = [&result](const MeasuredRun& run) {
        return std::any_of(result.runs.begin(), result.runs.end(), [&run](const MeasuredRun& other) {
            return other.workload.layers() == run.workload.layers() &&
                   other.workload.hidden == run.workload.hidden && other.plan.gpus() == run.plan.gpus() &&
                   std::abs(other.measured_s / run.measured_s - 1.0) < 1e-3;
        });
    };
    std::erase_if(shipped.runs, in_folder);
    result.runs.insert(result.runs.begin(), shipped.runs.begin(), shipped.runs.end());
    return result;
}

MeasuredRuns without_software(MeasuredRuns runs)
{
    runs.out_of_memory.clear();
    std::erase_if(runs.runs, [](MeasuredRun& run) {
        Cluster& cluster = run.cluster;
        std::vector<PossibleSoftware> possible =
            plausible_software(cluster.accelerator.catalog_entry, run.workload);
        std::erase_if(possible, [&](const PossibleSoftware& software) {
            return software.stack.name == cluster.stack.name;
        });
        if (possible.empty()) {
            return true;
        }
        const double total = std::accumulate(possible.begin(), possible.end(), 0.0,
                                             [](double sum, const PossibleSoftware& software) {
                                                 return sum + software.weight;
                                             });
        for (PossibleSoftware& software : possible) {
            software.weight /= total;
        }
        cluster = with_software(std::move(cluster), possible.front());
        cluster.possible = std::move(possible);
        return false;
    });
    return runs;
}

std::map<std::string, NoiseTables> noise_of(const std::vector<MeasuredRun>& runs)
{
    std::map<std::string, std::set<int>> widths;
    for (const MeasuredRun& run : runs) {
        widths[run.variability].insert(run.plan.tp * run.plan.cp);
    }
    std::map<std::string, NoiseTables> tables;
    for (const auto& [profile, list] : widths) {
        tables.emplace(profile, build_noise_tables(catalog_variability(profile),
                                                   std::vector<int>(list.begin(), list.end())));
    }
    return tables;
}

void check_collectives(const std::string& folder, CheckedModel& checked)
{
    MeasuredCollectives measured = read_measured_collectives(folder);
    for (MeasuredCollective& row : measured.rows) {
        const double seconds = collective_time(row.kind, row.message, row.group, row.cluster).time.si;
        checked.collectives.push_back({std::move(row), seconds});
    }
    checked.skipped_collectives = std::move(measured.skipped);
}

CheckedModel check_model(const MeasuredRuns& runs)
{
    std::vector<MeasuredRun> all = runs.runs;
    all.insert(all.end(), runs.out_of_memory.begin(), runs.out_of_memory.end());
    const auto noise = noise_of(all);
    const FittedModel fit = fitted_model();
    CheckedModel result;
    result.skipped = runs.skipped;
    for (const MeasuredRun& run : all) {
        auto checked = judge(run, noise.at(run.variability), fit);
        if (auto* reason = std::get_if<std::string>(&checked)) {
            result.skipped.push_back({run.source, run.row, std::move(*reason)});
        } else {
            (run.out_of_memory ? result.out_of_memory : result.runs)
                .push_back(std::move(std::get<CheckedRun>(checked)));
        }
    }
    return result;
}

FitAccuracy accuracy_of_fits(const CheckedModel& checked)
{
    FitAccuracy result{.ran = checked.runs.size(), .failed = checked.out_of_memory.size()};
    const auto is_assumed = [](const CheckedRun& run, const char* what) {
        return run.run.assumed.find(what) != std::string::npos;
    };
    double squares = 0.0;
    for (const CheckedRun& run : checked.runs) {
        squares += square(1.0 - run.fits);
        result.ran_refused += run.refused() ? 1 : 0;
        if (!is_assumed(run, "recompute") && !is_assumed(run, "offload")) {
            ++result.stated;
            result.stated_refused += run.refused() ? 1 : 0;
        }
        result.ran_doubtful += !run.refused() && run.fits < usual_fit_probability ? 1 : 0;
    }
    for (const CheckedRun& run : checked.out_of_memory) {
        squares += square(run.fits);
        result.failed_likely += run.fits >= 0.5 ? 1 : 0;
    }
    result.brier = squares / static_cast<double>(std::max<std::size_t>(1, result.ran + result.failed));
    return result;
}

}  // namespace prismopt

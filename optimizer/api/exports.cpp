#include "optimizer/api/exports.hpp"

#include "io/base/input_error.hpp"
#include "io/report/subject.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/toml/nearest.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/stored_study.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Productive seconds between checkpoints; 0 where there are none.
double checkpoint_interval(const Problem& problem, const ParallelPlan& plan)
{
    const int node = problem.cluster.gpus_per_node();
    const FailureModel failures =
        failure_model(problem.reliability, job_size(plan, (plan.gpus() + node - 1) / node));
    return std::isfinite(failures.interval_s) ? failures.interval_s : 0.0;
}

const Phase& phase_numbered(int number, const std::vector<Phase>& phases)
{
    if (number < 1 || number > static_cast<int>(phases.size())) {
        throw InputError(fmt::format("--phase {} is out of range; the phases are numbered from 1 to {}",
                                     number, phases.size()));
    }
    return phases[static_cast<std::size_t>(number - 1)];
}

/// A plan in its scenario, and the phase to train.
struct PlanToLaunch {
    const Scenario& scenario;
    const Problem& problem;  // of the plan's variant
    ParallelPlan plan;
    ChosenValues chosen;
    LaunchOptions options;
};

/// The plan under the limit of the memory, which its layout depends on; a plan
/// that may fit, under the least one.
std::variant<CompiledPlan, Infeasible> compiled_plan(const ParallelPlan& plan, Setting setting,
                                                     bool needs_memory)
{
    const auto compile = [&plan](const Setting& in) {
        return PlanCompiler(in).compile(plan, CompileFor::noise_free_step);
    };
    if (!needs_memory) {
        return compile(without_memory_limit(setting));
    }
    auto compiled = compile(setting);
    const auto* lacks = std::get_if<Infeasible>(&compiled);
    if (lacks != nullptr && lacks->reason() == Reason::out_of_memory) {
        setting.memory_limit = least_limit(setting.memory_limit);
        compiled = compile(setting);
    }
    return compiled;
}

std::variant<Launch, Infeasible> made_launch(const PlanToLaunch& of)
{
    const Problem& problem = of.problem;
    if (auto why = structural_problem(of.plan, problem)) {
        return *std::move(why);
    }
    Launch launch;
    launch.study = of.scenario.name;
    launch.program = program_name();
    launch.phase = phase_numbered(of.options.phase, problem.phases);
    launch.phase_number = of.options.phase;
    launch.phases = static_cast<int>(problem.phases.size());
    launch.before.assign(problem.phases.begin(), problem.phases.begin() + of.options.phase - 1);
    for (const Phase& each : problem.phases) {
        launch.longest_sequence = std::max(launch.longest_sequence, each.sequence);
        launch.samples += std::max(1L, std::lround(each.steps())) * each.global_batch;
    }
    launch.plan = plan_in_phase(of.plan, launch.phase);
    launch.design = design_text(launch.plan, of.scenario.space);
    launch.job = problem;
    launch.host_gpus = gpus_of_host(problem.cluster.accelerator, catalog_of(of.scenario));
    launch.choices = of.scenario.choices;
    launch.price = gpu_price_text(of.scenario, problem.cluster);
    launch.chosen = of.chosen;
    if (!of.options.stem.empty()) {
        launch.stem = of.options.stem;
    }
    const auto compiled =
        compiled_plan(launch.plan, setting_of(problem, launch.phase), of.options.needs_memory);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    launch.fit_probability =
        fit_probability(problem.memory_limit, std::get<CompiledPlan>(compiled).memory.total(),
                        problem.cluster.accelerator.memory);
    launch.chunks = std::get<CompiledPlan>(compiled).chunks;
    launch.orders = chunk_orders(*std::get<CompiledPlan>(compiled).graph.program);
    launch.checkpoint_interval_s = checkpoint_interval(problem, launch.plan);
    return launch;
}

}  // namespace

struct StudyLaunches::State {
    explicit State(const Results& of) : results(of), study(results) {}

    Results results;
    StoredStudy study;
};

StudyLaunches::StudyLaunches(const Results& results) : state_(std::make_unique<State>(results)) {}
StudyLaunches::StudyLaunches(StudyLaunches&&) noexcept = default;
StudyLaunches& StudyLaunches::operator=(StudyLaunches&&) noexcept = default;
StudyLaunches::~StudyLaunches() = default;

std::uint64_t StudyLaunches::number(std::optional<std::int64_t> asked) const
{
    return point_number(state_->results, state_->study, asked);
}

Launch StudyLaunches::feasible_launch(std::uint64_t number, int phase, const std::string& stem)
{
    auto made = launch(number, phase, stem);
    if (const auto* refusal = std::get_if<Infeasible>(&made)) {
        throw infeasible_point(number, *refusal);
    }
    return std::get<Launch>(std::move(made));
}

std::variant<Launch, Infeasible> StudyLaunches::launch(std::uint64_t number, int phase,
                                                       const std::string& stem)
{
    const Results& results = state_->results;
    StoredStudy& study = state_->study;
    const Point point = study.space().point(number);
    auto made = made_launch({.scenario = study.scenario(),
                             .problem = study.problem(point),
                             .plan = study.plan(point),
                             .chosen = study.chosen_values(point),
                             .options = {.phase = phase, .stem = stem}});
    if (auto* launch = std::get_if<Launch>(&made)) {
        launch->point = std::to_string(number);
        launch->provisional = results.provisional;
        const FrontPoint* listed = listed_plan(results, number);
        if (listed != nullptr && phase == 1) {  // step times are of the first phase
            launch->step_s = listed->prediction.step.p50.value;
        }
    }
    return made;
}

std::variant<Launch, Infeasible> launch_of(const ChosenPlan& chosen, const LaunchOptions& options)
{
    const StudyModel model(chosen.scenario, tables_of(chosen.scenario, {chosen.plan}));
    return made_launch({.scenario = chosen.scenario,
                        .problem = model.problem,
                        .plan = chosen.plan,
                        .chosen = chosen.scenario.variants.front(),
                        .options = options});
}

Launch feasible_launch(const ChosenPlan& chosen, const LaunchOptions& options)
{
    auto made = launch_of(chosen, options);
    if (const auto* why = std::get_if<Infeasible>(&made)) {
        throw InfeasiblePlan(*why, "the plan is infeasible: " + infeasible_text(*why) +
                                       "; change it, for example with --design");
    }
    return std::get<Launch>(std::move(made));
}

const ExportTarget& export_target(const std::string& name)
{
    std::vector<std::string> names;
    for (const ExportTarget& target : export_targets()) {
        if (name == target.name) {
            return target;
        }
        names.emplace_back(target.name);
    }
    throw InputError(
        fmt::format("--target {} is unknown{}; choose from: {}", name, guess_of(name, names), listed(names)));
}

std::vector<ExportFile> exported_files(const ExportTarget& target, const Launch& launch)
{
    Exported exported = target.make(launch);
    if (const auto* why = std::get_if<Refusals>(&exported)) {
        const std::string plan =
            launch.point.empty() ? launch.design : fmt::format("point {} ({})", launch.point, launch.design);
        std::string text = fmt::format("{} cannot be exported to {}:", plan, target.name);
        for (const std::string& reason : *why) {
            text += "\n  " + reason;
        }
        throw InputError(text);
    }
    return std::get<std::vector<ExportFile>>(std::move(exported));
}

}  // namespace prismopt

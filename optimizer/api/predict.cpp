#include "optimizer/api/predict.hpp"

#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/batch_rows.hpp"
#include "io/report/placement_text.hpp"
#include "io/report/study_notes.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/files/orders_file.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/reading/energy_of_work.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "io/toml/reading_units.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/network/network.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "model/schedule/schedule.hpp"
#include "model/step/graph/searched_orders.hpp"
#include "optimizer/accuracy/pair_error.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/study/host_wait.hpp"
#include "optimizer/study/plan_bounds.hpp"
#include "optimizer/study/study_model.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {

namespace {

/// Task orders from a file, which must be valid in every phase.
std::shared_ptr<const ChunkOrders> given_orders(const std::string& path, const ParallelPlan& plan,
                                                const std::vector<Phase>& phases)
{
    const auto orders = std::make_shared<const ChunkOrders>(read_orders(path));
    for (const Phase& phase : phases) {
        const auto on_stages =
            orders_on_stages(schedule_shape(plan_in_phase(plan, phase), phase.global_batch), *orders);
        if (const auto* refusal = std::get_if<Infeasible>(&on_stages)) {
            throw InputError(path + ": " + detail_text(*refusal));
        }
    }
    return orders;
}

/// What the plan trains to reach the loss of the scenario: "15.6 T tokens in 930 k steps".
std::string tokens_text(const ChosenPlan& chosen, const Problem& problem)
{
    const std::vector<Phase> phases = phases_of_plan(problem, chosen.plan);
    const std::string all =
        fmt::format("{} tokens in {} steps", short_count(tokens_of(phases)), short_count(steps_of(phases)));
    const std::string of_learning = learning_text(chosen.scenario, phases);
    std::string text = phases.size() > 1 ? fmt::format("{}: {}", all, of_learning) : of_learning;
    if (of_learning.empty()) {
        text = all;
    }
    const auto add = [&text](double longer, const char* why) {
        text += longer > 1.0 ? fmt::format("; {} more {}", relative_text(longer - 1.0), why) : "";
    };
    add(chosen.longer, "for the precision");
    add(tokens_of(phases) / tokens_of(problem.phases), "for local updates");
    return text;
}

/// What memory rests on that software may do otherwise, and no key of the scenario chooses.
std::vector<std::string> memory_assumptions(const ParallelPlan& plan, const Workload& workload)
{
    std::vector<std::string> all;
    if (plan.tp > 1 && plan.shares_tokens() && !workload.captured) {
        all.push_back(fmt::format("sequence parallelism over the {} GPUs of tp", plan.tp));
    }
    if (!workload.trains()) {
        return all;
    }
    if (workload.vocabulary > 0 &&
        (workload.loss == LossKernel::of_stack || workload.loss == LossKernel::unfused)) {
        all.emplace_back("a loss that is neither fused nor in chunks, with logits in 16 and in 32 bits");
    }
    const OptimizerSettings optimizer = network_of(workload).optimizer;
    if (optimizer.master_bytes() > 0.0) {
        all.push_back(fmt::format("a master copy of the parameters in {}", name(optimizer.master)));
    }
    return all;
}

/// Values of the plan that its software brought, where they have an effect.
std::vector<std::string> brought_by_software(const Scenario& scenario, const ParallelPlan& plan)
{
    std::vector<std::string> brought;
    for_each_axis([&](const auto& axis) {
        const std::vector<std::string>& all = scenario.axes_of_software;
        const bool has_effect = axis.changes.anything == nullptr || axis.changes.anything(plan);
        if (has_effect && std::find(all.begin(), all.end(), axis.name) != all.end()) {
            brought.push_back(axis_text(axis.name, plan));
        }
    });
    return brought;
}

/// What is known of the plan before it is predicted.
PlanPrediction described(const ChosenPlan& chosen)
{
    const Scenario& scenario = chosen.scenario;
    const std::vector<double>& factors = scenario.cluster.node_factors;
    const Phase& first = scenario.phases.front();
    PlanPrediction of;
    of.plan = chosen.plan;
    of.nodes_known = scenario.cluster.nodes_known();
    of.space = scenario.space;
    of.network = network_size(scenario.workload, first.sequence);
    of.task = scenario.workload.task;
    of.variant = chosen.variant;
    of.software = software_words(scenario.cluster);
    of.of_software = brought_by_software(scenario, of.plan);
    of.lacking = lacking(of.plan, scenario.levers);
    const std::string electricity = electricity_text(scenario);
    of.price = chosen.price + (electricity.empty() ? "" : ", with electricity at " + electricity);
    of.price_origin = price_origin(scenario);
    of.power_origin = power_origin(scenario);
    of.cluster_nodes = scenario.cluster.nodes();
    of.listed_nodes = static_cast<int>(factors.size()) -
                      static_cast<int>(std::count(factors.begin(), factors.end(), Cluster::drawn_node));
    of.energy_note = energy_note(scenario);
    of.memory_assumes = memory_assumptions(of.plan, scenario.workload);
    of.gpus_per_node = scenario.cluster.gpus_per_node();
    of.host_memory_known = scenario.cluster.accelerator.host_memory.si > 0.0;
    of.idle_nodes =
        std::max(0, of.cluster_nodes - nodes_used(of.plan, scenario.cluster) - std::max(0, of.plan.spares));
    return of;
}

std::vector<StageUse> stages_of(const CompiledPlan& compiled)
{
    const ExecutionGraph& graph = compiled.graph;
    const bool splits = splits_backward(graph.program->shape.schedule);
    std::vector<StageUse> stages(compiled.stages.size());
    for (int stage = 0; stage < graph.stages(); ++stage) {
        StageUse& use = stages[static_cast<std::size_t>(stage)];
        use.memory = compiled.stages[static_cast<std::size_t>(stage)];
        for (int chunk = 0; chunk < graph.chunks(); ++chunk) {
            const auto seconds = [&](Pass pass) {
                const OpDistribution& distribution =
                    graph.distribution[graph.distribution_at(stage * graph.chunks() + chunk, pass)];
                return static_cast<double>(distribution.compute_s) +
                       static_cast<double>(distribution.communication_s);
            };
            use.forward_s += seconds(Pass::forward);
            use.backward_s += splits ? seconds(Pass::input_gradient) + seconds(Pass::weight_gradient)
                                     : seconds(Pass::backward);
            use.chunks.push_back(compiled.chunks[static_cast<std::size_t>(
                network_chunk_of(graph.program->shape, {stage, chunk}))]);
        }
    }
    return stages;
}

/// 95 % prediction interval, by the scatter of measured runs of this software.
MemoryInterval interval_of_memory(const MemoryUse& predicted, const Problem& problem)
{
    const std::string& stack = problem.cluster.stack.name;
    const int rows = catalog_discrepancy().memory_on(stack).rows;
    const PeakInterval ratio = interval_of_peak(problem.memory_limit);
    const double bytes = predicted.total().si;
    const std::string software = problem.cluster.software.text();
    const bool of_another = problem.cluster.stack.borrowed && stack != problem.cluster.software.name;
    const std::string measured =
        of_another ? fmt::format("{}, whose constants are used for {}", stack, software) : software;
    std::string basis = rows > 0 ? fmt::format("from {} measured runs of {}", rows, measured)
                                 : fmt::format("from measured runs of other software than {}", software);
    if (problem.memory_limit.bias != 0.0) {
        basis = "from the peaks measured on this cluster";
    }
    return {bytes * ratio.low, bytes * ratio.high, std::move(basis)};
}

bool lacks_memory(Reason reason)
{
    return reason == Reason::out_of_memory || reason == Reason::out_of_host_memory;
}

using CompiledOrNot = std::variant<CompiledRun, Infeasible>;

/// The plan compiled for each phase, or why it is infeasible or would not end.
CompiledOrNot compiled_to_its_end(const Problem& problem, const ParallelPlan& plan)
{
    Predictor predictor(problem);
    CompiledOrNot compiled = predictor.compile(plan);
    if (const auto* run = std::get_if<CompiledRun>(&compiled)) {
        if (auto why = predictor.problem_of_run(*run)) {
            return *why;
        }
    }
    return compiled;
}

}  // namespace

struct PlanPredictor::State {
    State(ChosenPlan of, const TaskOrder& order, NoiseTables tables)
        : chosen(std::move(of)), model(chosen.scenario, std::move(tables))
    {
        compile(order);
        if (infeasible && lacks_memory(infeasible->reason())) {
            try_again();
        }
    }

    /// Of a plan that does not fit with the probability of the limit: whether it may, or what
    /// it would take with more memory.
    void try_again()
    {
        usable_bytes = Predictor(model.problem).capacity_bytes();
        model.problem.memory_limit = least_limit(model.problem.memory_limit);
        CompiledOrNot compiled = compiled_to_its_end(model.problem, chosen.plan);
        if (std::holds_alternative<Infeasible>(compiled)) {
            model.problem.memory_limit = without_limit(model.problem.memory_limit);
            run = std::get<CompiledRun>(Predictor(model.problem).compile(chosen.plan));
            return;
        }
        run = std::get<CompiledRun>(std::move(compiled));
        may_not_fit = std::exchange(infeasible, std::nullopt);
    }

    void compile(const TaskOrder& order)
    {
        infeasible = structural_problem(chosen.plan, chosen.scenario);
        if (!infeasible && !order.file.empty()) {
            model.problem.orders = given_orders(order.file, chosen.plan, model.problem.phases);
        } else if (!infeasible && order.most_held) {
            infeasible = search_order(*order.most_held);
        }
        if (infeasible) {
            return;
        }
        CompiledOrNot compiled = compiled_to_its_end(model.problem, chosen.plan);
        if (auto* refusal = std::get_if<Infeasible>(&compiled)) {
            infeasible = *refusal;
        } else {
            run = std::get<CompiledRun>(std::move(compiled));
        }
    }

    /// Sets the task order found for the first phase. Its memory is checked later, with the rest of the plan.
    std::optional<Infeasible> search_order(int most_held)
    {
        PlanCompiler compiler(without_memory_limit(setting_of(model.problem, model.problem.phases.front())));
        const auto compiled = compiler.compile(chosen.plan, CompileFor::noise_free_step);
        if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
            return *refusal;
        }
        const auto& plan_compiled = std::get<CompiledPlan>(compiled);
        auto orders = searched_orders(plan_compiled.graph, {most_held, plan_compiled.held_for_weights});
        if (const auto* refusal = std::get_if<Infeasible>(&orders)) {
            throw InputError(fmt::format("--search-order {}: {}", most_held, detail_text(*refusal)));
        }
        model.problem.orders = std::make_shared<const ChunkOrders>(std::get<ChunkOrders>(std::move(orders)));
        return std::nullopt;
    }

    /// Single changes that make an infeasible plan feasible, and one that may not fit, fit.
    std::vector<SingleChange> changes() const
    {
        if (!infeasible && !may_not_fit) {
            return {};
        }
        Problem given = model.problem;
        given.memory_limit = chosen.scenario.memory_limit;
        return single_changes(chosen.plan, chosen.scenario, given);
    }

    const CompiledRun& feasible_run() const
    {
        if (infeasible) {
            throw InfeasiblePlan(*infeasible, "the plan is infeasible: " + infeasible_text(*infeasible) +
                                                  "; change the plan");
        }
        return *run;
    }

    /// All draws of the plan, in parts between which the caller may pause. A draw depends on its fleet alone.
    PhaseDraws sample(Predictor& predictor, const Rung& rung, const SamplerOptions& sampler,
                      const Pause& pause) const
    {
        PhaseDraws all(run->phases.size());
        for (const DrawRange& sub_range : split_range({0, rung.fleets, rung.steps}, 1)) {
            pause();
            const PhaseDraws some = predictor.sample(*run, sub_range, sampler);
            for (std::size_t phase = 0; phase < all.size(); ++phase) {
                all[phase].insert(all[phase].end(), some[phase].begin(), some[phase].end());
            }
        }
        return all;
    }

    /// Draws the plan, and fills in what follows from its draws.
    void evaluate(PlanPrediction& of, const Rung& rung, const Pause& pause)
    {
        const Phase& first_phase = chosen.scenario.phases.front();
        of.placement = placement_text({plan_in_phase(of.plan, first_phase), first_phase, chosen.scenario},
                                      order_origin(chosen.scenario));
        of.host = host_text(model.problem, of.plan);
        Predictor predictor(model.problem);
        const SamplerOptions sampler = model.sampler({Purpose::confirm});
        draws = sample(predictor, rung, sampler, pause);
        const FittedModel fitted = fitted_model();
        of.model = model_interval(model.problem, *run, fitted);
        const bool promised = model.problem.promise.includes_model_error();
        const std::vector<double> error = promised ? of.model.quantiles() : std::vector<double>{};
        of.prediction = predictor.summarise(*run, draws, rung.steps, sampler, Confidence{}, error);
        if (chosen.scenario.phases.size() > 1) {
            of.phases = predictor.phases(*run, draws, rung.steps, Confidence{});
        }
        of.tokens = tokens_text(chosen, model.problem);
        of.memory_interval = interval_of_memory(of.prediction.memory, model.problem);
        of.moe_note = moe_text(fitted, {&model.problem.workload}, {&model.problem.cluster});
        const CompiledPlan& first = run->phases.front();
        of.stages = stages_of(first);
        of.layout = layout_text(first.chunks, model.problem.workload.predictions);
    }

    ChosenPlan chosen;
    StudyModel model;  // of chosen.scenario
    // of a feasible plan; or without a limit on memory, where that is all it lacks
    std::optional<CompiledRun> run;
    std::optional<Infeasible> infeasible;
    std::optional<Infeasible> may_not_fit;  // as in PlanPrediction
    double usable_bytes = 0.0;              // per GPU, where memory is what the plan lacks
    std::optional<AssignedNodes> assigned;
    PhaseDraws draws;
};

PlanPredictor::PlanPredictor(ChosenPlan chosen, const TaskOrder& order)
{
    NoiseTables tables = tables_of(chosen.scenario, {chosen.plan});
    state_ = std::make_unique<State>(std::move(chosen), order, std::move(tables));
}
PlanPredictor::PlanPredictor(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlanPredictor::PlanPredictor(PlanPredictor&&) noexcept = default;
PlanPredictor& PlanPredictor::operator=(PlanPredictor&&) noexcept = default;
PlanPredictor::~PlanPredictor() = default;

const std::optional<Infeasible>& PlanPredictor::infeasible() const { return state_->infeasible; }
const std::optional<Infeasible>& PlanPredictor::may_not_fit() const { return state_->may_not_fit; }
const std::vector<std::vector<double>>& PlanPredictor::draws() const& { return state_->draws; }
std::vector<std::vector<double>> PlanPredictor::draws() && { return std::move(state_->draws); }

const AssignedNodes& PlanPredictor::assign_nodes(const Rung& rung)
{
    state_->feasible_run();
    Problem& problem = state_->model.problem;
    if (!problem.cluster.nodes_known()) {
        throw InputError(
            "--assign-nodes needs the slowdown factor of every node; list all nodes in --nodes FILE or in "
            "slow_nodes of "
            "[cluster], or set unlisted_nodes = \"nominal\" there");
    }
    state_->assigned = prismopt::assign_nodes(problem, state_->chosen.plan, {0, rung.fleets, rung.steps},
                                              state_->model.sampler({Purpose::search}));
    problem.cluster.node_factors = state_->assigned->factors;
    state_->chosen.plan.node_order = NodeOrder::as_listed;
    state_->run = std::get<CompiledRun>(Predictor(problem).compile(state_->chosen.plan));
    return *state_->assigned;
}

PlanPrediction PlanPredictor::predict(const Rung& rung, const Pause& pause)
{
    State& s = *state_;
    PlanPrediction of = described(s.chosen);
    of.usable_bytes = s.usable_bytes;
    if (s.assigned) {
        of.positions = WrittenAssignment{"", *s.assigned};
    }
    of.changes = s.changes();
    if (s.run) {
        s.evaluate(of, rung, pause);
    }
    of.prediction.infeasible = s.infeasible;
    of.may_not_fit = s.may_not_fit;
    return of;
}

std::vector<TimelineEvent> PlanPredictor::timeline(std::optional<int> draw, const Rung& rung) const
{
    const ExecutionGraph& graph = state_->feasible_run().phases.front().graph;
    if (!draw) {
        return mean_timeline(graph);
    }
    const StudyModel& model = state_->model;
    return draw_timeline(graph, model.problem.noise, model.sampler({Purpose::confirm}), *draw / rung.steps,
                         *draw % rung.steps);
}

std::vector<StageBreakdown> PlanPredictor::breakdown() const
{
    if (!state_->run) {
        return {};
    }
    const Problem& problem = state_->model.problem;
    return prismopt::breakdown(state_->run->phases.front(), state_->run->in_phase.front(),
                               setting_of(problem, problem.phases.front()));
}

const ChosenPlan& PlanPredictor::chosen() const { return state_->chosen; }

std::optional<ChosenPlan> stand_in(const PlanPredictor& usual)
{
    if (!usual.infeasible() && !usual.may_not_fit()) {
        return std::nullopt;
    }
    const Scenario& scenario = usual.chosen().scenario;
    const std::string example = example_design(scenario);
    return example.empty() ? std::nullopt : std::optional(plan_with(scenario, example));
}

StepError PlanPredictor::step_error(const FittedModel& model) const
{
    if (!state_->run) {
        const Infeasible& why = *state_->infeasible;
        throw InfeasiblePlan(why, "the errors of two plans go together only where both are feasible: " +
                                      infeasible_text(why));
    }
    const Problem& problem = state_->model.problem;
    return prismopt::step_error(setting_of(problem, problem.phases.front()), state_->run->in_phase.front(),
                                model);
}

std::string PlanPredictor::orders_csv() const
{
    return prismopt::orders_csv(chunk_orders(*state_->feasible_run().phases.front().graph.program));
}

Rung rung_of(const Scenario& scenario, int draws)
{
    Rung rung = scenario.search.confirm;
    if (draws < 0 || draws > most_draws) {
        throw InputError({}, fmt::format("{} draws are not between 1 and {}", draws, most_draws),
                         "ask for example for 8192");
    }
    if (draws > 0) {
        rung.fleets = fleets_for(draws, rung.steps);
    }
    return rung;
}

PlanPrediction predict(const ChosenPlan& chosen, int draws)
{
    return PlanPredictor(chosen).predict(rung_of(chosen.scenario, draws));
}

struct ScenarioPredictor::State {
    State(const Scenario& of, NoiseTables with) : scenario(of), tables(std::move(with)) {}

    Scenario scenario;
    NoiseTables tables;
};

ScenarioPredictor::ScenarioPredictor(const Scenario& scenario)
    : state_(std::make_shared<const State>(scenario, tables_of(scenario)))
{
}

ScenarioPredictor::ScenarioPredictor(const Scenario& scenario, std::span<const ParallelPlan> plans)
    : state_(std::make_shared<const State>(scenario, tables_of(scenario, {plans.begin(), plans.end()})))
{
}

PlanPredictor ScenarioPredictor::plan(const std::string& words, const TaskOrder& order) const
{
    return plan(plan_with(state_->scenario, words), order);
}

PlanPredictor ScenarioPredictor::plan(ChosenPlan chosen, const TaskOrder& order) const
{
    NoiseTables tables = tables_for(chosen.plan, chosen.scenario, state_->tables);
    return PlanPredictor(std::make_unique<PlanPredictor::State>(std::move(chosen), order, std::move(tables)));
}

PlanPrediction ScenarioPredictor::predict(const std::string& words, int draws) const
{
    return plan(words).predict(rung_of(state_->scenario, draws));
}

std::variant<NoiseFree, Infeasible> ScenarioPredictor::lower_bounds(const std::string& words) const
{
    std::variant<NoiseFree, Infeasible> found;
    lower_bounds({&words, 1}, [&found](const auto& bound) { found = bound; });
    return found;
}

void ScenarioPredictor::lower_bounds(
    std::span<const std::string> plans,
    const std::function<void(const std::variant<NoiseFree, Infeasible>&)>& receive) const
{
    const Scenario& scenario = state_->scenario;
    PlanBounds bounds(state_->tables);
    const auto bound = [&](const std::string& words) -> std::variant<NoiseFree, Infeasible> {
        try {
            if (scenario.choices.empty()) {
                return bounds.bound(parsed_plan(words, scenario), scenario, "");
            }
            const ChosenPlan chosen = plan_with(scenario, words);
            return bounds.bound(chosen.plan, chosen.scenario, chosen.variant);
        } catch (const DegreesDoNotFit& error) {
            return error.as_infeasible();
        }
    };
    for (const std::string& words : plans) {
        receive(bound(words));
    }
}

}  // namespace prismopt

#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/batch_rows.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"
#include "optimizer/commands/predict/prediction_text.hpp"

#include "io/plots/timeline_file.hpp"
#include "io/report/placement_text.hpp"
#include "io/report/study_notes.hpp"
#include "io/scenario/files/node_file.hpp"
#include "io/scenario/files/orders_file.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/reading/unknown_power.hpp"
#include "io/toml/reading_units.hpp"
#include "model/network/network.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "model/step/graph/searched_orders.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/predict/scale_curve.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr int most_draws = 100'000'000;  // 0.8 GB for each phase

/// Task orders from a file, which must be valid in every phase.
std::shared_ptr<const PartOrders> given_orders(const std::string& path, const ParallelPlan& plan,
                                               const std::vector<Phase>& phases)
{
    const auto orders = std::make_shared<const PartOrders>(read_orders(path));
    for (const Phase& phase : phases) {
        const auto on_stages = orders_on_stages(schedule_shape(plan_in_phase(plan, phase), phase.global_batch), *orders);
        if (const auto* refusal = std::get_if<Infeasible>(&on_stages)) {
            throw InputError(path + ": " + refusal->detail);
        }
    }
    return orders;
}

/// Task orders searched for the first phase. Their memory is checked later, with the rest of the plan.
std::variant<std::shared_ptr<const PartOrders>, Infeasible> searched(int most_held, const Problem& problem,
                                                                     const ParallelPlan& plan)
{
    PlanCompiler compiler(without_memory_limit(setting_of(problem, problem.phases.front())));
    const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        return *refusal;
    }
    const auto& plan_compiled = std::get<CompiledPlan>(compiled);
    auto orders = searched_orders(plan_compiled.graph, {most_held, plan_compiled.held_for_weights});
    if (const auto* refusal = std::get_if<Infeasible>(&orders)) {
        throw InputError(fmt::format("--search-order {}: {}", most_held, refusal->detail));
    }
    return std::make_shared<const PartOrders>(std::get<PartOrders>(std::move(orders)));
}

/// Sets the task orders that the options ask for, or returns why the plan is infeasible with them.
std::optional<Infeasible> take_orders(const po::variables_map& values, const ParallelPlan& plan, Problem& problem)
{
    const bool given = values.count("orders") > 0;
    if (given && values.count("search-order") > 0) {
        throw InputError("--orders and --search-order both set the task order; give only one of them");
    }
    if (given) {
        problem.orders = given_orders(values["orders"].as<std::string>(), plan, problem.phases);
    } else if (values.count("search-order") > 0) {
        auto orders = searched(values["search-order"].as<int>(), problem, plan);
        if (auto* refusal = std::get_if<Infeasible>(&orders)) {
            return *refusal;
        }
        problem.orders = std::get<std::shared_ptr<const PartOrders>>(orders);
    }
    return std::nullopt;
}

/// The draw that --timeline shows; nothing: mean times.
std::optional<int> chosen_draw(const po::variables_map& values, const Rung& rung)
{
    if (values.count("draw") == 0) {
        return std::nullopt;
    }
    const int draw = values["draw"].as<int>();
    if (values.count("timeline") == 0) {
        throw InputError(
            fmt::format("--draw {} selects the draw that --timeline shows; add --timeline FILE or leave --draw out", draw));
    }
    if (draw < 0 || draw >= rung.fleets * rung.steps) {
        throw InputError(fmt::format("--draw {} is out of range: there are {} draws, numbered from 0; write for example --draw 0",
                                     draw, rung.fleets * rung.steps));
    }
    return draw;
}

/// Throws if an infeasible plan was to be written to a file.
void refuse_files(const po::variables_map& values, const Infeasible& why)
{
    for (const char* option : {"timeline", "write-orders", "write-draws", "assign-nodes"}) {
        if (values.count(option) > 0) {
            throw InfeasiblePlan(
                fmt::format("--{}: nothing is written because the plan is infeasible: {}; change the plan or leave --{} out",
                            option, why.text(), option));
        }
    }
}

/// Throws, before anything is computed, if an output file is also an input or another output.
void refuse_lost_files(const po::variables_map& values)
{
    std::vector<std::string> inputs{values["SCENARIO"].as<std::string>()};
    for (const char* option : {"nodes", "orders"}) {
        if (values.count(option) > 0) {
            inputs.push_back(values[option].as<std::string>());
        }
    }
    std::vector<OutputPath> outputs;
    for (const char* option : {"write-orders", "write-draws", "assign-nodes"}) {
        if (values.count(option) > 0) {
            outputs.push_back({option, values[option].as<std::string>()});
        }
    }
    if (values.count("timeline") > 0) {
        for (const std::string& path : values["timeline"].as<std::vector<std::string>>()) {
            outputs.push_back({"timeline", path});
        }
    }
    refuse_same_outputs(outputs);
    for (const OutputPath& output : outputs) {
        refuse_input_as_output(output, inputs);
    }
}

/// Assigns the nodes of the cluster to the plan, and writes the assignment.
std::optional<WrittenAssignment> take_assignment(const po::variables_map& values, PlanPrediction& of, const Rung& rung,
                                                 StudyModel& model)
{
    if (values.count("assign-nodes") == 0) {
        return std::nullopt;
    }
    if (!of.nodes_known) {
        throw InputError(
            "--assign-nodes needs the slowdown factor of every node; list all nodes in --nodes FILE or in slow_nodes of "
            "[cluster], "
            "or set unlisted_nodes = \"nominal\" there");
    }
    WrittenAssignment result{values["assign-nodes"].as<std::string>(),
                             assign_nodes(model.problem, of.plan, {0, rung.fleets, rung.steps},
                                          model.sampler({Purpose::search}))};
    write_output("assign-nodes", result.path, assignment_csv(result.assigned.positions), {});
    model.problem.cluster.node_factors = result.assigned.factors;
    of.plan.node_order = NodeOrder::as_listed;
    return result;
}

/// A column for each phase, a row for each draw.
std::string draws_csv(const PhaseDraws& draws)
{
    std::string text;
    for (std::size_t phase = 0; phase < draws.size(); ++phase) {
        text += fmt::format("{}step_s_phase_{}", phase == 0 ? "" : ",", phase + 1);
    }
    for (std::size_t draw = 0; draw < draws.front().size(); ++draw) {
        for (std::size_t phase = 0; phase < draws.size(); ++phase) {
            text += fmt::format("{}{}", phase == 0 ? '\n' : ',', draws[phase][draw]);
        }
    }
    return text + '\n';
}

/// How the plan is sampled.
struct DrawSettings {
    Rung rung;
    SamplerOptions options;
    std::optional<int> shown;  // the draw that --timeline shows; nothing: mean times
};

/// Of the first phase.
void write_step(const po::variables_map& values, const Problem& problem, const ExecutionGraph& graph,
                const DrawSettings& sampling)
{
    if (values.count("timeline") > 0) {
        const int steps = sampling.rung.steps;
        const auto events = sampling.shown ? draw_timeline(graph, problem.noise, sampling.options, *sampling.shown / steps,
                                                           *sampling.shown % steps)
                                           : mean_timeline(graph);
        for (const std::string& path : values["timeline"].as<std::vector<std::string>>()) {
            write_output("timeline", path, timeline_text(path, events), {});
        }
    }
    if (values.count("write-orders") > 0) {
        write_output("write-orders", values["write-orders"].as<std::string>(), orders_csv(part_orders(*graph.program)), {});
    }
}

/// What the plan trains to reach the loss of the scenario: "15.6 T tokens in 930 k steps".
std::string tokens_text(const ChosenPlan& chosen, const Problem& problem)
{
    const std::vector<Phase> phases = phases_of_plan(problem, chosen.plan);
    const std::string all = fmt::format("{} tokens in {} steps", short_count(tokens_of(phases)), short_count(steps_of(phases)));
    const std::string of_learning = learning_text(chosen.scenario, phases);
    std::string text = phases.size() > 1 ? fmt::format("{}: {}", all, of_learning) : of_learning;
    if (of_learning.empty()) {
        text = all;
    }
    const auto add = [&text](double longer, const char* why) {
        text += longer > 1.0 ? fmt::format("; {} more {}", relative_text(longer - 1.0), why) : "";
    };
    add(chosen.longer, "for the precision");
    add(tokens_of(phases) / tokens_of(problem.phases), "because buildings train apart");
    return text;
}

/// What memory rests on that software may do otherwise, and no key of the scenario chooses.
std::vector<std::string> memory_assumptions(const ParallelPlan& plan, const Workload& workload)
{
    std::vector<std::string> all;
    if (plan.tp > 1 && !workload.captured) {
        all.push_back(fmt::format("sequence parallelism over the {} GPUs of tp", plan.tp));
    }
    if (!workload.trains()) {
        return all;
    }
    if (workload.vocabulary > 0) {
        all.emplace_back("a loss that is neither fused nor in chunks, with logits in 16 and in 32 bits");
    }
    const OptimizerSettings optimizer = network_of(workload).optimizer;
    if (optimizer.master_bytes() > 0.0) {
        all.push_back(fmt::format("a master copy of the parameters in {}", name(optimizer.master)));
    }
    return all;
}

/// What is known of the plan before it is predicted.
PlanPrediction described(const ChosenPlan& chosen)
{
    const Scenario& scenario = chosen.scenario;
    const std::vector<double>& factors = scenario.cluster.node_factors;
    const Phase& first = scenario.phases.front();
    PlanPrediction of{chosen.plan, {}, {}, {}, scenario.cluster.nodes_known(), {}};
    of.space = scenario.space;
    of.network = network_size(scenario.workload, first.sequence);
    of.task = scenario.workload.task;
    of.hardware = chosen.variant;
    of.price = chosen.price;
    of.price_origin = price_origin(scenario);
    of.power_origin = power_origin(scenario);
    of.cluster_nodes = scenario.cluster.nodes();
    of.listed_nodes =
        static_cast<int>(factors.size()) - static_cast<int>(std::count(factors.begin(), factors.end(), Cluster::drawn_node));
    of.energy_note = energy_note(scenario);
    of.memory_assumes = memory_assumptions(of.plan, scenario.workload);
    of.gpus_per_node = scenario.cluster.gpus_per_node();
    of.idle_nodes = std::max(0, of.cluster_nodes - nodes_used(of.plan, scenario.cluster) - std::max(0, of.plan.spares));
    return of;
}

/// The plan with the task orders that the options ask for, or why it is infeasible.
std::variant<CompiledRun, Infeasible> compiled_run(const po::variables_map& values, const ChosenPlan& chosen, Problem& problem)
{
    const Scenario& scenario = chosen.scenario;
    if (auto why = structural_problem(chosen.plan, scenario)) {
        return *why;
    }
    if (auto why = take_orders(values, chosen.plan, problem)) {
        return *why;
    }
    Predictor predictor(problem);
    auto compiled = predictor.compile(chosen.plan);
    if (const auto* run = std::get_if<CompiledRun>(&compiled)) {
        if (auto why = predictor.problem_of_run(*run)) {
            return *why;
        }
    }
    return compiled;
}

/// What the plan would take if it fitted into memory.
CompiledRun run_without_limit(Problem& problem, const ParallelPlan& plan)
{
    problem.memory_headroom = no_memory_limit;
    return std::get<CompiledRun>(Predictor(problem).compile(plan));
}

/// Predicts the plan. Returns the draws.
PhaseDraws evaluate(PlanPrediction& of, const CompiledRun& run, const ChosenPlan& chosen, const Problem& problem,
                    const DrawSettings& sampling)
{
    const Scenario& scenario = chosen.scenario;
    const Rung& rung = sampling.rung;
    Predictor predictor(problem);
    PhaseDraws draws = predictor.sample(run, {0, rung.fleets, rung.steps}, sampling.options);
    of.prediction = predictor.summarise(run, draws, rung.steps, sampling.options, Confidence{});
    if (scenario.phases.size() > 1) {
        of.phases = predictor.phases(run, draws, rung.steps, Confidence{});
    }
    of.tokens = tokens_text(chosen, problem);
    const FittedModel fitted = fitted_model();
    of.model = model_interval(problem, run, fitted);
    of.memory_interval = memory_interval(of.prediction.memory, problem.cluster);
    of.mixtures = mixtures_text(fitted, {&problem.workload}, problem.cluster);
    const CompiledPlan& first = run.phases.front();
    of.stages = stages_of(first);
    of.layout = layout_text(first.chunks, problem.workload.predictions);
    return draws;
}

}  // namespace

int predict_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    add_plan_options(options);
    options.add_options()("draws", po::value<int>()->value_name("N"),
                          "number of step draws (default: as in confirm of [search])")("json", po::bool_switch(),
                                                                                       "print one JSON object instead of text")(
        "stages", po::bool_switch(), "also print a table of the pipeline stages: layers, times per microbatch, memory")(
        "timeline", po::value<std::vector<std::string>>()->value_name("FILE")->composing(),
        "write the timeline of a step at mean times, one row per stage and stream: .json (Chrome trace, opens in Perfetto) or "
        ".svg")("draw", po::value<int>()->value_name("N"), "show draw N (from 0) in --timeline instead of mean times")(
        "orders", po::value<std::string>()->value_name("FILE"),
        "run the tasks in the order of FILE instead of the schedule's order; FILE is PyTorch's table of pipeline actions (one "
        "line per rank: 0F0,0F1,0B0 ...); the schedule still determines which stages a rank holds")(
        "write-orders", po::value<std::string>()->value_name("FILE"), "write the task order of the plan as such a table")(
        "write-draws", po::value<std::string>()->value_name("FILE"),
        "write the step times of the draws as CSV, one column per phase, without the factor common_step; draws with the same "
        "number use the same random numbers for all plans")(
        "search-order", po::value<int>()->value_name("HELD"),
        "search the task order with the shortest step at mean times, for a schedule that splits the backward pass (zb_h1, zb_h2, "
        "zb_v, v_half, v_min); a stage holds the activations of at most HELD (chunk, microbatch) pairs");
    options.add_options()(
        "nodes", po::value<std::string>()->value_name("FILE"),
        "predict for known nodes instead of a random sample of GPUs: FILE is a table node,factor with the slowdown "
        "factor of each node; \"drawn\" draws one sample of nodes from the spatial distributions")(
        "scale-curve", po::bool_switch(),
        "print, for 8 to 131,072 GPUs, the probability that a step is slower than the noise-free step; the number of replicas "
        "changes with the number of GPUs (below one replica, the number of pipeline stages)")(
        "assign-nodes", po::value<std::string>()->value_name("FILE"),
        "assign the fastest known nodes to stages and replicas for the lowest p99 step time (exhaustively if there "
        "are few assignments, otherwise by local search), and write the assignment to FILE: a table "
        "first_gpu,node,factor,replica,stage");
    add_seed_option(options);
    const auto values = parse_options("predict", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    refuse_lost_files(*values);
    ChosenPlan chosen = chosen_plan(*values);
    Scenario& scenario = chosen.scenario;
    take_seed(*values, scenario);
    if (values->count("nodes") > 0) {
        const auto& source = (*values)["nodes"].as<std::string>();
        scenario.cluster.node_factors = source == "drawn" ? drawn_node_factors(scenario.variability, scenario.cluster.nodes(),
                                                                               scenario.cluster.gpus_per_node(), scenario.seed)
                                                          : read_node_factors(source, scenario.cluster);
    }
    const ParallelPlan& plan = chosen.plan;
    Rung rung = scenario.search.confirm;
    if (values->count("draws") > 0) {
        const int draws = (*values)["draws"].as<int>();
        if (draws < 1 || draws > most_draws) {
            throw InputError(
                fmt::format("--draws {} is not between 1 and {}; write for example --draws 8192", draws, most_draws));
        }
        const int block = rung.steps * block_fleets;
        rung.fleets = (draws + block - 1) / block * block_fleets;  // whole blocks
    }
    if (rung.steps == 1) {
        log_warning(one_step_text);
    }
    const std::optional<int> draw = chosen_draw(*values, rung);
    if ((*values)["scale-curve"].as<bool>()) {
        const ScaleCurve curve = scale_curve(scenario, plan, rung);
        fmt::print("{}\n", (*values)["json"].as<bool>() ? scale_curve_json(curve) : scale_curve_text(curve));
        return curve.points.empty() ? exit_infeasible : exit_done;
    }
    StudyModel model(scenario, tables_of(scenario, {plan}));
    PlanPrediction of = described(chosen);
    auto compiled = compiled_run(*values, chosen, model.problem);
    const auto* refusal = std::get_if<Infeasible>(&compiled);
    const std::optional<Infeasible> infeasible = refusal == nullptr ? std::nullopt : std::optional(*refusal);
    const bool too_large = infeasible && infeasible->reason == Reason::out_of_memory;
    if (infeasible) {
        of.changes = single_changes(plan, scenario, model.problem);
    }
    if (too_large) {
        of.usable_bytes = Predictor(model.problem).capacity_bytes();
        compiled = run_without_limit(model.problem, plan);
    }
    if (!infeasible || too_large) {
        const Phase& first = scenario.phases.front();
        of.placement = placement_text({plan_in_phase(plan, first), first, scenario}, order_origin(scenario));
        if (!infeasible) {
            of.positions = take_assignment(*values, of, rung, model);
        }
        if (of.positions) {  // on the nodes that were assigned
            compiled = Predictor(model.problem).compile(of.plan);
        }
        const auto& run = std::get<CompiledRun>(compiled);
        const DrawSettings sampling{rung, model.sampler({Purpose::confirm}), draw};
        const PhaseDraws draws = evaluate(of, run, chosen, model.problem, sampling);
        if (!infeasible && values->count("write-draws") > 0) {
            write_output("write-draws", (*values)["write-draws"].as<std::string>(), draws_csv(draws), {});
        }
        if (!infeasible) {
            write_step(*values, model.problem, run.phases.front().graph, sampling);
        }
    }
    of.prediction.infeasible = infeasible;
    log_notes(scenario);
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", to_json(of).dump(2));
    } else {
        print_text(of, (*values)["stages"].as<bool>() ? StageTable::on : StageTable::off);
    }
    if (infeasible) {
        const bool named = values->count("point") > 0 || !(*values)["design"].as<std::string>().empty();
        const std::string example = named ? "" : example_design(scenario);
        if (!example.empty()) {
            log_warning(fmt::format("without --design, default values are used; a feasible plan is for example --design \"{}\"",
                                    example));
        }
        refuse_files(*values, *infeasible);
        return exit_infeasible;
    }
    return exit_done;
}

}  // namespace prismopt

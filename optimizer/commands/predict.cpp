#include "optimizer/commands/command.hpp"

#include "io/node_file.hpp"
#include "io/orders_file.hpp"
#include "io/report.hpp"
#include "io/scenario.hpp"
#include "io/timeline_file.hpp"
#include "model/phase_plan.hpp"
#include "model/step/node_order.hpp"
#include "model/step/searched_orders.hpp"
#include "optimizer/design_text.hpp"
#include "optimizer/evaluator.hpp"
#include "optimizer/plan_rules.hpp"
#include "optimizer/scale_curve.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr int most_draws = 100'000'000;  // 0.8 GB for each phase

/// JSON has no infinity: an interval that the draws cannot support is null.
nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json to_json(const TimeDistribution& d, double model_error)
{
    nlohmann::json json{{"mean", d.mean.value}, {"p50", d.p50.value}, {"p95", d.p95.value}, {"p99", d.p99.value}};
    json["p99_low"] = number(d.p99.low);
    json["p99_high"] = number(d.p99.high);
    json["p99_model_low"] = d.p99.value * (1.0 - model_error);
    json["p99_model_high"] = d.p99.value * (1.0 + model_error);
    json["mean_low"] = number(d.mean.low);
    json["mean_high"] = number(d.mean.high);
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

/// GPU-hours are what is lost; lists are by cause.
nlohmann::json to_json(const RunOutlook& run)
{
    constexpr double gpu_hour = 3600.0;
    nlohmann::json json{{"mean_time_between_failures_s", number(run.mean_time_between_failures_s)},
                        {"checkpoint_interval_s", number(run.interval_s)},
                        {"young_interval_s", number(run.young_s)},
                        {"daly_interval_s", number(run.daly_s)},
                        {"optimal_interval_s", number(run.optimal_s)},
                        {"checkpoint_gpu_hours", run.checkpoint_gpu_s / gpu_hour},
                        {"spare_gpus", run.spare_gpus},
                        {"energy_j", run.energy_j.value},
                        {"carbon_kg", run.carbon_kg.value}};
    if (run.deadline.si > 0.0) {
        json["deadline_s"] = run.deadline.si;
        json["miss_probability"] = run.miss_probability.value;
        json["miss_probability_low"] = run.miss_probability.low;
        json["miss_probability_high"] = run.miss_probability.high;
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

nlohmann::json to_json(const Prediction& p, const ParallelPlan& plan, double model_error, bool nodes_known)
{
    nlohmann::json json{{"feasible", !p.infeasible.has_value()},
                        {"reason", p.infeasible ? p.infeasible->reason + ": " + p.infeasible->detail : ""},
                        {"design", design_text(plan)},
                        {"draws", p.draws}};
    if (p.infeasible) {
        return json;
    }
    json["quantiles_of"] = nodes_known ? "this cluster" : "fleet";
    json["step_time_s"] = to_json(p.step, model_error);
    json["training_time_s"] = to_json(p.training, model_error);
    json["noise_free_step_time_s"] = p.noise_free_step_s;
    json["tflops_per_gpu"] = p.tflops_per_gpu;
    json["mfu"] = p.mfu;
    json["tokens_per_second"] = p.tokens_per_second;
    json["ettr"] = p.ettr;
    json["run"] = to_json(p.run);
    json["peak_memory_bytes"] = p.memory.total().si;
    json["memory_bytes"] = to_json(p.memory);
    json["memory_headroom"] = p.memory_headroom;
    json["bubble_share"] = p.shares.bubble;
    json["exposed_communication_share"] = p.shares.exposed_communication;
    json["cost_usd"] = p.cost_usd.value;
    json["expected_cost_usd"] = p.expected_cost_usd.value;
    json["gpus"] = p.gpus;
    return json;
}

std::string limits(const Estimate& e, double unit)
{
    if (!std::isfinite(e.low) || !std::isfinite(e.high)) {
        return "no 95 % interval: too few draws";
    }
    return fmt::format("95 % interval {:.4g} .. {:.4g}", e.low / unit, e.high / unit);
}

void print_distribution(const char* title, const char* unit_name, double unit, const TimeDistribution& d, double model_error)
{
    fmt::print("{} ({})\n  mean {:.4g}   p50 {:.4g}   p95 {:.4g}   p99 {:.4g}\n", title, unit_name, d.mean.value / unit,
               d.p50.value / unit, d.p95.value / unit, d.p99.value / unit);
    fmt::print("  p99 sampling: {}; model: +-{:.0f} % = {:.4g} .. {:.4g}\n", limits(d.p99, unit), 100.0 * model_error,
               d.p99.value * (1.0 - model_error) / unit, d.p99.value * (1.0 + model_error) / unit);
}

void print_run(const RunOutlook& run)
{
    constexpr double gpu_hour = 3600.0;
    constexpr double megawatt_hour = 3.6e9;
    const auto minutes = [](double s) { return std::isfinite(s) ? fmt::format("{:.3g} min", s / 60.0) : std::string("never"); };
    fmt::print("a failure every {:.3g} h; a checkpoint every {} (Young {}, Daly {}, optimal {})\n",
               run.mean_time_between_failures_s / 3600.0, minutes(run.interval_s), minutes(run.young_s), minutes(run.daly_s),
               minutes(run.optimal_s));
    fmt::print("lost GPU-hours, mean: {:.4g} for checkpoints\n", run.checkpoint_gpu_s / gpu_hour);
    for (const NamedLoss& row : run.losses) {
        fmt::print("  {:<20} {:8.4g} times: work done again {:.4g}, detection and restart {:.4g}, waiting for nodes {:.4g}\n",
                   row.name, row.loss.failures, row.loss.rework_gpu_s / gpu_hour, row.loss.down_gpu_s / gpu_hour,
                   row.loss.waiting_gpu_s / gpu_hour);
    }
    if (run.deadline.si > 0.0) {
        fmt::print("longer than {:.4g} days with probability {:.3g} (95 % interval {:.3g} .. {:.3g})\n",
                   run.deadline.si / 86400.0, run.miss_probability.value, run.miss_probability.low, run.miss_probability.high);
    }
    fmt::print("energy {:.4g} MWh, {:.4g} t of CO2\n", run.energy_j.value / megawatt_hour, run.carbon_kg.value / 1e3);
}

void print_text(const Prediction& p, const ParallelPlan& plan, double model_error, bool nodes_known)
{
    constexpr double day = 86400.0;
    constexpr double gigabyte = 1e9;
    fmt::print("{} dp={}\n", design_text(plan), plan.dp);
    if (p.infeasible) {
        fmt::print("infeasible: {}: {}\n", p.infeasible->reason, p.infeasible->detail);
        return;
    }
    fmt::print("quantiles of {}\n", quantiles_of(nodes_known));
    print_distribution("step time", "s", 1.0, p.step, model_error);
    print_distribution("training time", "days", day, p.training, model_error);
    fmt::print("noise-free step {:.4g} s; bubble {:.1f} %, exposed communication {:.1f} % of it\n", p.noise_free_step_s,
               100.0 * p.shares.bubble, 100.0 * p.shares.exposed_communication);
    fmt::print("{:.0f} TFLOP/s per GPU (MFU {:.1f} %), {:.4g} tokens/s, effective training time {:.1f} %\n", p.tflops_per_gpu,
               100.0 * p.mfu, p.tokens_per_second, 100.0 * p.ettr);
    print_run(p.run);
    fmt::print(
        "memory {:.1f} GB on stage {} (headroom {:.1f} %): parameters {:.1f}, gradients {:.1f}, optimizer state {:.1f}, "
        "activations {:.1f}, workspace {:.1f}, reserved {:.1f}\n",
        p.memory.total().si / gigabyte, p.memory.stage, 100.0 * p.memory_headroom, p.memory.parameters.si / gigabyte,
        p.memory.gradients.si / gigabyte, p.memory.optimizer_state.si / gigabyte, p.memory.activations.si / gigabyte,
        p.memory.workspace.si / gigabyte, p.memory.reserved.si / gigabyte);
    const CostUnit unit = cost_unit(p.cost_usd.value);
    fmt::print("cost {:.4g} {} at p99, {:.4g} {} expected; {} step draws\n", p.cost_usd.value / unit.usd, unit.name,
               p.expected_cost_usd.value / unit.usd, unit.name, p.draws);
}

/// A file's, which must suit every phase.
std::shared_ptr<const PartOrders> given_orders(const std::string& path, const ParallelPlan& plan,
                                               const std::vector<Phase>& phases)
{
    const auto orders = std::make_shared<const PartOrders>(read_orders(path));
    for (const Phase& phase : phases) {
        const auto on_stages = orders_on_stages(schedule_shape(plan, phase.global_batch), *orders);
        if (const auto* refusal = std::get_if<Infeasible>(&on_stages)) {
            throw InputError(path + ": " + refusal->detail);
        }
    }
    return orders;
}

/// Searched for the first phase; the memory that they take is judged with the rest of the plan.
std::variant<std::shared_ptr<const PartOrders>, Infeasible> searched(int most_held, const Problem& problem,
                                                                     const ParallelPlan& plan)
{
    constexpr double no_memory_limit = -1e3;
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise, no_memory_limit});
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

/// Sets the orders that the options ask for, or says why the plan has none.
std::optional<Infeasible> take_orders(const po::variables_map& values, const ParallelPlan& plan, Problem& problem)
{
    const bool given = values.count("orders") > 0;
    if (given && values.count("search-order") > 0) {
        throw InputError("--orders and --search-order both say in which order tasks run; leave one out");
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

/// Which draw --timeline shows; nothing: mean times.
std::optional<int> chosen_draw(const po::variables_map& values, const Rung& rung)
{
    if (values.count("draw") == 0) {
        return std::nullopt;
    }
    const int draw = values["draw"].as<int>();
    if (values.count("timeline") == 0) {
        throw InputError(fmt::format("--draw {} says which draw --timeline shows; add --timeline FILE or leave it out", draw));
    }
    if (draw < 0 || draw >= rung.fleets * rung.steps) {
        throw InputError(
            fmt::format("--draw {} is not one of the {} draws; write for example --draw 0", draw, rung.fleets * rung.steps));
    }
    return draw;
}

/// A plan that cannot run has no step to write.
void refuse_files(const po::variables_map& values, const Infeasible& why)
{
    for (const char* option : {"timeline", "write-orders"}) {
        if (values.count(option) > 0) {
            throw InputError(
                fmt::format("--{}: nothing is written, the plan cannot run: {}: {}; change the plan or leave --{} out", option,
                            why.reason, why.detail, option));
        }
    }
}

/// Of the first phase.
void write_step(const po::variables_map& values, const Problem& problem, const ParallelPlan& plan, std::optional<int> draw,
                const Rung& rung, const SamplerOptions& sampler)
{
    PlanCompiler compiler(
        {problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_headroom, problem.orders});
    const auto compiled = compiler.compile(plan, draw ? CompileFor::sampling : CompileFor::noise_free_step);
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    if (values.count("timeline") > 0) {
        for (const std::string& path : values["timeline"].as<std::vector<std::string>>()) {
            write_timeline(path, draw ? draw_timeline(graph, problem.noise, sampler, *draw / rung.steps, *draw % rung.steps)
                                      : mean_timeline(graph));
        }
    }
    if (values.count("write-orders") > 0) {
        write_orders(values["write-orders"].as<std::string>(), part_orders(*graph.program));
    }
}

}  // namespace

int predict_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("design", po::value<std::string>()->value_name("PLAN")->default_value("", "as the scenario"),
                          "the plan in the names of the axes, for example \"gpus=16384 tp=8 pp=16 v=8 schedule=interleaved\"")(
        "draws", po::value<int>()->value_name("N"),
        "step draws (default: as the scenario confirms its front)")("json", po::bool_switch(), "one JSON object instead of text")(
        "timeline", po::value<std::vector<std::string>>()->value_name("FILE")->composing(),
        "write the step at mean times, a row a stage and stream: .json (Chrome trace, opens in Perfetto) or .svg")(
        "draw", po::value<int>()->value_name("N"), "let --timeline show draw N, from 0, instead of mean times")(
        "orders", po::value<std::string>()->value_name("FILE"),
        "tasks in the order of a file, PyTorch's table of pipeline actions (a line a rank: 0F0,0F1,0B0 ...), instead of the "
        "schedule's; the schedule says which stages a rank holds")("write-orders", po::value<std::string>()->value_name("FILE"),
                                                                   "write the order of the plan's tasks as such a table")(
        "search-order", po::value<int>()->value_name("HELD"),
        "search the order of a schedule that splits its backward (zb_h1, zb_h2, zb_v, v_half, v_min) for the shortest step at "
        "mean "
        "times, holding at most the activations of HELD microbatches of chunks on a stage");
    options.add_options()("nodes", po::value<std::string>()->value_name("FILE"),
                          "this cluster instead of a fleet: a table node,factor of how many times as long each node computes; or "
                          "\"drawn\": one fleet's nodes, from the spatial laws")(
        "scale-curve", po::bool_switch(),
        "how likely a step is to be slower than without noise on 8 to 131,072 GPUs: replicas of the plan, and below one of them "
        "shorter pipelines");
    add_seed_option(options);
    const auto values = parse_options("predict", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    Scenario scenario = read_scenario((*values)["SCENARIO"].as<std::string>());
    take_seed(*values, scenario);
    if (values->count("nodes") > 0) {
        const auto& source = (*values)["nodes"].as<std::string>();
        scenario.cluster.node_factors = source == "drawn"
                                            ? drawn_node_factors(scenario.variability, scenario.cluster, scenario.seed)
                                            : read_node_factors(source, scenario.cluster);
    }
    const ParallelPlan plan = parse_design((*values)["design"].as<std::string>(), scenario);
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
    const std::optional<int> draw = chosen_draw(*values, rung);
    if ((*values)["scale-curve"].as<bool>()) {
        const ScaleCurve curve = scale_curve(scenario, plan, rung);
        fmt::print("{}\n", (*values)["json"].as<bool>() ? scale_curve_json(curve) : scale_curve_text(curve));
        return exit_done;
    }
    std::vector<int> groups;
    for (const Phase& phase : scenario.phases) {
        const ParallelPlan here = plan_in_phase(plan, phase);
        groups.push_back(here.tp * here.cp);
    }
    StudyModel model(scenario, build_noise_tables(scenario.variability, groups, scenario.cluster.tiers));
    Prediction prediction;
    prediction.infeasible = structural_problem(plan, scenario);
    if (!prediction.infeasible) {
        prediction.infeasible = take_orders(*values, plan, model.problem);
    }
    Predictor predictor(model.problem);
    if (!prediction.infeasible) {
        const auto bound = predictor.bound(plan);
        if (const auto* refusal = std::get_if<Infeasible>(&bound)) {
            prediction.infeasible = *refusal;
        } else {
            const SamplerOptions sampler = model.sampler(Purpose::confirm);
            const PhaseDraws draws = predictor.sample(plan, {0, rung.fleets, rung.steps}, sampler);
            prediction = predictor.summarise(plan, draws, rung.steps, sampler, Confidence{});
            write_step(*values, model.problem, plan, draw, rung, sampler);
        }
    }
    const double model_error = scenario.cluster.accelerator.model_error;
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}\n", to_json(prediction, plan, model_error, !scenario.cluster.node_factors.empty()).dump(2));
    } else {
        print_text(prediction, plan, model_error, !scenario.cluster.node_factors.empty());
    }
    if (prediction.infeasible) {
        refuse_files(*values, *prediction.infeasible);
    }
    return exit_done;
}

}  // namespace prismopt

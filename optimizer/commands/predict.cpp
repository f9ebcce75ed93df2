#include "io/base/input_error.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/api/prediction_text.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include "io/plots/timeline_file.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/preview/scale_curve.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/scenario_log.hpp"
#include "optimizer/study/study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// The draw that --timeline shows; nothing: mean times.
std::optional<int> chosen_draw(const po::variables_map& values, const Rung& rung)
{
    if (values.count("draw") == 0) {
        return std::nullopt;
    }
    const int draw = values["draw"].as<int>();
    if (values.count("timeline") == 0) {
        throw InputError(fmt::format(
            "--draw {} selects the draw that --timeline shows; add --timeline FILE or leave --draw out",
            draw));
    }
    if (draw < 0 || draw >= rung.fleets * rung.steps) {
        throw InputError(fmt::format(
            "--draw {} is out of range: there are {} draws, numbered from 0; write for example --draw 0",
            draw, rung.fleets * rung.steps));
    }
    return draw;
}

/// Throws if an infeasible plan was to be written to a file.
void refuse_files(const po::variables_map& values, const Infeasible& why)
{
    for (const char* option : {"timeline", "write-orders", "write-draws", "assign-nodes"}) {
        if (values.count(option) > 0) {
            throw InfeasiblePlan(why, fmt::format("--{}: nothing is written because the plan is infeasible: "
                                                  "{}; change the plan or leave --{} out",
                                                  option, infeasible_text(why), option));
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

/// A column for each phase, a row for each draw.
std::string draws_csv(const std::vector<std::vector<double>>& draws)
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

TaskOrder task_order(const po::variables_map& values)
{
    const bool given = values.count("orders") > 0;
    const bool searched = values.count("search-order") > 0;
    if (given && searched) {
        throw InputError("--orders and --search-order both set the task order; give only one of them");
    }
    TaskOrder order;
    if (given) {
        order.file = values["orders"].as<std::string>();
    } else if (searched) {
        order.most_held = values["search-order"].as<int>();
    }
    return order;
}

/// Writes the files of a feasible plan.
void write_plan(const po::variables_map& values, const PlanPredictor& predictor, const Rung& rung,
                std::optional<int> draw)
{
    if (values.count("write-draws") > 0) {
        write_output("write-draws", values["write-draws"].as<std::string>(), draws_csv(predictor.draws()),
                     {});
    }
    if (values.count("timeline") > 0) {
        const std::vector<TimelineEvent> events = predictor.timeline(draw, rung);
        for (const std::string& path : values["timeline"].as<std::vector<std::string>>()) {
            write_output("timeline", path, timeline_text(path, events), {});
        }
    }
    if (values.count("write-orders") > 0) {
        write_output("write-orders", values["write-orders"].as<std::string>(), predictor.orders_csv(), {});
    }
}

/// Assigns the nodes of the cluster, and writes the assignment. Returns its file.
std::string write_assignment(const po::variables_map& values, PlanPredictor& predictor, const Rung& rung)
{
    const auto& path = values["assign-nodes"].as<std::string>();
    write_output("assign-nodes", path, assignment_csv(predictor.assign_nodes(rung).positions), {});
    return path;
}

/// Neither a plan nor an order of its tasks.
bool names_neither_plan_nor_order(const po::variables_map& values)
{
    return values.count("point") == 0 && values["design"].as<std::string>().empty() &&
           values.count("orders") == 0 && values.count("search-order") == 0;
}

/// Draws of --draws, or those of confirm in [search].
Rung chosen_rung(const po::variables_map& values, const Scenario& scenario)
{
    const int draws = values.count("draws") > 0 ? values["draws"].as<int>() : 0;
    if (values.count("draws") > 0 && (draws < 1 || draws > most_draws)) {
        throw InputError(fmt::format("--draws {} is not between 1 and {}; write for example --draws 8192",
                                     draws, most_draws));
    }
    const Rung rung = rung_of(scenario, draws);
    if (rung.steps == 1) {
        log_warning(one_step_text);
    }
    return rung;
}

/// The plan that was chosen or, where nobody chose one and the default one does
/// not run, the best of the space.
PlanPredictor predictor_of(ChosenPlan& chosen, const po::variables_map& values)
{
    PlanPredictor predictor(chosen, task_order(values));
    const std::optional<Infeasible>& doubt =
        predictor.infeasible() ? predictor.infeasible() : predictor.may_not_fit();
    if (!doubt || !names_neither_plan_nor_order(values)) {
        return predictor;
    }
    std::optional<ChosenPlan> other = stand_in(predictor);
    if (!other) {
        return predictor;
    }
    log_warning(fmt::format(
        "without --design: the default plan {} ({}), so this is the plan of [space] with the best "
        "noise-free {}; --design \"...\" names another",
        predictor.infeasible() ? "is infeasible" : "may not fit", doubt->category(),
        chosen.scenario.objectives.front()));
    chosen = std::move(*other);
    return PlanPredictor(chosen, {});
}

po::options_description predict_options()
{
    po::options_description options("Options");
    add_plan_options(options);
    options.add_options()("draws", po::value<int>()->value_name("N"),
                          "number of step draws (default: as in confirm of [search])")(
        "json", po::bool_switch(), "print one JSON object instead of text")(
        "stages", po::bool_switch(),
        "also print a table of the pipeline stages: layers, times per microbatch, memory")(
        "timeline", po::value<std::vector<std::string>>()->value_name("FILE")->composing(),
        "write the timeline of a step at mean times, one row per stage and stream: .json (Chrome trace, "
        "opens in Perfetto) or "
        ".svg")("draw", po::value<int>()->value_name("N"),
                "show draw N (from 0) in --timeline instead of mean times")(
        "orders", po::value<std::string>()->value_name("FILE"),
        "run the tasks in the order of FILE instead of the schedule's order; FILE is PyTorch's table of "
        "pipeline actions (one "
        "line per rank: 0F0,0F1,0B0 ...); the schedule still determines which stages a rank holds")(
        "write-orders", po::value<std::string>()->value_name("FILE"),
        "write the task order of the plan as such a table")(
        "write-draws", po::value<std::string>()->value_name("FILE"),
        "write the step times of the draws as CSV, one column per phase, without the factor common_step; "
        "draws with the same "
        "number use the same random numbers for all plans")(
        "search-order", po::value<int>()->value_name("HELD"),
        "search the task order with the shortest step at mean times, for a schedule that splits the backward "
        "pass (zb_h1, zb_h2, "
        "zb_v, v_half, v_min); a stage holds the activations of at most HELD (chunk, microbatch) pairs");
    options.add_options()(
        "nodes", po::value<std::string>()->value_name("FILE"),
        "predict for known nodes instead of a random sample of GPUs: FILE is a table node,factor with the "
        "slowdown "
        "factor of each node; \"drawn\" draws one sample of nodes from the spatial distributions")(
        "scale-curve", po::bool_switch(),
        "print, for 8 to 131,072 GPUs, the probability that a step is slower than the noise-free step; the "
        "number of replicas "
        "changes with the number of GPUs (below one replica, the number of pipeline stages)")(
        "assign-nodes", po::value<std::string>()->value_name("FILE"),
        "assign the fastest known nodes to stages and replicas for the lowest p99 step time (exhaustively if "
        "there "
        "are few assignments, otherwise by local search), and write the assignment to FILE: a table "
        "first_gpu,node,factor,replica,stage");
    add_seed_option(options);
    return options;
}

}  // namespace

int predict_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("predict", predict_options(), "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    refuse_lost_files(*values);
    ChosenPlan chosen = chosen_plan(*values);
    Scenario& scenario = chosen.scenario;
    set_seed(*values, scenario);
    if (values->count("nodes") > 0) {
        scenario = on_nodes(scenario, (*values)["nodes"].as<std::string>());
    }
    const Rung rung = chosen_rung(*values, scenario);
    const std::optional<int> draw = chosen_draw(*values, rung);
    if ((*values)["scale-curve"].as<bool>()) {
        const ScaleCurve curve = scale_curve(scenario, chosen.plan, rung);
        fmt::print("{}\n", (*values)["json"].as<bool>() ? scale_curve_json(curve) : scale_curve_text(curve));
        return curve.points.empty() ? exit_infeasible : exit_done;
    }
    PlanPredictor predictor = predictor_of(chosen, *values);
    const std::optional<Infeasible>& infeasible = predictor.infeasible();
    std::string assignment;
    if (!infeasible && values->count("assign-nodes") > 0) {
        assignment = write_assignment(*values, predictor, rung);
    }
    PlanPrediction of = predictor.predict(rung);
    if (of.positions) {
        of.positions->path = assignment;
    }
    if (!infeasible) {
        write_plan(*values, predictor, rung, draw);
    }
    log_notes(scenario);
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}", prediction_json(of));
    } else {
        fmt::print("{}",
                   prediction_text(of, (*values)["stages"].as<bool>() ? StageTable::on : StageTable::off));
    }
    if (infeasible) {
        refuse_files(*values, *infeasible);
        return exit_infeasible;
    }
    return exit_done;
}

}  // namespace prismopt

#include "io/words/infeasible_text.hpp"
#include "optimizer/api/prediction_text.hpp"

#include "io/base/json_number.hpp"
#include "io/report/network_json.hpp"
#include "io/report/results_json.hpp"
#include "model/base/units.hpp"
#include "optimizer/space/design_text.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

using Json = nlohmann::ordered_json;

/// What the table of results has of a plan, or of one of its phases.
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

Json memory_json(const MemoryUse& memory)
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
    constexpr double gpu_hour = (1_h).si;
    Json json{{"checkpoints_written", run.writes_checkpoints},
              {"checkpoint_gpu_hours", run.checkpoint_gpu_s / gpu_hour},
              {"spare_gpus", static_cast<int>(run.spare_gpus)},
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

Json stage_json(const StageUse& stage)
{
    Json json{{"forward_s", stage.forward_s},
              {"backward_s", stage.backward_s},
              {"memory_bytes", memory_json(stage.memory)},
              {"chunks", Json::array()}};
    for (const Chunk& chunk : stage.chunks) {
        json["chunks"].push_back({{"first_layer", chunk.first_layer},
                                  {"layers", chunk.layers},
                                  {"embedding", chunk.embedding},
                                  {"head", chunk.head}});
    }
    return json;
}

/// Names of the estimates that the draws do not bound from both sides, so that their values say little.
Json unbounded_names(const Json& estimates)
{
    Json names = Json::array();
    for (const auto& [name, estimate] : estimates.items()) {
        if (!estimate["value"].is_null() && (estimate["low"].is_null() || estimate["high"].is_null())) {
            names.push_back(name);
        }
    }
    return names;
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

Json phase_json(const PhasePrediction& phase, const PlanPrediction& of)
{
    Json json{{"design", design_text(phase.plan, of.space)},
              {"sequence_length", phase.sequence},
              {"steps", phase.steps},
              {"productive_time_s", phase.productive_s},
              {"peak_memory_bytes", phase.memory.total().si}};
    json.update(results_json(results_of(phase, of.model), {}, &Outputs::phase));
    return json;
}

Json assignment_json(const WrittenAssignment& positions)
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

}  // namespace

PlanResults results_of(const PlanPrediction& of) { return results_of(of.prediction, of.model); }

std::string prediction_json(const PlanPrediction& of)
{
    constexpr int format_version = 2;
    const Prediction& p = of.prediction;
    Json json{{"format", "prismopt predict"},
              {"format_version", format_version},
              {"feasible", !p.infeasible.has_value()},
              {"reason", p.infeasible ? infeasible_text(*p.infeasible) : ""},
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
        json["may_not_fit"] = detail_text(*of.may_not_fit);
    }
    if (p.infeasible || of.may_not_fit) {
        json["changes"] = changes_json(of.changes);
    }
    if (p.draws == 0) {
        return json.dump(2) + "\n";
    }
    if (p.infeasible && p.infeasible->reason() == Reason::out_of_memory) {
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
                     {"model_error_note", json_text<Json>(of.moe_note)},
                     {"energy_note", json_text<Json>(of.energy_note)},
                     {"placement_note", json_text<Json>(of.placement)},
                     {"host_note", json_text<Json>(of.host)},
                     {"columns", columns_json(&Outputs::predict)},
                     {"probabilities", reported_probabilities}});
    json.update(results_json(results_of(of), p.run.deadline, &Outputs::predict));
    json["too_few_draws_for"] = unbounded_names(json["estimates"]);
    json.update(Json{{"run", run_json(p.run)},
                     {"peak_memory_bytes", p.memory.total().si},
                     {"peak_memory_interval_bytes", {of.memory_interval.low, of.memory_interval.high}},
                     {"memory_stage", p.memory.stage},
                     {"memory_assumes", of.memory_assumes},
                     {"layout", of.layout},
                     {"stages", Json::array()}});
    for (const StageUse& stage : of.stages) {
        json["stages"].push_back(stage_json(stage));
    }
    for (const PhasePrediction& phase : of.phases) {
        json["phases"].push_back(phase_json(phase, of));
    }
    if (of.positions) {
        json["assignment"] = assignment_json(*of.positions);
    }
    return json.dump(2) + "\n";
}

}  // namespace prismopt

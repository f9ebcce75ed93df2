#include "io/report/report_json.hpp"

#include "io/base/json_number.hpp"
#include "io/report/alternatives.hpp"
#include "io/report/completion.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/front_ties.hpp"
#include "io/report/front/named_points.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/legs_text.hpp"
#include "io/report/machine_json.hpp"
#include "io/report/performance_text.hpp"
#include "io/report/question_answer.hpp"
#include "io/report/results_json.hpp"
#include "io/report/space_counts.hpp"
#include "io/report/study_json.hpp"
#include "io/report/study_notes.hpp"
#include "io/report/subject.hpp"
#include "io/report/varied_worth.hpp"
#include "io/results/outcome_names.hpp"
#include "io/results/results_schema.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 2;

Json provenance(const StudyInfo& study, const std::string& file)
{
    return {{"file", file},
            {"program_version", study.build.version},
            {"git_commit", study.build.commit},
            {"catalog_digest", json_text<Json>(study.build.catalog)},
            {"created", study.created},
            {"command_line", study.command_line},
            {"job_id", json_text<Json>(study.job_id)},
            {"seed", study.seed},
            {"scenario_name", study.scenario_name},
            {"scenario_path", study.scenario_path},
            {"learned", json_text<Json>(study.learned)},
            {"learned_digest", json_text<Json>(study.learned_digest)}};
}

Json excluded_by(const CountByBound& counts)
{
    const auto of = [&counts](BoundKind bound) { return counts[static_cast<std::size_t>(bound)]; };
    return {{"sub_space", of(BoundKind::sub_space)},
            {"busiest_stage", of(BoundKind::busiest_stage)},
            {"noise_free_step", of(BoundKind::noise_free_step)},
            {"longest_paths", of(BoundKind::longest_paths)}};
}

Json search(const Results& results)
{
    const StudyInfo& study = results.study;
    return {{"strategy", study.strategy},
            {"outcome", study.outcome_text},
            {"method", study.ends_known ? Json(name(study.outcome.method)) : Json()},
            {"complete", study.ends_known ? Json(study.outcome.complete) : Json()},
            {"end", study.ends_known ? Json(name(study.outcome.end)) : Json()},
            {"stopped_by", study.stopped_by.empty() ? Json() : Json(study.stopped_by)},
            {"proved", study.outcome.proved},
            {"confidence", json_number<Json>(study.outcome.confidence)},
            {"provisional", results.provisional},
            {"pruned", study.outcome.pruned},
            {"evaluated", study.outcome.evaluated},
            {"open", study.outcome.open},
            {"unchecked", study.outcome.unchecked},
            {"excluded_by", excluded_by(study.outcome.excluded_by)},
            {"draws", study_effort(results).draws},
            {"part", study.held},
            {"parts", study.space_parts}};
}

Json objectives(const Results& results)
{
    Json list = Json::array();
    for (const ObjectiveInfo& objective : results.objectives) {
        list.push_back(
            {{"name", objective.name}, {"units", objective.units}, {"description", objective.long_name}});
    }
    return list;
}

Json plan(const Results& results, const FrontPoint& point)
{
    Json choices = Json::object();
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        const auto label = static_cast<std::size_t>(point.point.at(a));
        const auto numbers = numeric_labels(results.axes[a]);
        choices[results.axes[a].name] =
            numbers ? Json(numbers->at(label)) : Json(results.axes[a].labels.at(label));
    }
    for (const VariantChoice& choice : variant_choices(results)) {
        const std::string& label = choice.at(point.point);
        const Json parsed = Json::parse(label, nullptr, false);
        choices[choice.name] = parsed.is_number() ? parsed : json_text<Json>(label);
    }
    return choices;
}

Json front_point(const Results& results, const FrontPoint& point, const StudyNotes& notes)
{
    Json json{
        {"point", point.index},          {"plan", plan(results, point)}, {"text", plan_words(results, point)},
        {"gpus", point.prediction.gpus}, {"dominated", point.dominated}, {"draws", point.prediction.draws}};
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        json["objectives"][results.objectives[k].name] =
            estimate_json(stated(results.objectives[k].name, point.objectives.at(k)));
    }
    json.update(results_json(point, asked_limit(notes)));
    const auto ended = [](const CompletionTime& time) {
        return Json{{"seconds", json_number<Json>(time.seconds)}, {"date", json_text<Json>(time.date)}};
    };
    for (const Completion& done : completions(point, notes.start)) {
        Json& at = json["completion"][std::string(done.quantile)] = ended(done.exact);
        at["with_model_error"] = ended(done.with_error);
    }
    return json;
}

Json named(const Results& results)
{
    const NamedPoints points = named_points(results);
    const auto index = [&results](const std::optional<std::size_t>& at) {
        return at ? Json(results.front[*at].index) : Json();
    };
    return {{"best", index(points.best)}, {"knee", index(points.knee)}, {"cheapest", index(points.cheapest)}};
}

Json subject_json(const Results& results, const StudyNotes& notes)
{
    const auto subject = subject_of(results, notes);
    if (!subject) {
        return nullptr;
    }
    Json json{
        {"point", subject->plan->index}, {"reason", name(subject->reason)}, {"on_front", subject->on_front}};
    json["plan"] = subject->on_front ? Json() : front_point(results, *subject->plan, notes);
    return json;
}

Json head(const char* format, const Results& results, const std::string& file)
{
    return {{"format", format},
            {"format_version", format_version},
            {"provenance", provenance(results.study, file)},
            {"search", search(results)},
            {"space", space_json(results)},
            {"objectives", objectives(results)}};
}

/// Null where it was not computed.
Json posterior(const Results& results)
{
    if (results.posterior.plans.empty()) {
        return nullptr;
    }
    Json json{{"linearisation_error", results.posterior.linearisation_error}, {"plans", Json::array()}};
    for (const PlanChance& plan : results.posterior.plans) {
        json["plans"].push_back(
            {{"point", plan.index},
             {"gpus", plan.gpus},
             {"objective", results.objectives[static_cast<std::size_t>(plan.objective)].name},
             {"value", plan.value},
             {"low", json_number<Json>(plan.low)},
             {"high", json_number<Json>(plan.high)},
             {"drawn", plan.drawn},
             {"best", plan.best},
             {"best_without_discrepancy", plan.best_without_discrepancy},
             {"regret", plan.regret},
             {"fits", plan.fits},
             {"shortlist", plan.shortlist},
             {"cover", plan.cover}});
    }
    return json;
}

Json best_values(const BestPlan& best, const Results& results)
{
    Json values = Json::object();
    for (std::size_t k = 0; k < best.values.size(); ++k) {
        values[results.objectives[k].name] = json_number<Json>(best.values[k]);
    }
    return values;
}

Json batches(const Results& results, const StudyNotes& notes)
{
    Json json = Json::array();
    for (const BatchRow& row : notes.batches) {
        json.push_back({{"global_batch", row.global_batch},
                        {"tokens", row.tokens},
                        {"tokens_low", row.tokens_low},
                        {"tokens_high", row.tokens_high},
                        {"steps", row.steps},
                        {"best", best_values(row.best, results)},
                        {"on_front", row.best.on_front},
                        {"some_on_front", row.best.some_on_front},
                        {"at_least", json_number<Json>(row.best.bound)}});
    }
    return json;
}

Json questioned_json(const std::optional<QuestionedPlan>& plan)
{
    return plan ? Json{{"point", plan->plan->index},
                       {"gpus", plan->plan->prediction.gpus},
                       {"probability", plan->probability},
                       {"in_time_s", json_number<Json>(plan->in_time_s)},
                       {"cost_usd", json_number<Json>(plan->plan->prediction.cost_usd.value)},
                       {"budget_probability", json_number<Json>(plan->budget_probability)},
                       {"electricity_usd",
                        json_number<Json>(plan->plan->prediction.run.electricity_usd.value)},
                       {"power_w", json_number<Json>(plan->power_w)},
                       {"cluster_power_w", json_number<Json>(plan->cluster_power_w)}}
                : Json();
}

Json question_json(const Results& results, const StudyNotes& notes,
                   const std::optional<QuestionAnswer>& answer)
{
    if (!answer) {
        return nullptr;
    }
    Json text = Json::object();
    for (const QuestionLine& line : question_lines(results, notes)) {
        text[line.title] = line.text;
    }
    Json changes = Json::object();
    for (const QuestionLine& line : answer_changes(results, notes)) {
        changes[line.title] = line.text;
    }
    Json machines = Json::object();
    for (const MachineAnswer& other : answer->machines) {
        machines[other.machine] = questioned_json(other.plan);
    }
    const Question& question = *notes.question;
    const auto limit = [](auto most) { return most > 0 ? Json(most) : Json(); };
    return {{"minimise", name(question.minimise)},
            {"limit_s", limit(answer->limit.si)},
            {"probability", question.probability},
            {"budget_usd", limit(question.budget_usd)},
            {"power_limit_w", limit(question.power_limit.si)},
            {"gpus_at_most", limit(question.gpus_at_most)},
            {"model_error", answer->model_error},
            {"answer", questioned_json(answer->best)},
            {"next_best", questioned_json(answer->next)},
            {"not_enough", questioned_json(answer->not_enough)},
            {"surest", questioned_json(answer->surest)},
            {"machines", std::move(machines)},
            {"changes", std::move(changes)},
            {"text", std::move(text)}};
}

Json performance(const Results& results)
{
    const std::optional<Performance> known = performance_of(results);
    if (!known) {
        return nullptr;
    }
    Json json{{"ranks", results.ranks.size()}, {"threads", results.threads},       {"wall_s", known->wall_s},
              {"rank_0_s", known->rank_0_s},   {"total_s", known->total_s},        {"busy_s", known->busy_s},
              {"idle_s", known->idle_s},       {"efficiency", known->efficiency()}};
    for (std::size_t activity = 0; activity < rank_activities.size(); ++activity) {
        json["parts_s"][rank_activities[activity].name] = known->activity_s[activity];
    }
    return json;
}

}  // namespace

std::string report_json(const Results& results, const std::string& file)
{
    const StudyNotes notes = study_notes(results);
    Json json = head("prismopt report", results, file);
    json["job"] = job_json(notes);
    json["quantiles_of"] = quantiles_of(results.study.nodes_known);
    json["gpu_price"] = json_text<Json>(notes.price);
    json["price_given"] = name(notes.price_origin);
    json["power_given"] = name(notes.power_origin);
    json["electricity_price"] = json_text<Json>(notes.electricity);
    json["electricity_given"] = notes.electricity.empty() ? Json() : Json(name(notes.electricity_origin));
    json["power_of"] = json_text<Json>(notes.power);
    json["software_note"] = json_text<Json>(notes.software);
    json["omitted_note"] = json_text<Json>(notes.omitted);
    json["own_entries_note"] = json_text<Json>(notes.own_entries);
    json["variants"] = variants_json(notes.variants);
    json["model_error_note"] = json_text<Json>(notes.moe_note);
    json["idle_nodes_note"] = json_text<Json>(notes.idle_nodes);
    json["energy_note"] = json_text<Json>(notes.energy);
    json["global_batches"] = batches(results, notes);
    json["numerics_note"] = json_text<Json>(notes.numerics.title);
    json["local_updates_note"] = json_text<Json>(notes.local_updates.title);
    const auto asked = notes.question ? answer_to(*notes.question, results, notes) : std::nullopt;
    json["question"] = question_json(results, notes, asked);
    json["knobs"] = varied_worth_json(varied_worths(results));
    json["columns"] = columns_json();
    json["probabilities"] = reported_probabilities;
    json["named"] = named(results);
    json["subject"] = subject_json(results, notes);
    json["front"] = Json::array();
    const std::vector<std::vector<std::uint64_t>> tied = ties(results.front);
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        json["front"].push_back(front_point(results, results.front[i], notes));
        json["front"].back()["ties_with"] = tied[i];
        json["front"].back()["question_probability"] = asked ? Json(asked->plans[i].probability) : Json();
    }
    const MayNotFit& list = results.may_not_fit;
    json["may_not_fit"] = {{"outcome", list.outcome},
                           {"proved", list.proved},
                           {"evaluated", list.evaluated},
                           {"limit", json_number<Json>(list.limit)},
                           {"plans", Json::array()}};
    for (const FrontPoint& point : list.plans) {
        json["may_not_fit"]["plans"].push_back(front_point(results, point, notes));
    }
    json["machines"] = machines_json(results);
    json["posterior"] = posterior(results);
    json["performance"] = performance(results);
    json["scenario_toml"] = results.study.scenario_text;
    return json.dump(1) + "\n";
}

std::string summary_json(const Results& results, const std::string& file)
{
    Json json = head("prismopt results summary", results, file);
    json["front_points"] = results.front.size();
    json["core_hours"] = core_hours(results.legs);
    json["legs"] = legs_json(results.legs);
    return json.dump(1) + "\n";
}

}  // namespace prismopt

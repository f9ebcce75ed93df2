#include "io/html/page_data.hpp"

#include "io/base/json_number.hpp"
#include "io/compare/comparison_json.hpp"
#include "io/html/packed.hpp"
#include "io/plots/report_figures.hpp"
#include "io/report/alternatives.hpp"
#include "io/report/completion.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/best_plan.hpp"
#include "io/report/front/front_ties.hpp"
#include "io/report/front/named_points.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/machine_json.hpp"
#include "io/report/machine_report.hpp"
#include "io/report/question_answer.hpp"
#include "io/report/report.hpp"
#include "io/report/space_counts.hpp"
#include "io/report/study_accuracy.hpp"
#include "io/report/study_json.hpp"
#include "io/report/study_notes.hpp"
#include "io/report/subject.hpp"
#include "io/report/varied_worth.hpp"
#include "io/results/plan_results.hpp"
#include "io/scenario/variants.hpp"
#include "io/toml/date.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

using Json = nlohmann::json;

/// Seven digits are more than a page shows. What is not finite is null, as JSON has no infinity.
Json number(double value)
{
    return json_number(std::isfinite(value) ? std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr)
                                            : value);
}

Json estimate(const Estimate& e) { return {number(e.value), number(e.low), number(e.high)}; }

template <class Column>
Json named(const Column& column)
{
    return {{"name", column.name}, {"units", column.units}, {"long_name", column.long_name}};
}

Json quantiles(const std::vector<double>& values)
{
    Json list = Json::array();
    for (const double value : values) {
        list.push_back(number(value));
    }
    return list;
}

Json completion_json(const FrontPoint& point, const StudyNotes& notes)
{
    Json list = Json::array();
    for (const Completion& done : completions(point, notes.start)) {
        list.push_back(
            {{"quantile", done.quantile},
             {"seconds", number(done.exact.seconds)},
             {"date", done.exact.date},
             {"with_error", {{"seconds", number(done.with_error.seconds)}, {"date", done.with_error.date}}}});
    }
    return list;
}

/// How well runs of the study's kinds of networks were predicted by fits without them.
Json accuracy_json(const Results& results)
{
    Json list = Json::array();
    for (const KindAccuracy& of : study_accuracy(results)) {
        Json json{{"kind", of.kind},
                  {"machine", of.machine},
                  {"accelerator", of.accelerator},
                  {"stack", of.stack},
                  {"on_machine", Json::array()},
                  {"others",
                   {{"rows", of.other_rows},
                    {"error", of.others.error},
                    {"inside", of.others.inside},
                    {"half_width", of.others.half_width}}}};
        for (const HeldOutErrors& family : of.on_machine) {
            json["on_machine"].push_back({{"name", fmt::format("{}: {}", family.source, family.line)},
                                          {"rows", family.rows},
                                          {"error", family.held_out.error},
                                          {"bias", family.bias},
                                          {"inside", family.held_out.inside},
                                          {"half_width", family.held_out.half_width}});
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json lines_json(const std::vector<QuestionLine>& lines)
{
    Json list = Json::array();
    for (const QuestionLine& line : lines) {
        list.push_back({line.title, line.text});
    }
    return list;
}

Json sizes_json(const Results& results, const StudyNotes& notes)
{
    Json list = Json::array();
    for (const QuestionedPlan& plan : plans_by_size(results, notes)) {
        list.push_back({{"id", std::to_string(plan.plan->index)},
                        {"probability", number(plan.probability)},
                        {"shown", tabulated_text(plan.probability)},
                        {"seconds", number(plan.in_time_s)},
                        {"date", notes.start ? end_date(*notes.start, plan.in_time_s) : ""},
                        {"within_limits", plan.within_limits}});
    }
    return list;
}

/// At the reported probabilities, given the model error; empty: unknown.
Json quantiles_with_error(const FrontPoint& point)
{
    Json list = Json::array();
    for (const double probability : reported_probabilities) {
        if (const double seconds = time_kept_with(probability, point); std::isfinite(seconds)) {
            list.push_back(number(seconds));
        }
    }
    return list;
}

/// Break-evens of knobs: a table and its figure.
Json varied_parameters_json(const Results& results)
{
    const VariedWorths found = varied_worths(results);
    const auto cells = varied_worth_cells(found);
    return {{"cells", cells},
            {"notes", varied_worth_notes(found)},
            {"svg", cells.empty() ? "" : figures_svg(report_figures(results, {.figure = "break-even"}))}};
}

Json choices_json(const ChoiceTable& table)
{
    return {{"title", table.title}, {"cells", table.cells}, {"note", table.note}};
}

/// Of missing the limit of the time; null: there is none, or it is unknown.
Json risk_json(const FrontPoint& point, const StudyNotes& notes)
{
    const auto risk = deadline_risk(point, asked_limit(notes));
    const std::string exact = asked_limit(notes).si > 0.0 ? exact_risk_text(point, notes) : "";
    if (!risk && exact.empty()) {
        return nullptr;
    }
    Json json{{"exact", exact}};
    if (risk) {
        json.update({{"mean", risk->mean},
                     {"shown", risk_with_error_text(*risk)},
                     {"text", deadline_risk_text(*risk)}});
    }
    return json;
}

/// `design`: the plan without its variant, which has a column of its own.
Json front_point(const Results& results, const FrontPoint& point, const StudyNotes& notes)
{
    Json json{{"id", std::to_string(point.index)},
              {"plan", plan_words(results, point)},
              {"design", plan_words(results, point, variant_axis)},
              {"variant", axis_label(results, point.point, variant_axis).value_or("")},
              {"gpus", point.prediction.gpus},
              {"dominated", point.dominated},
              {"draws", point.prediction.draws},
              {"completion", completion_json(point, notes)},
              {"labels", Json::array()},
              {"objectives", Json::array()}};
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        json["labels"].push_back(results.axes[a].labels.at(static_cast<std::size_t>(point.point.at(a))));
    }
    for (std::size_t k = 0; k < point.objectives.size(); ++k) {
        json["objectives"].push_back(estimate(stated(results.objectives.at(k).name, point.objectives[k])));
    }
    for (const auto& column : plan_results<Estimate>()) {
        json["estimates"][std::string(column.name)] = estimate(stated(column.name, column.of(point)));
    }
    for (const auto& column : plan_results<double>()) {
        json["numbers"][std::string(column.name)] = number(column.of(point));
    }
    json["model_error_source"] = model_error_source(point.model_fitted > 0.0);
    json["power_w"] = number(power_of(point.prediction));
    json["risk"] = risk_json(point, notes);
    json["quantiles"] = {{"step_time", quantiles(point.prediction.step.quantiles)},
                         {"training_time", quantiles(point.prediction.training.quantiles)},
                         {"with_error", quantiles_with_error(point)}};
    return json;
}

/// Of the numbers of GPUs on the front, in the first objective that is proportional to the step time.
Json contests_of(const Results& results)
{
    Json list = Json::array();
    const std::vector<Contest> all = contests(results.posterior);
    for (const Contest& contest : all) {
        const bool on_front =
            std::any_of(results.front.begin(), results.front.end(),
                        [&](const FrontPoint& point) { return point.prediction.gpus == contest.gpus; });
        if (!on_front || contest.objective != all.front().objective) {
            continue;
        }
        const ObjectiveInfo& objective = results.objectives[static_cast<std::size_t>(contest.objective)];
        Json json{{"gpus", contest.gpus},
                  {"units", objective.units},
                  {"long_name", objective.long_name},
                  {"contenders", contest.plans.size()},
                  {"shortlist", contest.shortlist.size()},
                  {"cover", contest.shortlist.empty() ? 0.0 : contest.shortlist.back()->cover},
                  {"plans", Json::array()}};
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < std::min(most, contest.plans.size()); ++i) {
            const PlanChance& chance = *contest.plans[i];
            const auto row = std::lower_bound(
                results.evaluations.begin(), results.evaluations.end(), chance.index,
                [](const EvaluatedPoint& point, std::uint64_t index) { return point.index < index; });
            if (row == results.evaluations.end() || row->index != chance.index) {
                continue;  // of a merged or hand-made file
            }
            FrontPoint named;
            named.point = row->point;
            named.prediction.gpus = chance.gpus;
            json["plans"].push_back({{"plan", plan_words(results, named)},
                                     {"value", chance.value},
                                     {"low", number(chance.low)},
                                     {"high", number(chance.high)},
                                     {"best", chance.best},
                                     {"regret", chance.regret},
                                     {"fits", chance.fits}});
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json progress(const Results& results)
{
    constexpr std::size_t most = 2000;  // more than a chart is wide
    const std::size_t stride = results.progress.size() / most + 1;
    Json json{{"evaluations", Json::array()},
              {"draws", Json::array()},
              {"hypervolume", Json::array()},
              {"elapsed", Json::array()}};
    for (std::size_t i = 0; i < results.progress.size(); ++i) {
        if (i % stride == 0 || i + 1 == results.progress.size()) {
            json["evaluations"].push_back(results.progress[i].evaluations);
            json["draws"].push_back(results.progress[i].draws);
            json["hypervolume"].push_back(number(results.progress[i].hypervolume));
            json["elapsed"].push_back(number(results.progress[i].elapsed_s));
        }
    }
    return json;
}

Json trust(const Results& results)
{
    const StudyInfo& study = results.study;
    const StudyEffort effort = study_effort(results);
    Json json{{"outcome", study.outcome_text},
              {"proved", study.outcome.proved},
              {"confidence", study.outcome.confidence},
              {"pruned", study.outcome.pruned},
              {"open", study.outcome.open},
              {"evaluated", effort.evaluated},
              {"draws", effort.draws},
              {"confirming", effort.confirming},
              {"strategy", study.strategy},
              {"seed", std::to_string(study.seed)},
              {"program", build_text(study.build)},
              {"created", study.created},
              {"command_line", study.command_line},
              {"job_id", study.job_id},
              {"scenario_path", study.scenario_path},
              {"scenario_text", study.scenario_text},
              {"threads", results.threads},
              {"ranks", Json::array()}};
    for (const RankWork& rank : results.ranks) {
        json["ranks"].push_back({rank.items, number(rank.busy_s), number(rank.idle_s)});
    }
    return json;
}

/// The page reads quantities in the units of texts.
Json units_json()
{
    Json json = Json::object();
    for (const ReadingRow& row : reading_rows()) {
        json[std::string(row.units)].push_back({std::string(row.name), row.from, row.size});
    }
    return json;
}

Json figures_json(const RunFigures& run)
{
    return {{"p99", number(run.training_p99.value)},
            {"p99_low", number(run.training_p99.low)},
            {"p99_high", number(run.training_p99.high)},
            {"p50", number(run.training_p50_s)},
            {"cost", number(run.cost_usd)},
            {"energy", number(run.energy_j)}};
}

Json curve_json(const std::vector<RunCurvePoint>& curve)
{
    Json list = Json::array();
    for (const RunCurvePoint& point : curve) {
        list.push_back(figures_json(point.run));
        list.back()["at"] = number(point.at);
    }
    return list;
}

/// What a run changes of the plan's figures, named as the file of `sensitivity --json` names them.
Json run_json(const RunEffects& study)
{
    const auto named_figures = [](const RunFigures& run) {
        return std::array<std::pair<const char*, double>, 4>{{{"training_p99", run.training_p99.value},
                                                              {"training_p50", run.training_p50_s},
                                                              {"cost", run.cost_usd},
                                                              {"energy", run.energy_j}}};
    };
    Json json{{"draws", study.draws},
              {"between_failures_s", number(study.between_failures_s)},
              {"interval_s", number(study.interval_s)},
              {"young_s", number(study.young_s)},
              {"optimal_s", number(study.optimal_s)},
              {"spare_nodes", study.spare_nodes < 0 ? Json() : Json(study.spare_nodes)},
              {"interval", curve_json(study.interval)},
              {"spares", curve_json(study.spares)},
              {"spares_note", study.spares_note},
              {"break_even", Json::array()},
              {"effects", Json::array()}};
    for (const BreakEven& other : study.break_even) {
        json["break_even"].push_back(
            {{"other", other.other}, {"factor", number(other.factor)}, {"less_above", other.less_above}});
    }
    const auto plan = named_figures(study.plan);
    for (const auto& [name, value] : plan) {
        json["plan"][name] = number(value);
    }
    for (const RunEffect& effect : study.effects) {
        Json changes;
        const auto changed = named_figures(effect.run);
        for (std::size_t f = 0; f < plan.size(); ++f) {
            changes[plan[f].first] = {
                {"change", number(changed[f].second - plan[f].second)}, {"low", Json()}, {"high", Json()}};
        }
        json["effects"].push_back(
            {{"kind", effect.kind}, {"name", effect.name}, {"change", std::move(changes)}});
    }
    return json;
}

Json named_json(const Results& results)
{
    const NamedPoints named = named_points(results);
    const auto id = [&results](const std::optional<std::size_t>& position) {
        return position ? Json(std::to_string(results.front[*position].index)) : Json();
    };
    return {{"best", id(named.best)}, {"knee", id(named.knee)}, {"cheapest", id(named.cheapest)}};
}

/// By its position in shown_plans().
Json& shown_plan(Json& study, std::size_t position)
{
    const std::size_t on_front = study["front"].size();
    return position < on_front ? study["front"][position] : study["off_front"][position - on_front];
}

/// "3 of 12: hardware cannot be built (...): ...; raise memory. 1 of 12: ..."; empty if none is excluded.
std::string excluded_variants(const VariantCounts& counts)
{
    std::string text;
    for (const ExcludedVariants& of : counts.excluded) {
        text += fmt::format("{}{} of {}: {}", text.empty() ? "" : ". ", of.count, counts.combinations,
                            excluded_text(of));
    }
    return text;
}

/// What the page says beside its tables and charts.
void add_notes(const Results& results, const StudyNotes& notes, Json& json)
{
    json["step_of"] = of_first_phase(notes.phases);
    json["phases_note"] = first_phase_text(notes.phases);
    json["energy_note"] = notes.energy;
    json["question"] = lines_json(question_lines(results, notes));
    json["changes"] = lines_json(answer_changes(results, notes));
    json["sizes"] = sizes_json(results, notes);
    json["asked_probability"] = notes.question ? notes.question->probability : Question{}.probability;
    json["limit_s"] = asked_limit(notes).si > 0.0 ? number(asked_limit(notes).si) : Json();
    json["mixtures_note"] = notes.moe_note;
    json["price"] = notes.price;
    json["placeholder_price"] = notes.price_origin == FigureOrigin::placeholder;
    json["price_given"] = name(notes.price_origin);
    json["power_given"] = name(notes.power_origin);
    json["power_of"] = notes.power;
    json["electricity"] = notes.electricity;
    json["placeholder_power"] = notes.power_origin == FigureOrigin::placeholder;
    json["software"] = notes.software;
    json["omitted"] = notes.omitted;
    json["own_entries"] = notes.own_entries;
    json["excluded_variants"] = excluded_variants(notes.variants);
    json["job"] = job_json(notes);
    json["batches"] = choices_json(notes.batch_table);
    json["numerics"] = choices_json(notes.numerics);
    json["apart"] = choices_json(notes.local_updates);
}

/// The plans of the page: the front, the subject where it is not on the front, and plans that may not fit.
void add_plans(const Results& results, const StudyNotes& notes, Json& json)
{
    const std::vector<const FrontPoint*> plans = shown_plans(results);
    const std::vector<std::vector<std::uint64_t>> tied = ties(results.front);
    json["front"] = Json::array();
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        json["front"].push_back(front_point(results, results.front[i], notes));
        for (const std::uint64_t other : tied[i]) {
            json["front"].back()["ties_with"].push_back(std::to_string(other));
        }
    }
    if (const auto subject = subject_of(results, notes)) {
        json["subject"] = {{"id", std::to_string(subject->plan->index)},
                           {"reason", name(subject->reason)},
                           {"title", subject_title(*subject, results)}};
    }
    json["off_front"] = Json::array();
    for (std::size_t i = results.front.size(); i < plans.size(); ++i) {
        json["off_front"].push_back(front_point(results, *plans[i], notes));
    }
    json["may_not_fit"] = {{"outcome", results.may_not_fit.outcome}, {"plans", Json::array()}};
    for (const FrontPoint& point : results.may_not_fit.plans) {
        json["may_not_fit"]["plans"].push_back(front_point(results, point, notes));
    }
}

Json study_json(const ReportedStudy& study)
{
    const Results& results = study.results;
    Json json{{"name", study.name},           {"file", study.file},
              {"objectives", Json::array()},  {"axes", Json::array()},
              {"space", space_json(results)}, {"progress", progress(results)},
              {"trust", trust(results)},      {"contests", contests_of(results)}};
    json["provisional"] = results.provisional;
    if (!study.sensitivity.empty()) {
        json["sensitivity"] = Json::parse(study.sensitivity);
        json["sensitivity"]["point"] = std::to_string(study.sensitivity_point);
    }
    json["title"] = job_title(results);
    json["quantiles_of"] = quantiles_of(results.study.nodes_known);
    json["population"] = population(results.study.nodes_known);
    json["accuracy"] = accuracy_json(results);
    json["named"] = named_json(results);
    json["machines"] = Json::parse(machines_json(results).dump());
    json["machine_text"] = has_machines(results) ? best_machine_text(results) : "";
    json["knobs"] = varied_parameters_json(results);
    for (const ObjectiveInfo& objective : results.objectives) {
        json["objectives"].push_back(named(objective));
    }
    for (const Axis& axis : results.axes) {
        json["axes"].push_back({{"name", axis.name}, {"labels", axis.labels}});
    }
    const StudyNotes notes = study_notes(results);
    add_notes(results, notes, json);
    add_plans(results, notes, json);
    for (const RunEffects& run : study.runs) {
        shown_plan(json, run.position)["run"] = run_json(run);
    }
    return json;
}

/// In order of the front while they fit; the remainder of `most_bytes` shrinks.
void add_timelines(const ReportedStudy& study, Json& json, std::size_t& most_bytes)
{
    std::size_t omitted_plans = 0;
    for (std::size_t i = 0; i < study.timelines.size(); ++i) {
        const StepTimeline& timeline = study.timelines[i];
        if (timeline.events.empty()) {
            continue;
        }
        std::string packed = packed_timeline(timeline.events, timeline.step_s);
        if (packed.size() > most_bytes) {
            ++omitted_plans;
            continue;
        }
        most_bytes -= packed.size();
        shown_plan(json, i)["timeline"] = {
            {"stages", timeline.stages}, {"step_s", number(timeline.step_s)}, {"events", std::move(packed)}};
    }
    json["placement"] = study.placement;
    json["levers"] = study.levers;
    json["host"] = study.host;
    std::string note = study.timeline_note;
    if (omitted_plans > 0) {
        note += fmt::format(
            "{}{} {} too many operations for this page; prismopt predict --timeline writes their steps.",
            note.empty() ? "" : " ", counted(omitted_plans, "plan"), omitted_plans == 1 ? "has" : "have");
    }
    json["timeline_note"] = note;
}

}  // namespace

nlohmann::json page_data(const std::vector<ReportedStudy>& studies, const std::string& program,
                         const Comparison& comparison, std::size_t most_bytes)
{
    constexpr double cloud_share = 0.85;  // of what fronts leave; timelines take the rest
    Json json{{"program", program},
              {"units", units_json()},
              {"probabilities", reported_probabilities},
              {"estimates", Json::array()},
              {"numbers", Json::array()},
              {"comparison",
               {{"gains", comparison.gains},
                {"hypervolumes", comparison.hypervolumes},
                {"differences", comparison.differences},
                {"pairs", pair_rows(comparison.pairs)},
                {"studies", compared_studies(comparison)}}},
              {"studies", Json::array()}};
    for (const auto& column : plan_results<Estimate>()) {
        json["estimates"].push_back(named(column));
        json["estimates"].back()["follows_model"] = column.facts.follows_model;
    }
    for (const auto& column : plan_results<double>()) {
        json["numbers"].push_back(named(column));
        json["numbers"].back()["decimals"] = column.facts.style.digits;  // of percentages
    }
    for (const ReportedStudy& study : studies) {
        json["studies"].push_back(study_json(study));
    }
    const auto left = [&] {
        const std::size_t taken = json.dump().size();
        return taken < most_bytes ? most_bytes - taken : 0;
    };
    const auto cloud_bytes =
        static_cast<std::size_t>(cloud_share * static_cast<double>(left())) / studies.size();
    for (std::size_t s = 0; s < studies.size(); ++s) {
        json["studies"][s]["cloud"] = packed_cloud(studies[s].results, cloud_bytes);
    }
    std::size_t timeline_bytes = left();
    for (std::size_t s = 0; s < studies.size(); ++s) {
        add_timelines(studies[s], json["studies"][s], timeline_bytes);
    }
    return json;
}

}  // namespace prismopt

#include "optimizer/api/reports.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/named_points.hpp"
#include "io/report/machine_report.hpp"
#include "io/report/placement_text.hpp"
#include "io/report/subject.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/toml/nearest.hpp"
#include "model/plan/phase.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/improve/single_changes.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/host_wait.hpp"
#include "optimizer/study/run_effects.hpp"
#include "optimizer/study/stored_study.hpp"
#include "optimizer/study/study_front.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace prismopt {

namespace {

StepTimeline timeline_of(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler(setting_of(problem, problem.phases.front()));
    const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    if (std::holds_alternative<Infeasible>(compiled)) {
        return {};
    }
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    StepTimeline timeline{mean_timeline(graph), graph.stages(), 0.0};
    for (const TimelineEvent& event : timeline.events) {
        timeline.step_s = std::max(timeline.step_s, event.end_s);
    }
    return timeline;
}

void add_timelines(StoredStudy& stored, ReportedStudy& study)
{
    for (const FrontPoint* point : shown_plans(study.results)) {
        const Point where = stored.space().point(point->index);
        study.timelines.push_back(timeline_of(stored.problem(where), stored.plan(where)));
    }
}

/// Adds the run studies of the subject and the named points; not for a provisional front, which
/// was estimated from other draws.
void add_runs(StoredStudy& stored, ReportedStudy& study)
{
    const std::vector<const FrontPoint*> plans = shown_plans(study.results);
    std::vector<std::size_t> studied = positions(named_points(study.results));
    if (const auto subject = subject_of(study.results, study_notes(study.results))) {
        const auto at = std::find(plans.begin(), plans.end(), subject->plan);
        std::erase(studied, static_cast<std::size_t>(at - plans.begin()));
        studied.insert(studied.begin(), static_cast<std::size_t>(at - plans.begin()));
    }
    for (const std::size_t position : studied) {
        const Point where = stored.space().point(plans[position]->index);
        study.runs.push_back(run_effects(stored.problem(where), stored.plan(where),
                                         stored.scenario().search.confirm,
                                         stored.sampler({Purpose::confirm})));
        study.runs.back().position = position;
    }
}

std::string placement_of(StoredStudy& stored, std::uint64_t index)
{
    const Point point = stored.space().point(index);
    const Problem& problem = stored.problem(point);
    const Phase& phase = problem.phases.front();
    return placement_text({plan_in_phase(stored.plan(point), phase), phase, problem},
                          order_origin(stored.scenario()));
}

/// "plan 229 and 3 others: ...", for each note that plans of the front have.
std::string placements(StoredStudy& stored, const Results& results)
{
    std::vector<std::pair<std::string, std::vector<std::uint64_t>>> notes;  // in the order of the front
    for (const FrontPoint* point : shown_plans(results)) {
        const std::string note = placement_of(stored, point->index);
        if (note.empty()) {
            continue;
        }
        const auto same = std::find_if(notes.begin(), notes.end(),
                                       [&note](const auto& known) { return known.first == note; });
        if (same == notes.end()) {
            notes.push_back({note, {point->index}});
        } else {
            same->second.push_back(point->index);
        }
    }
    std::string text;
    for (const auto& [note, plans] : notes) {
        const std::size_t others = plans.size() - 1;
        const std::string more =
            others > 0 ? fmt::format(" and {} other{}", others, others == 1 ? "" : "s") : "";
        text += fmt::format("{}plan {}{}: {}", text.empty() ? "" : ". ", plans.front(), more, note);
    }
    return text;
}

/// "dispatch (deepep: step about 8 % shorter); without a gain of 1 %: cp", of the
/// noise-free step of the subject.
std::string levers_text(StoredStudy& stored, const Results& results)
{
    const auto subject = subject_of(results, study_notes(results));
    if (!subject) {
        return "";
    }
    const Point point = stored.space().point(subject->plan->index);
    std::vector<std::string> gains;
    std::vector<std::string> others;
    for (const HeldLever& lever : held_levers(stored.plan(point), stored.scenario(), stored.problem(point))) {
        if (lever.best.empty()) {
            others.push_back(lever.axis);
        } else {
            gains.push_back(fmt::format("{} ({}: step of plan {} about {} shorter)", lever.axis,
                                        lever.best.substr(lever.axis.size() + 1), subject->plan->index,
                                        percent_text(lever.saved, 0)));
        }
    }
    std::string text = fmt::format("{}", fmt::join(gains, ", "));
    if (!others.empty()) {
        text +=
            fmt::format("{}without a gain of 1 %: {}", gains.empty() ? "" : "; ", fmt::join(others, ", "));
    }
    return text;
}

/// "plan 229: ...", of the subject.
std::string host_waits(StoredStudy& stored, const Results& results)
{
    const auto subject = subject_of(results, study_notes(results));
    if (!subject) {
        return "";
    }
    const std::uint64_t index = subject->plan->index;
    const Point point = stored.space().point(index);
    const std::string note = host_text(stored.problem(point), stored.plan(point));
    return note.empty() ? "" : fmt::format("plan {}: {}", index, note);
}

/// Adds an output of `sensitivity --json`. Throws InputError if the file is something else,
/// or its plan is not on the front.
void add_sensitivity(ReportedStudy& study, const std::string& path)
{
    const auto refuse = [&path](const std::string& why) {
        throw InputError(
            fmt::format("--sensitivity {} {}; write one with: prismopt sensitivity SCENARIO --design \"...\" "
                        "--json > FILE.json",
                        path, why));
    };
    const std::string text = read_text(path);
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    const bool whole = json.is_object() && json.contains("design") && json["design"].is_string() &&
                       json.contains("effects") && json["effects"].is_array() && json.contains("plan") &&
                       json.contains("scenario") && json.contains("seed");
    if (!whole) {
        refuse("is not an output of sensitivity --json");
    }
    const std::string design = json["design"];
    StoredStudy stored(study.results);
    if (!stored.scenario().choices.empty()) {
        throw InputError(
            fmt::format("--sensitivity {}: this study varies the hardware or the network, and the page shows "
                        "the sensitivity only for "
                        "studies "
                        "with one of each; write the plan's hardware into [cluster] and its network into "
                        "[workload], remove [[knob]] and "
                        "workload in [space], and search that scenario",
                        path));
    }
    if (json["scenario"] != study.results.study.scenario_text || json["seed"] != study.results.study.seed) {
        refuse("belongs to another scenario or seed than these results");
    }
    json.erase("scenario");  // the page has it
    std::string designs;
    for (const FrontPoint& point : study.results.front) {
        const std::string other =
            design_text(stored.plan(stored.space().point(point.index)), stored.scenario().space);
        if (other == design) {
            study.sensitivity = json.dump();
            study.sensitivity_point = point.index;
            return;
        }
        designs += "\n  " + other;
    }
    throw InputError(fmt::format(
        "--sensitivity {} describes a plan that is not on the front ({}); the plans of the front are:{}",
        path, design, designs));
}

}  // namespace

std::string html_report(const Results& results, const std::string& file, const std::string& sensitivity)
{
    ReportedStudy study = reported_study(results, file);
    if (!sensitivity.empty()) {
        add_sensitivity(study, sensitivity);
    }
    Comparison machines;
    if (!results.front.empty()) {
        machines.pairs = compared_pairs({{file, results, ""}});
    }
    return report_page({std::move(study)}, program_name(), machines);
}

ReportedStudy reported_study(const Results& results, const std::string& file)
{
    ReportedStudy study;
    study.results = results;
    study.name = results.study.scenario_name;
    study.file = file;
    try {
        StoredStudy stored(results);
        study.placement = placements(stored, results);
        study.levers = levers_text(stored, results);
        study.host = host_waits(stored, results);
        add_timelines(stored, study);
        if (!results.provisional) {
            add_runs(stored, study);
        }
    } catch (const InputError& error) {
        study.timelines.clear();
        study.timeline_note = std::string(
                                  "Steps are not shown, because this version of prismopt cannot read the "
                                  "scenario of these results: ") +
                              error.what();
    }
    return study;
}

Question asked_question(const Results& results, const std::string& keys)
{
    return read_question(keys, "--question", scenario_of(results.study).start);
}

FrontPoint asked_subject(const Results& results, std::int64_t number)
{
    if (const FrontPoint* listed =
            number < 0 ? nullptr : listed_plan(results, static_cast<std::uint64_t>(number))) {
        return *listed;
    }
    StoredStudy stored(results);
    const std::uint64_t index = point_number(results, stored, number);
    const Point where = stored.space().point(index);
    const ParallelPlan plan = stored.plan(where);
    const Problem& problem = stored.problem(where);
    if (const auto why = structural_problem(plan, problem)) {
        throw infeasible_point(index, *why);
    }
    Predictor predictor(problem);
    const auto compiled = predictor.compile(plan);
    if (const auto* why = std::get_if<Infeasible>(&compiled)) {
        throw infeasible_point(index, *why);
    }
    const auto& run = std::get<CompiledRun>(compiled);
    const Rung& rung = stored.scenario().search.confirm;
    const SamplerOptions sampler = stored.sampler({Purpose::confirm});  // the draws of the front
    const PhaseDraws draws = predictor.sample(run, {0, rung.fleets, rung.steps}, sampler);
    FrontPoint point = front_point(stored.model(), index,
                                   predictor.summarise(run, draws, rung.steps, sampler, Confidence{}));
    FrontDetails(stored.model()).add(point);
    point.point = Space(results.axes, {}).point(index);  // older files have fewer axes
    return point;
}

std::string text_with_placements(const Results& results)
{
    std::string text = text_report(results);
    if (has_machines(results)) {
        return text;
    }
    try {
        StoredStudy stored(results);
        if (const std::string notes = placements(stored, results); !notes.empty()) {
            text += fmt::format("\nPlacement: {}.\n", notes);
        }
        if (const std::string host = host_waits(stored, results); !host.empty()) {
            text += fmt::format("\nHost: {}.\n", host);
        }
        if (const std::string levers = levers_text(stored, results); !levers.empty()) {
            text +=
                fmt::format("\nHeld at one value by [space], so that no other was searched: {}.\n", levers);
        }
    } catch (const InputError&) {
        // of another version, which the text does not need
    }
    return text;
}

std::string comparison_page(const std::vector<NamedResults>& studies)
{
    // beyond, a page has no room for their steps, and takes a second of each study
    constexpr std::size_t most_in_detail = 8;
    const std::vector<std::string> names = study_names(studies);
    std::vector<ReportedStudy> reported;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        ReportedStudy study;
        if (studies.size() <= most_in_detail) {
            study = reported_study(studies[s].results, studies[s].file);
        } else {
            study.results = studies[s].results;
            study.file = studies[s].file;
            study.timeline_note = fmt::format(
                "Steps are shown on pages of up to {} studies; prismopt report --html shows those of one.",
                most_in_detail);
        }
        study.name = names[s];
        reported.push_back(std::move(study));
    }
    return report_page(reported, program_name(), compared(studies, compared_pairs(studies)));
}

namespace {

std::string objectives_of(const Results& results)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        names.push_back(objective.name);
    }
    std::sort(names.begin(), names.end());
    return listed(names);
}

}  // namespace

void share_objectives(std::vector<NamedResults>& studies, OtherObjectives others)
{
    if (studies.empty()) {
        throw InputError({}, "there are no results to compare", "give 2 or more");
    }
    const std::vector<std::string> common = common_objectives(studies);
    if (others == OtherObjectives::refused) {
        const std::string first = objectives_of(studies.front().results);
        for (const NamedResults& study : studies) {
            if (const std::string other = objectives_of(study.results); other != first) {
                throw InputError(
                    fmt::format("{} minimises {}, and {} minimises {}: fronts with different objectives "
                                "cannot be compared; add "
                                "--common to compare only the objectives that all results share",
                                studies.front().file, first, study.file, other));
            }
        }
    }
    if (common.empty()) {
        throw InputError("the results have no objective in common; search again with a shared objective");
    }
    for (NamedResults& study : studies) {
        study.results = with_objectives(std::move(study.results), common);
    }
}

}  // namespace prismopt

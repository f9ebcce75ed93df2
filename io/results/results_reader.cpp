#include "io/base/checksum.hpp"
#include "io/base/input_error.hpp"
#include "io/results/checked_rows.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/outcome_names.hpp"
#include "io/results/plan_results.hpp"
#include "io/results/results_file.hpp"
#include "io/results/results_schema.hpp"
#include "io/results/stored_scenario.hpp"
#include "io/words/rejected_text.hpp"
#include "model/objective.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr Allowed anything{-infinity, infinity, true};
constexpr Allowed not_negative{};
constexpr Allowed truth{0.0, 1.0};
constexpr double most_rungs = 1000.0;

/// Tuples of the space.
Allowed index_of(const Results& results) { return {0.0, static_cast<double>(results.raw_tuples) - 1.0}; }

/// The order that a scenario without one meant to the program that wrote the file.
PlacementOrder default_order(const Hdf5Object& root)
{
    if (!root.has("default_order")) {  // since schema 1.9
        return PlacementOrder::tp_pp_dp;
    }
    const auto text = root.get<std::string>("default_order");
    const auto order = parse<PlacementOrder>(text);
    if (!order) {
        throw std::runtime_error(fmt::format("attribute default_order is {}; expected one of {}", text,
                                             choices<PlacementOrder>()));
    }
    return *order;
}

void read_root(const Hdf5Object& root, StudyInfo& study)
{
    study.build.version = root.get<std::string>("program_version");
    study.build.commit = root.get<std::string>("git_commit");
    // catalog_digest: since schema 1.15.
    study.build.catalog = root.has("catalog_digest") ? root.get<std::string>("catalog_digest") : "";
    study.created = root.get<std::string>("created");
    study.command_line = root.get<std::string>("command_line");
    study.job_id = root.get<std::string>("job_id");
    study.seed = root.get<std::uint64_t>("seed");
    study.scenario_name = root.get<std::string>("scenario_name");
    study.scenario_path = root.get<std::string>("scenario_path");
    study.scenario_text = root.get_document("scenario_toml");
    study.default_order = default_order(root);
    if (root.has("learned")) {  // since schema 1.6
        study.learned = root.get<std::string>("learned");
        study.learned_digest = root.get<std::string>("learned_digest");
    }
    study.nodes_known =
        root.has("quantiles_of") && root.get<std::string>("quantiles_of") == quantiles_of(true);  // since 1.1
}

void read_study(const Hdf5Object& group, StudyInfo& study)
{
    study.strategy = group.get<std::string>("strategy");
    study.outcome_text = group.get<std::string>("outcome");
    // Since schema 1.19. Names of newer versions are unknown.
    study.ends_known = group.has("method") && group.has("stopped_by");
    if (study.ends_known) {
        study.outcome.method =
            parse<SearchMethod>(group.get<std::string>("method")).value_or(SearchMethod::exact);
        study.outcome.complete = number_attribute<std::int8_t>(group, "complete", truth) != 0;
        study.outcome.end = parse<SearchEnd>(group.get<std::string>("end")).value_or(SearchEnd::none);
        study.stopped_by = group.get<std::string>("stopped_by");
    }
    study.outcome.proved = number_attribute<std::int8_t>(group, "proved", truth) != 0;
    study.outcome.confidence = number_attribute<double>(group, "confidence", truth);
    study.outcome.pruned = group.get<std::uint64_t>("pruned");
    study.outcome.open = group.get<std::uint64_t>("open");
    // unchecked: since schema 1.8.
    study.outcome.unchecked = group.has("unchecked") ? group.get<std::uint64_t>("unchecked") : 0;
    if (group.has("excluded_by")) {  // since schema 1.8
        const auto counts = group.get_list<std::uint64_t>("excluded_by");
        std::copy_n(counts.begin(), std::min(counts.size(), bound_kinds), study.outcome.excluded_by.begin());
    }
    if (group.has("evaluated")) {  // since schema 1.1
        study.outcome.evaluated = group.get<std::uint64_t>("evaluated");
        study.space_parts = number_attribute<std::int32_t>(group, "parts", {.least = 1.0});
        study.held = group.get_list<std::int32_t>("part");
        for (const int space_part : study.held) {
            check_allowed("attribute part", space_part, {1.0, static_cast<double>(study.space_parts)});
        }
    }
}

void read_space(const Hdf5Object& root, Results& results)
{
    const Rows<Rejected> rows(root, "space", results.rejected);
    const Hdf5Object& group = rows.group();
    results.raw_tuples = group.get<std::uint64_t>("raw_tuples");
    const Allowed count_of_tuples{0.0, static_cast<double>(results.raw_tuples)};
    results.feasible = number_attribute<std::uint64_t>(group, "feasible", count_of_tuples);
    for (const std::string& name : group.get_list<std::string>("axes")) {
        const bool ordered = group.open(name).get<std::int8_t>("ordered") != 0;
        results.axes.push_back(
            Axis{.name = name, .ordered = ordered, .labels = group.read<std::string>(name)});
    }
    rows.resize("rejected");
    rows.column<std::string>("rejected", {},
                             [](Rejected& r, const std::string& reason) { r.reason = reason; });
    rows.column<std::uint64_t>("rejected_count", count_of_tuples,
                               [](Rejected& r, std::uint64_t count) { r.count = count; });
    rows.column<double>("rejected_miss", not_negative, [](Rejected& r, double miss) { r.miss = miss; });
    rows.column<std::string>("rejected_nearest", {},
                             [](Rejected& r, const std::string& nearest) { r.nearest = nearest; });
    if (group.has_dataset("rejected_facts")) {  // since schema 1.19
        rows.column<std::string>("rejected_facts", {}, [](Rejected& r, const std::string& facts) {
            Rejected of_facts = r;
            of_facts.nearest = facts;
            if (nearest_miss(of_facts)) {
                r.nearest = facts;
            }
        });
    }
}

template <class Row>
void read_axes(const Rows<Row>& rows, const std::vector<Axis>& axes)
{
    for (const Axis& axis : axes) {
        const auto numbers = numeric_labels(axis);
        rows.template column<std::int32_t>(axis.name, anything, [&](Row& row, std::int32_t stored) {
            const auto position =
                numbers ? std::find(numbers->begin(), numbers->end(), stored) - numbers->begin() : stored;
            if (position < 0 || static_cast<std::size_t>(position) >= axis.labels.size()) {
                throw std::runtime_error(fmt::format("axis {} has no label for {}", axis.name, stored));
            }
            row.point.push_back(static_cast<int>(position));
        });
    }
}

Allowed allowed_of(const ObjectiveInfo& objective)
{
    const Objective* known = find_objective(objective.name);
    Allowed allowed = known != nullptr && known->share ? allowed_share : allowed_in(objective.units);
    allowed.absent = true;
    return allowed;
}

/// Rows whose objectives are all NaN have none.
template <class Row>
void read_objectives(const Rows<Row>& rows, std::vector<Row>& points,
                     const std::vector<ObjectiveInfo>& objectives)
{
    for (Row& point : points) {
        point.objectives.resize(objectives.size());
    }
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        rows.estimates(objective_column(objectives[k].name), allowed_of(objectives[k]),
                       [k](Row& row) -> Estimate& { return row.objectives[k]; });
    }
    for (Row& point : points) {
        const auto absent = std::count_if(point.objectives.begin(), point.objectives.end(),
                                          [](const Estimate& e) { return std::isnan(e.value); });
        if (static_cast<std::size_t>(absent) == objectives.size()) {
            point.objectives.clear();
        } else if (absent > 0) {
            throw std::runtime_error(fmt::format("point {} has only some of its objectives", point.index));
        }
    }
}

/// Nothing where it was written for another version of this program.
std::optional<Scenario> readable_scenario(const StudyInfo& study)
{
    try {
        return scenario_of(study);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// A race doubles its fleets from the first rung of the scenario to the last.
double highest_rung(const SearchSettings& search)
{
    const double doublings =
        std::ceil(std::log2(static_cast<double>(search.rungs.back().fleets) / search.rungs.front().fleets));
    return std::max(static_cast<double>(search.rungs.size()), 1.0 + doublings);
}

void read_evaluations(const Hdf5Object& root, double highest, Results& results)
{
    const Rows<EvaluatedPoint> rows(root, "evaluations", results.evaluations);
    const Hdf5Object& group = rows.group();
    for (const std::string& name : group.get_list<std::string>("objectives")) {
        const Hdf5Object column = group.open(objective_column(name));
        results.objectives.push_back(ObjectiveInfo{.name = name,
                                                   .units = column.get<std::string>("units"),
                                                   .long_name = column.get<std::string>("long_name")});
    }
    rows.resize("evaluation");
    rows.column<std::uint64_t>("evaluation", index_of(results),
                               [](EvaluatedPoint& p, std::uint64_t index) { p.index = index; });
    const auto disorder = std::adjacent_find(results.evaluations.begin(), results.evaluations.end(),
                                             [](const auto& a, const auto& b) { return a.index >= b.index; });
    if (disorder != results.evaluations.end()) {
        throw std::runtime_error(
            fmt::format("dataset /evaluations/evaluation does not ascend after {}", disorder->index));
    }
    read_axes(rows, results.axes);
    rows.column<std::int32_t>("rung", {0.0, highest},
                              [](EvaluatedPoint& p, std::int32_t rung) { p.rung = rung; });
    rows.column<std::uint64_t>("draws", not_negative,
                               [](EvaluatedPoint& p, std::uint64_t draws) { p.draws = draws; });
    read_objectives(rows, results.evaluations, results.objectives);
    for (const ObjectiveInfo& objective : results.objectives) {
        Allowed allowed = allowed_of(objective);
        allowed.least = -infinity;  // none
        rows.column<double>(objective_column(objective.name) + "_bound", allowed,
                            [](EvaluatedPoint& p, double value) { p.bounds.push_back(value); });
    }
    for (EvaluatedPoint& point : results.evaluations) {
        if (std::all_of(point.bounds.begin(), point.bounds.end(),
                        [](double bound) { return std::isnan(bound); })) {
            point.bounds.clear();
        }
    }
}

/// What merged with older files has no value of a later column.
template <class T>
Allowed allowed_of(const ResultRow<T>& column)
{
    Allowed allowed = column.allowed();
    allowed.absent = allowed.absent || column.facts.since > 0;
    return allowed;
}

double value_of(double number) { return number; }
double value_of(const Estimate& estimate) { return estimate.value; }

/// A point has all columns of a schema version or, from an older file, none; but for
/// those that may be absent in any.
class SameVersion {
public:
    template <class T>
    bool agrees(const std::vector<ResultRow<T>>& columns, const FrontPoint& point)
    {
        return std::all_of(columns.begin(), columns.end(), [&](const ResultRow<T>& column) {
            const bool absent = std::isnan(value_of(column.of(point)));
            return column.facts.since == 0 || column.allowed().absent ||
                   absent_.emplace(column.facts.since, absent).first->second == absent;
        });
    }

private:
    std::map<int, bool> absent_;  // [minor version of the schema]
};

/// What the columns of a point say of each other.
void check_together(const FrontPoint& point, const std::string& list, const std::vector<Axis>& axes,
                    bool several_phases)
{
    const Prediction& p = point.prediction;
    const auto refuse = [&point, &list](const std::string& what) {
        throw std::runtime_error(fmt::format("point {} of /{} has {}", point.index, list, what));
    };
    const auto gpus =
        std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.name == "gpus"; });
    if (gpus != axes.end()) {
        const auto position =
            static_cast<std::size_t>(point.point[static_cast<std::size_t>(gpus - axes.begin())]);
        const int of_plan = std::atoi(gpus->labels[position].c_str());
        if (several_phases ? p.gpus < of_plan : p.gpus != of_plan) {
            refuse(fmt::format("{} GPUs, but its plan has {}", p.gpus, of_plan));
        }
    }
    if (p.gpus > 0 && p.memory.stage >= p.gpus) {
        refuse("a fullest stage that does not exist");
    }
    if (point.model_low > point.model_high) {
        refuse("inconsistent limits of the model");
    }
    if (p.gpu_price_usd_per_h == 0.0 && p.cost_usd.value > 0.0) {
        refuse("a cost, but no price");
    }
    SameVersion version;
    if (!version.agrees(plan_results<Estimate>(), point) || !version.agrees(plan_results<double>(), point)) {
        refuse("only some of the columns of a schema version");
    }
}

/// A list of plans, in a group whose dimension has its name.
void read_plans(const Hdf5Object& root, const std::string& name, const std::optional<Scenario>& scenario,
                const Results& results, std::vector<FrontPoint>& front)
{
    const bool several_phases = !scenario || scenario->phases.size() > 1;
    const Rows<FrontPoint> rows(root, name, front);
    const Hdf5Object& group = rows.group();
    rows.resize(name);
    rows.column<std::uint64_t>("evaluation", index_of(results),
                               [](FrontPoint& p, std::uint64_t index) { p.index = index; });
    read_axes(rows, results.axes);
    rows.column<std::int8_t>("dominated", truth,
                             [](FrontPoint& p, std::int8_t dominated) { p.dominated = dominated != 0; });
    rows.column<std::uint64_t>("draws", not_negative,
                               [](FrontPoint& p, std::uint64_t draws) { p.prediction.draws = draws; });
    rows.column<std::int32_t>("total_gpus", not_negative,
                              [](FrontPoint& p, std::int32_t gpus) { p.prediction.gpus = gpus; });
    rows.column<std::int32_t>("memory_stage", not_negative,
                              [](FrontPoint& p, std::int32_t stage) { p.prediction.memory.stage = stage; });
    read_objectives(rows, front, results.objectives);
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    for (const auto& column : plan_results<Estimate>()) {
        if (column.facts.since == 0 || group.has_dataset(std::string(column.name))) {
            rows.estimates(std::string(column.name), allowed_of(column), column.of);
            continue;
        }
        for (FrontPoint& point : front) {
            column.of(point) = Estimate::exact(unknown);
        }
    }
    for (const auto& column : plan_results<double>()) {
        if (column.facts.since == 0 || group.has_dataset(std::string(column.name))) {
            rows.column<double>(std::string(column.name), allowed_of(column),
                                [&](FrontPoint& p, double value) { column.of(p) = value; });
            continue;
        }
        for (FrontPoint& point : front) {
            column.of(point) = unknown;
        }
    }
    const std::vector<double> probabilities = group.read<double>("probability");
    for (const double probability : probabilities) {
        check_allowed("dataset /" + name + "/probability", probability, truth);
    }
    if (std::adjacent_find(probabilities.begin(), probabilities.end(), std::greater_equal<>()) !=
        probabilities.end()) {
        throw std::runtime_error(fmt::format("dataset /{}/probability does not ascend", name));
    }
    for (const FrontPoint& point : front) {
        check_together(point, name, results.axes, several_phases);
    }
    for (const auto& column : plan_results<std::vector<double>>()) {
        if (column.facts.since == 0 || group.has_dataset(std::string(column.name))) {
            rows.tables(std::string(column.name), probabilities.size(), column.allowed(), column.of);
        }
    }
}

void read_front(const Hdf5Object& root, const std::optional<Scenario>& scenario, Results& results)
{
    const Hdf5Object group = root.open("front");
    results.provisional =
        group.has("provisional") &&
        number_attribute<std::int8_t>(group, "provisional", truth) != 0;  // since schema 1.1
    read_plans(root, "front", scenario, results, results.front);
}

/// Since schema 1.14.
void read_may_not_fit(const Hdf5Object& root, const std::optional<Scenario>& scenario, Results& results)
{
    const Hdf5Object group = root.open("may_not_fit");
    MayNotFit& list = results.may_not_fit;
    list.outcome = group.get<std::string>("outcome");
    list.proved = number_attribute<std::int8_t>(group, "proved", truth) != 0;
    list.evaluated = group.get<std::uint64_t>("evaluated");
    list.limit = number_attribute<double>(group, "fit_probability_limit", truth);
    read_plans(root, "may_not_fit", scenario, results, list.plans);
}

/// Since schema 1.5, of studies that computed it.
void read_posterior(const Hdf5Object& root, Results& results)
{
    const Rows<PlanChance> rows(root, "posterior", results.posterior.plans);
    results.posterior.linearisation_error =
        number_attribute<double>(rows.group(), "linearisation_error", not_negative);
    rows.resize("plan");
    const Allowed position{0.0, static_cast<double>(results.objectives.size()) - 1.0};
    rows.column<std::uint64_t>("evaluation", index_of(results),
                               [](PlanChance& p, std::uint64_t index) { p.index = index; });
    rows.column<std::int32_t>("total_gpus", not_negative,
                              [](PlanChance& p, std::int32_t gpus) { p.gpus = gpus; });
    rows.column<std::int32_t>("objective", position,
                              [](PlanChance& p, std::int32_t objective) { p.objective = objective; });
    rows.column<double>("value", not_negative, [](PlanChance& p, double value) { p.value = value; });
    rows.column<std::int8_t>("drawn", truth, [](PlanChance& p, std::int8_t drawn) { p.drawn = drawn != 0; });
    rows.column<double>("best", allowed_share, [](PlanChance& p, double best) { p.best = best; });
    rows.column<double>("best_without_discrepancy", allowed_share,
                        [](PlanChance& p, double best) { p.best_without_discrepancy = best; });
    rows.column<double>("regret", Allowed{.absent = true},
                        [](PlanChance& p, double regret) { p.regret = regret; });
    rows.column<double>("fits", allowed_share, [](PlanChance& p, double fits) { p.fits = fits; });
    rows.column<std::int32_t>("shortlist", not_negative,
                              [](PlanChance& p, std::int32_t place) { p.shortlist = place; });
    rows.column<double>("cover", allowed_share, [](PlanChance& p, double cover) { p.cover = cover; });
    if (rows.group().has_dataset("low")) {  // since schema 1.6
        const Allowed value{.absent = true};
        rows.column<double>("low", value, [](PlanChance& p, double low) { p.low = low; });
        rows.column<double>("high", value, [](PlanChance& p, double high) { p.high = high; });
    }
}

/// `<name>`, `<name>_bound` and `<name>_limit` of what is known.
template <class Row, class Of>
void read_known(const Rows<Row>& rows, const std::string& name, const Of& of)
{
    rows.template column<double>(name, not_negative, [&](Row& row, double value) { of(row).value = value; });
    rows.template column<double>(name + "_bound", not_negative,
                                 [&](Row& row, double low) { of(row).low = low; });
    rows.template column<double>(name + "_limit", not_negative,
                                 [&](Row& row, double high) { of(row).high = high; });
}

/// Since schema 1.18, of studies with several networks.
void read_machines(const Hdf5Object& root, Results& results)
{
    MachineTable& table = results.machines;
    const Rows<Machine> rows(root, "machines", table.machines);
    table.networks = rows.group().get_list<std::string>("networks");
    table.weights = rows.group().get_list<double>("weights");
    table.by_share = number_attribute<std::int8_t>(rows.group(), "by_share", truth) != 0;
    if (table.networks.size() != table.weights.size()) {
        throw std::runtime_error("group /machines has weights of other networks");
    }
    rows.resize("machine");
    rows.column<std::string>("name", {}, [](Machine& m, const std::string& name) { m.name = name; });
    rows.column<double>("gpu_price", not_negative,
                        [](Machine& m, double price) { m.gpu_price_usd_h = price; });
    read_known(rows, "weighted", [](Machine& m) -> Known& { return m.weighted; });
    read_known(rows, "regret", [](Machine& m) -> Known& { return m.regret; });
    rows.column<std::int8_t>("on_front", truth, [](Machine& m, std::int8_t on) { m.on_front = on != 0; });
    std::vector<MachineCell> cells;
    const Rows<MachineCell> all(root, "machines", cells);
    all.resize("cell");
    if (cells.size() != table.machines.size() * table.networks.size()) {
        throw std::runtime_error("group /machines has not one cell for each machine and network");
    }
    read_known(all, "least", [](MachineCell& c) -> Known& { return c.least; });
    all.estimates("confirmed", Allowed{.least = 0.0, .absent = true},
                  [](MachineCell& c) -> Estimate& { return c.confirmed; });
    all.column<std::uint64_t>("evaluation", index_of(results),
                              [](MachineCell& c, std::uint64_t point) { c.point = point; });
    all.column<std::int8_t>("settled", truth,
                            [](MachineCell& c, std::int8_t settled) { c.settled = settled != 0; });
    auto cell = cells.begin();
    for (Machine& machine : table.machines) {
        machine.cells.assign(cell, cell + static_cast<std::ptrdiff_t>(table.networks.size()));
        cell += static_cast<std::ptrdiff_t>(table.networks.size());
    }
}

void read_progress(const Hdf5Object& root, std::vector<ProgressPoint>& progress)
{
    const Rows<ProgressPoint> rows(root, "progress", progress);
    rows.resize("progress");
    rows.column<std::uint64_t>("evaluations", not_negative, [](ProgressPoint& p, std::uint64_t evaluations) {
        p.evaluations = evaluations;
    });
    rows.column<std::uint64_t>("draws", not_negative,
                               [](ProgressPoint& p, std::uint64_t draws) { p.draws = draws; });
    rows.column<double>("hypervolume", {.absent = true},  // none where the box of the study is empty
                        [](ProgressPoint& p, double hypervolume) { p.hypervolume = hypervolume; });
    rows.column<double>("elapsed", not_negative,
                        [](ProgressPoint& p, double elapsed) { p.elapsed_s = elapsed; });
}

void read_ranks(const Hdf5Object& root, Results& results)
{
    const Rows<RankWork> rows(root, "ranks", results.ranks);
    results.threads = number_attribute<std::int32_t>(rows.group(), "threads", {.least = 1.0});
    rows.resize("rank");
    rows.column<std::int32_t>("rank", not_negative, [](RankWork& w, std::int32_t rank) { w.rank = rank; });
    rows.column<std::uint64_t>("items", not_negative,
                               [](RankWork& w, std::uint64_t items) { w.items = items; });
    rows.column<double>("busy", not_negative, [](RankWork& w, double busy) { w.busy_s = busy; });
    rows.column<double>("idle", not_negative, [](RankWork& w, double idle) { w.idle_s = idle; });
    if (!rows.group().has_dataset("wall")) {  // since schema 1.15
        return;
    }
    rows.column<double>("wall", not_negative, [](RankWork& w, double wall) { w.wall_s = wall; });
    for (std::size_t activity = 0; activity < rank_activities.size(); ++activity) {
        rows.column<double>(rank_activities[activity].name, not_negative,
                            [activity](RankWork& w, double seconds) { w.activity_s[activity] = seconds; });
    }
}

/// Since schema 1.15.
void read_legs(const Hdf5Object& root, std::vector<Leg>& legs)
{
    const Rows<Leg> rows(root, "legs", legs);
    const Allowed at_least_one{.least = 1.0};
    rows.resize("leg");
    rows.column<std::string>("started", {},
                             [](Leg& leg, const std::string& started) { leg.started = started; });
    rows.column<std::string>("job", {}, [](Leg& leg, const std::string& job) { leg.job = job; });
    rows.column<std::int32_t>("nodes", at_least_one, [](Leg& leg, std::int32_t nodes) { leg.nodes = nodes; });
    rows.column<std::int32_t>("ranks", at_least_one, [](Leg& leg, std::int32_t ranks) { leg.ranks = ranks; });
    rows.column<std::int32_t>("threads", at_least_one,
                              [](Leg& leg, std::int32_t threads) { leg.threads = threads; });
    rows.column<double>("seconds", not_negative, [](Leg& leg, double seconds) { leg.seconds = seconds; });
    rows.column<std::uint64_t>("saved", not_negative,
                               [](Leg& leg, std::uint64_t saved) { leg.saved = saved; });
    rows.column<std::int8_t>("end", {0.0, static_cast<double>(leg_ends.size()) - 1.0},
                             [](Leg& leg, std::int8_t end) { leg.end = static_cast<LegEnd>(end); });
}

void check_is_results(const Hdf5Object& root, const std::string& path)
{
    if (!root.has("filetype") || root.get<std::string>("filetype") != results_filetype) {
        throw InputError(
            fmt::format("{} is HDF5, but not a results file of prismopt (its root has no attribute filetype "
                        "= \"{}\"); give a file that `prismopt search` wrote",
                        path, results_filetype));
    }
    const std::vector<std::int32_t> version = root.get_list<std::int32_t>("schema_version");
    if (version.empty() || version.front() != results_schema_major) {
        const std::string found = version.empty() ? "none" : std::to_string(version.front());
        throw InputError(
            fmt::format("{} has schema version {}, but this program reads version {}; use the build that "
                        "wrote it: prismopt {} ({})",
                        path, found, results_schema_major, root.get<std::string>("program_version"),
                        root.get<std::string>("git_commit")));
    }
}

/// Axes as they are called now: before schema 1.11 that of the variants was `hardware`.
void rename_axes(std::vector<Axis>& axes)
{
    for (Axis& axis : axes) {
        if (axis.name == "hardware") {
            axis.name = "variant";
        }
    }
}

/// As files from before there were seals do; behind a seal that is damaged beyond recognition HDF5
/// would still find its own begin.
bool begins_as_hdf5(const std::string& path)
{
    constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    std::array<char, signature.size()> begin{};
    std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
    return begin == signature;
}

}  // namespace

Results read_results(const std::string& path)
{
    if (::access(path.c_str(), R_OK) != 0) {
        if (::access((path + ".journal").c_str(), R_OK) == 0) {
            throw InputError(fmt::format(
                "{} does not exist, but the journal of its search does; continue with: prismopt resume {}",
                path, path));
        }
        throw InputError(
            fmt::format("cannot open {} ({}); give the path of a results file", path, std::strerror(errno)));
    }
    const bool sealed = has_seal(path);
    if (!sealed && !begins_as_hdf5(path)) {
        throw InputError(fmt::format(
            "{} is not a results file (it has no HDF5 signature); give a file that `prismopt search` wrote",
            path));
    }
    try {
        if (const std::string why = sealed ? broken_seal(path) : ""; !why.empty()) {
            throw std::runtime_error(why);
        }
        const Hdf5Object root = Hdf5Object::open_file(path);
        check_is_results(root, path);
        Results results;
        results.sealed = sealed;
        read_root(root, results.study);
        read_study(root.open("study"), results.study);
        read_space(root, results);
        const std::optional<Scenario> scenario = readable_scenario(results.study);
        read_evaluations(root, scenario ? highest_rung(scenario->search) : most_rungs, results);
        read_front(root, scenario, results);
        if (root.has_dataset("may_not_fit")) {
            read_may_not_fit(root, scenario, results);
        }
        if (root.has_dataset("posterior")) {
            read_posterior(root, results);
        }
        if (root.has_dataset("machines")) {
            read_machines(root, results);
        }
        read_progress(root, results.progress);
        read_ranks(root, results);
        if (root.has_dataset("legs")) {
            read_legs(root, results.legs);
        }
        rename_axes(results.axes);
        return results;
    } catch (const InputError&) {
        throw;
    } catch (const std::exception& error) {
        throw InputError(
            fmt::format("{} is damaged or truncated: {}; copy it again, run `prismopt resume` if there is a "
                        "journal, or search again",
                        path, error.what()));
    }
}

}  // namespace prismopt

#include "io/results/results_file.hpp"

#include "io/base/checksum.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/outcome_names.hpp"
#include "io/results/plan_results.hpp"
#include "io/results/posix_file.hpp"
#include "io/results/results_schema.hpp"
#include "io/words/rejected_text.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace prismopt {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Description {
    std::string units;  // empty for text, which has none
    std::string long_name;
};

void describe(const Hdf5Object& dataset, const Description& description)
{
    if (!description.units.empty()) {
        dataset.set<std::string>("units", description.units);
    }
    dataset.set<std::string>("long_name", description.long_name);
}

/// A group whose columns share the dimension called as its scale.
class Columns {
public:
    template <class T>
    Columns(const Hdf5Object& group, const std::string& dimension, const std::vector<T>& coordinates,
            const Description& description)
        : group_(group), dimension_(dimension)
    {
        describe(group_.create_scale(dimension, coordinates), description);
    }

    template <class T>
    Hdf5Object column(const std::string& name, const std::vector<T>& values,
                      const Description& description) const
    {
        Hdf5Object dataset = group_.create_column(name, values, {dimension_});
        describe(dataset, description);
        return dataset;
    }

    /// One column of `of(row)` over the rows.
    template <class T, class Row, class Of>
    Hdf5Object column(const std::string& name, const std::vector<Row>& rows, const Of& of,
                      const Description& description) const
    {
        std::vector<T> values;
        values.reserve(rows.size());
        for (const Row& row : rows) {
            values.push_back(static_cast<T>(of(row)));
        }
        return column(name, values, description);
    }

    /// `<name>`, `<name>_low`, `<name>_high` of the estimates `of(row)`.
    template <class Row, class Of>
    void estimates(const std::string& name, const std::vector<Row>& rows, const Of& of,
                   const Description& description) const
    {
        const std::string& what = description.long_name;
        column<double>(
            name, rows, [&](const Row& row) { return of(row).value; }, description);
        column<double>(name + "_low", rows, [&](const Row& row) { return of(row).low; },
                       {description.units, what + ", lower limit of the 95 % confidence interval"});
        column<double>(name + "_high", rows, [&](const Row& row) { return of(row).high; },
                       {description.units, what + ", upper limit of the 95 % confidence interval"});
    }

private:
    const Hdf5Object& group_;
    std::string dimension_;
};

std::vector<std::int32_t> positions(std::size_t count)
{
    std::vector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// CF flag attributes; words of a meaning are joined, because blanks separate meanings.
template <class T>
void set_flags(const Hdf5Object& dataset, const std::vector<std::string>& meanings)
{
    std::vector<T> values(meanings.size());
    std::iota(values.begin(), values.end(), T{0});
    std::string text;
    for (const std::string& meaning : meanings) {
        text += text.empty() ? "" : " ";
        std::replace_copy(meaning.begin(), meaning.end(), std::back_inserter(text), ' ', '_');
    }
    dataset.set_list("flag_values", values);
    dataset.set("flag_meanings", text);
}

void write_root(const Hdf5Object& root, const StudyInfo& study)
{
    root.set<std::string>("filetype", results_filetype);
    root.set_list<std::int32_t>("schema_version", {results_schema_major, results_schema_minor});
    root.set<std::string>("Conventions", "CF-1.10");
    root.set("program_version", study.build.version);
    root.set("git_commit", study.build.commit);
    root.set("catalog_digest", study.build.catalog);
    root.set("created", study.created);
    root.set("command_line", study.command_line);
    root.set("job_id", study.job_id);
    root.set("seed", study.seed);
    root.set("scenario_name", study.scenario_name);
    root.set("scenario_path", study.scenario_path);
    root.set("scenario_toml", study.scenario_text);
    root.set("default_order", std::string(name(study.default_order)));
    root.set("learned", study.learned);
    root.set("learned_digest", study.learned_digest);
    root.set("quantiles_of", std::string(quantiles_of(study.nodes_known)));
}

void write_study(const Hdf5Object& group, const StudyInfo& study)
{
    group.set("strategy", study.strategy);
    group.set("outcome", study.outcome_text);
    group.set("method", std::string(name(study.outcome.method)));
    group.set<std::int8_t>("complete", study.outcome.complete ? 1 : 0);
    group.set("end", std::string(name(study.outcome.end)));
    group.set("stopped_by", study.stopped_by);
    group.set<std::int8_t>("proved", study.outcome.proved ? 1 : 0);
    group.set("confidence", study.outcome.confidence);
    group.set("pruned", study.outcome.pruned);
    group.set("evaluated", study.outcome.evaluated);
    group.set("open", study.outcome.open);
    group.set("unchecked", study.outcome.unchecked);
    group.set_list<std::uint64_t>("excluded_by",
                                  {study.outcome.excluded_by.begin(), study.outcome.excluded_by.end()});
    group.set_list<std::int32_t>("part", study.held);
    group.set<std::int32_t>("parts", study.space_parts);
}

void write_space(const Hdf5Object& group, const Results& results)
{
    group.set("raw_tuples", results.raw_tuples);
    group.set("feasible", results.feasible);
    std::vector<std::string> names;
    for (const Axis& axis : results.axes) {
        names.push_back(axis.name);
        const Hdf5Object labels = group.create_scale(axis.name, axis.labels);
        describe(labels, {"", "labels of axis " + axis.name});
        labels.set<std::int8_t>("ordered", axis.ordered ? 1 : 0);
    }
    group.set_list("axes", names);

    std::vector<std::string> reasons;
    for (const Rejected& rejected : results.rejected) {
        reasons.push_back(rejected.reason);
    }
    const Columns table(group, "rejected", reasons, {"", "why combinations of values are infeasible"});
    table.column<std::uint64_t>("rejected_count", results.rejected, [](const Rejected& r) { return r.count; },
                                {"1", "combinations rejected"});
    table.column<double>("rejected_miss", results.rejected, [](const Rejected& r) { return r.miss; },
                         {"1",
                          "smallest distance to feasibility, in the unit of the reason (bytes for memory)"});
    table.column<std::string>("rejected_nearest", results.rejected,
                              [](const Rejected& r) { return nearest_text(r); },
                              {"", "description of the rejected combination nearest to feasibility"});
    table.column<std::string>("rejected_facts", results.rejected,
                              [](const Rejected& r) { return nearest_miss(r) ? r.nearest : std::string(); },
                              {"", "facts of that combination: conflict, plan and values, as JSON"});
}

template <class Row>
void write_axes(const Columns& table, const std::vector<Axis>& axes, const std::vector<Row>& rows)
{
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto numbers = numeric_labels(axes[a]);
        const auto stored = [&](const Row& row) {
            return numbers ? numbers->at(row.point[a]) : row.point[a];
        };
        const Hdf5Object dataset =
            table.column<std::int32_t>(axes[a].name, rows, stored, {"1", "axis " + axes[a].name});
        if (!numbers) {
            set_flags<std::int32_t>(dataset, axes[a].labels);
        }
    }
}

/// Rows without objectives hold NaN.
template <class Row>
void write_objectives(const Columns& table, const std::vector<ObjectiveInfo>& objectives,
                      const std::vector<Row>& rows)
{
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        const auto of = [k](const Row& row) {
            return row.objectives.empty() ? Estimate::exact(absent) : row.objectives.at(k);
        };
        table.estimates(objective_column(objectives[k].name), rows, of,
                        {objectives[k].units, objectives[k].long_name});
    }
}

void write_evaluations(const Hdf5Object& group, const Results& results)
{
    std::vector<std::string> names;
    std::vector<std::uint64_t> ids;
    for (const ObjectiveInfo& objective : results.objectives) {
        names.push_back(objective.name);
    }
    for (const EvaluatedPoint& point : results.evaluations) {
        ids.push_back(point.index);
    }
    group.set_list("objectives", names);
    const Columns table(group, "evaluation", ids, {"1", "raw tuple index of a feasible point"});
    write_axes(table, results.axes, results.evaluations);
    table.column<std::int32_t>("rung", results.evaluations, [](const EvaluatedPoint& p) { return p.rung; },
                               {"1", "fidelity rung reached; 0: only bounded"});
    table.column<std::uint64_t>("draws", results.evaluations, [](const EvaluatedPoint& p) { return p.draws; },
                                {"1", "step draws behind the estimates"});
    write_objectives(table, results.objectives, results.evaluations);
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        const ObjectiveInfo& objective = results.objectives[k];
        table.column<double>(objective_column(objective.name) + "_bound", results.evaluations,
                             [k](const EvaluatedPoint& p) {
                                 return p.bounds.empty() ? absent : p.bounds.at(k);
                             },
                             {objective.units, objective.long_name + ", lower bound without draws"});
    }
}

/// The dimension has the name of the group.
void write_plans(const Hdf5Object& group, const std::string& name, const Results& results,
                 const std::vector<FrontPoint>& front)
{
    const Columns table(group, name, positions(front.size()),
                        {"1", "position in the list, in order of the first objective"});
    table.column<std::uint64_t>("evaluation", front, [](const FrontPoint& p) { return p.index; },
                                {"1", "raw tuple index"});
    write_axes(table, results.axes, front);
    const Hdf5Object dominated =
        table.column<std::int8_t>("dominated", front, [](const FrontPoint& p) { return p.dominated ? 1 : 0; },
                                  {"1", "whether another member dominates it after confirmation"});
    set_flags<std::int8_t>(dominated, {"non_dominated", "dominated"});
    table.column<std::uint64_t>("draws", front, [](const FrontPoint& p) { return p.prediction.draws; },
                                {"1", "step draws behind the estimates"});
    table.column<std::int32_t>("total_gpus", front, [](const FrontPoint& p) { return p.prediction.gpus; },
                               {"1", "GPUs of the job"});
    table.column<std::int32_t>("memory_stage", front,
                               [](const FrontPoint& p) { return p.prediction.memory.stage; },
                               {"1", "pipeline stage of the fullest GPU"});
    write_objectives(table, results.objectives, front);
    for (const auto& column : plan_results<Estimate>()) {
        table.estimates(std::string(column.name), front, [&](const FrontPoint& p) { return column.of(p); },
                        {std::string(column.units), std::string(column.long_name)});
    }
    for (const auto& column : plan_results<double>()) {
        table.column<double>(std::string(column.name), front,
                             [&](const FrontPoint& p) { return column.of(p); },
                             {std::string(column.units), std::string(column.long_name)});
    }

    const std::vector<double> probabilities(reported_probabilities.begin(), reported_probabilities.end());
    describe(group.create_scale("probability", probabilities), {"1", "probability of a smaller value"});
    for (const auto& column : plan_results<std::vector<double>>()) {
        std::vector<double> values;
        for (const FrontPoint& point : front) {
            const std::vector<double>& quantiles = column.of(point);
            assert(quantiles.empty() || quantiles.size() == probabilities.size());
            values.insert(values.end(), quantiles.begin(), quantiles.end());
            values.resize(values.size() + (quantiles.empty() ? probabilities.size() : 0), absent);
        }
        describe(group.create_column(std::string(column.name), values, {name, "probability"}),
                 {std::string(column.units), std::string(column.long_name)});
    }
}

void write_front(const Hdf5Object& group, const Results& results)
{
    group.set<std::int8_t>("provisional", results.provisional ? 1 : 0);
    write_plans(group, "front", results, results.front);
}

void write_may_not_fit(const Hdf5Object& group, const Results& results)
{
    const MayNotFit& list = results.may_not_fit;
    group.set("outcome", list.outcome);
    group.set<std::int8_t>("proved", list.proved ? 1 : 0);
    group.set("evaluated", list.evaluated);
    group.set("fit_probability_limit", list.limit);
    write_plans(group, "may_not_fit", results, list.plans);
}

void write_posterior(const Hdf5Object& group, const Results& results)
{
    const std::vector<PlanChance>& plans = results.posterior.plans;
    group.set("linearisation_error", results.posterior.linearisation_error);
    const Columns table(group, "plan", positions(plans.size()), {"1", "position in this table"});
    table.column<std::uint64_t>("evaluation", plans, [](const PlanChance& p) { return p.index; },
                                {"1", "raw tuple index"});
    table.column<std::int32_t>("total_gpus", plans, [](const PlanChance& p) { return p.gpus; },
                               {"1", "GPUs of the job"});
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        names.push_back(objective.name);
    }
    set_flags<std::int32_t>(table.column<std::int32_t>(
                                "objective", plans, [](const PlanChance& p) { return p.objective; },
                                {"1", "objective in which the plan may be the best of its number of GPUs"}),
                            names);
    table.column<double>("value", plans, [](const PlanChance& p) { return p.value; },
                         {"1", "predicted, in the unit of the objective"});
    table.column<double>(
        "low", plans, [](const PlanChance& p) { return p.low; },
        {"1", "5 % quantile of the value over draws of the model's error, in the unit of the objective"});
    table.column<double>(
        "high", plans, [](const PlanChance& p) { return p.high; },
        {"1", "95 % quantile of the value over draws of the model's error, in the unit of the objective"});
    set_flags<std::int8_t>(
        table.column<std::int8_t>("drawn", plans, [](const PlanChance& p) { return p.drawn ? 1 : 0; },
                                  {"1", "whether the value is from draws or estimated from a bound"}),
        {"estimated", "drawn"});
    table.column<double>("best", plans, [](const PlanChance& p) { return p.best; },
                         {"1", "probability of being the best"});
    table.column<double>("best_without_discrepancy", plans,
                         [](const PlanChance& p) { return p.best_without_discrepancy; },
                         {"1", "the same if only the fitted constants are uncertain"});
    table.column<double>("regret", plans, [](const PlanChance& p) { return p.regret; },
                         {"1", "expected excess over the best"});
    table.column<double>("fits", plans, [](const PlanChance& p) { return p.fits; },
                         {"1", "probability of fitting into memory"});
    table.column<std::int32_t>("shortlist", plans, [](const PlanChance& p) { return p.shortlist; },
                               {"1", "place in the shortlist that holds the best with 90 %; 0: not in it"});
    table.column<double>("cover", plans, [](const PlanChance& p) { return p.cover; },
                         {"1", "probability that the best is in the shortlist up to this place"});
}

/// Of studies with several networks.
void write_machines(const Hdf5Object& root, const Results& results)
{
    const MachineTable& table = results.machines;
    const Hdf5Object group = root.create_group("machines");
    group.set_list<std::string>("networks", table.networks);
    group.set_list<double>("weights", table.weights);
    group.set<std::int8_t>("by_share", table.by_share ? 1 : 0);
    const std::string units = table.by_share ? "1" : results.objectives.front().units;
    const std::string of = results.objectives.front().long_name;
    const Columns rows(group, "machine", positions(table.machines.size()), {"1", "position in this table"});
    const auto known = [](const Columns& columns, const std::string& name, const auto& list,
                          const auto& known_of, const Description& description) {
        const std::string& what = description.long_name;
        const auto column = [&](const std::string& suffix, double Known::*member, const std::string& words) {
            columns.column<double>(name + suffix, list,
                                   [&](const auto& row) { return known_of(row).*member; },
                                   {description.units, what + words});
        };
        column("", &Known::value, "");
        column("_bound", &Known::low, ", lower bound");
        column("_limit", &Known::high, ", upper limit");
    };
    rows.column<std::string>("name", table.machines, [](const Machine& m) { return m.name; },
                             {"", "choices of hardware"});
    rows.column<double>("gpu_price", table.machines, [](const Machine& m) { return m.gpu_price_usd_h; },
                        {"USD/h", "price of a GPU with its share of the machine"});
    known(rows, "weighted", table.machines, [](const Machine& m) { return m.weighted; },
          {units, of + ", weighted over the networks"});
    known(rows, "regret", table.machines, [](const Machine& m) { return m.regret; },
          {"1", "largest excess over the best machine of a network, relative"});
    rows.column<std::int8_t>("on_front", table.machines, [](const Machine& m) { return m.on_front ? 1 : 0; },
                             {"1", "whether the machine is on the front of weighted objective and regret"});

    struct Cell {
        std::size_t machine = 0;
        std::size_t network = 0;
        MachineCell is = {};
    };
    std::vector<Cell> cells;
    for (std::size_t m = 0; m < table.machines.size(); ++m) {
        for (std::size_t n = 0; n < table.networks.size(); ++n) {
            cells.push_back({m, n, table.machines[m].cells[n]});
        }
    }
    const Columns columns(group, "cell", positions(cells.size()), {"1", "machine and network"});
    columns.column<std::int32_t>("machine_of_cell", cells, [](const Cell& c) { return c.machine; },
                                 {"1", "machine"});
    columns.column<std::int32_t>("network_of_cell", cells, [](const Cell& c) { return c.network; },
                                 {"1", "network"});
    known(columns, "least", cells, [](const Cell& c) { return c.is.least; },
          {results.objectives.front().units, of + " of the best plan"});
    columns.estimates("confirmed", cells, [](const Cell& c) { return c.is.confirmed; },
                      {results.objectives.front().units, of + " of the best plan, confirmed"});
    columns.column<std::uint64_t>("evaluation", cells, [](const Cell& c) { return c.is.point; },
                                  {"1", "raw tuple index of the best plan, if one was evaluated"});
    columns.column<std::int8_t>("settled", cells, [](const Cell& c) { return c.is.settled ? 1 : 0; },
                                {"1", "whether no other plan is better by more than the gap of the search"});
}

void write_progress(const Hdf5Object& group, const std::vector<ProgressPoint>& progress)
{
    const Columns table(group, "progress", positions(progress.size()),
                        {"1", "position in the record of the search"});
    table.column<std::uint64_t>("evaluations", progress, [](const ProgressPoint& p) { return p.evaluations; },
                                {"1", "evaluations so far"});
    table.column<std::uint64_t>("draws", progress, [](const ProgressPoint& p) { return p.draws; },
                                {"1", "step draws so far"});
    table.column<double>("hypervolume", progress, [](const ProgressPoint& p) { return p.hypervolume; },
                         {"1", "hypervolume of the front so far, in the normalised box of the study"});
    table.column<double>("elapsed", progress, [](const ProgressPoint& p) { return p.elapsed_s; },
                         {"s", "wall-clock time since the start"});
}

void write_ranks(const Hdf5Object& group, const Results& results)
{
    group.set<std::int32_t>("threads", results.threads);
    std::vector<std::int32_t> ranks;
    for (const RankWork& work : results.ranks) {
        ranks.push_back(work.rank);
    }
    const Columns table(group, "rank", ranks, {"1", "MPI rank"});
    table.column<std::uint64_t>("items", results.ranks, [](const RankWork& w) { return w.items; },
                                {"1", "work items done"});
    table.column<double>("busy", results.ranks, [](const RankWork& w) { return w.busy_s; },
                         {"s", "wall-clock time at work"});
    table.column<double>("idle", results.ranks, [](const RankWork& w) { return w.idle_s; },
                         {"s", "wall-clock time waiting for work"});
    table.column<double>("wall", results.ranks, [](const RankWork& w) { return w.wall_s; },
                         {"s", "wall-clock time in all"});
    for (std::size_t activity = 0; activity < rank_activities.size(); ++activity) {
        table.column<double>(
            rank_activities[activity].name, results.ranks,
            [activity](const RankWork& w) { return w.activity_s[activity]; },
            {"s", std::string("wall-clock time at work on: ") + rank_activities[activity].meaning});
    }
}

void write_legs(const Hdf5Object& group, const std::vector<Leg>& legs)
{
    group.set("core_hours", core_hours(legs));
    const Columns table(group, "leg", positions(legs.size()), {"1", "position in the order of the legs"});
    table.column<std::string>("started", legs, [](const Leg& leg) { return leg.started; },
                              {"", "start of the leg, UTC"});
    table.column<std::string>("job", legs, [](const Leg& leg) { return leg.job; },
                              {"", "batch system and its job, or empty"});
    table.column<std::int32_t>("nodes", legs, [](const Leg& leg) { return leg.nodes; }, {"1", "nodes"});
    table.column<std::int32_t>("ranks", legs, [](const Leg& leg) { return leg.ranks; }, {"1", "MPI ranks"});
    table.column<std::int32_t>("threads", legs, [](const Leg& leg) { return leg.threads; },
                               {"1", "threads of all ranks"});
    table.column<double>("seconds", legs, [](const Leg& leg) { return leg.seconds; },
                         {"s", "wall-clock time; of a lost leg, up to its last record"});
    table.column<std::uint64_t>("saved", legs, [](const Leg& leg) { return leg.saved; },
                                {"1", "answers, tuning steps and blocks of draws that the leg saved"});
    set_flags<std::int8_t>(table.column<std::int8_t>("end", legs, [](const Leg& leg) { return leg.end; },
                                                     {"1", "how the leg ended; lost: it was killed"}),
                           {leg_ends.begin(), leg_ends.end()});
}

std::vector<std::byte> encode(const Results& results)
{
    const Hdf5Object root = Hdf5Object::create_in_memory(seal_bytes);
    write_root(root, results.study);
    write_study(root.create_group("study"), results.study);
    write_space(root.create_group("space"), results);
    write_evaluations(root.create_group("evaluations"), results);
    write_front(root.create_group("front"), results);
    write_may_not_fit(root.create_group("may_not_fit"), results);
    write_posterior(root.create_group("posterior"), results);
    if (!results.machines.machines.empty()) {
        write_machines(root, results);
    }
    write_progress(root.create_group("progress"), results.progress);
    write_ranks(root.create_group("ranks"), results);
    write_legs(root.create_group("legs"), results.legs);
    return root.image();
}

}  // namespace

void write_results(const Results& results, const std::string& path)
{
    const std::vector<std::byte> bytes = encode(results);
    const Seal seal = seal_of(bytes);
    replace_file(path, {seal, bytes});
}

}  // namespace prismopt

#include "io/front_columns.hpp"
#include "io/hdf5_file.hpp"
#include "io/results_file.hpp"
#include "io/results_schema.hpp"
#include "io/scenario.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace prismopt {

namespace {

/// Reads the columns of a group into rows; each column must be as long as the dimension.
template <class Row>
class Rows {
public:
    Rows(const Hdf5Object& group, std::vector<Row>& rows) : group_(group), rows_(rows) {}

    /// `set(row, value)` for each row.
    template <class T, class Set>
    void column(const std::string& name, const Set& set) const
    {
        const std::vector<T> values = group_.read<T>(name);
        check_size(name, values.size(), rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            set(rows_[i], values[i]);
        }
    }

    /// `of(row)` is the estimate that `<name>`, `<name>_low` and `<name>_high` fill.
    template <class Of>
    void estimates(const std::string& name, const Of& of) const
    {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        column<double>(name, [&](Row& row, double value) { of(row).value = value; });
        column<double>(name + "_low", [&](Row& row, double low) { of(row).low = low; });
        column<double>(name + "_high", [&](Row& row, double high) { of(row).high = high; });
        for (Row& row : rows_) {  // the safe limits are not in the file: nothing is claimed
            of(row).safe_low = -infinity;
            of(row).safe_high = infinity;
        }
    }

    /// Two-dimensional: `of(row)` takes its values along the other dimension, or stays empty where all are absent.
    template <class Of>
    void tables(const std::string& name, std::size_t width, const Of& of) const
    {
        const std::vector<double> values = group_.read<double>(name);
        check_size(name, values.size(), rows_.size() * width);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
            const auto end = begin + static_cast<std::ptrdiff_t>(width);
            if (!std::all_of(begin, end, [](double value) { return std::isnan(value); })) {
                of(rows_[i]).assign(begin, end);
            }
        }
    }

private:
    static void check_size(const std::string& name, std::size_t size, std::size_t expected)
    {
        if (size != expected) {
            throw std::runtime_error("dataset " + name + " has " + std::to_string(size) + " values where " +
                                     std::to_string(expected) + " are expected");
        }
    }

    const Hdf5Object& group_;
    std::vector<Row>& rows_;
};

void read_root(const Hdf5Object& root, StudyInfo& study)
{
    study.program_version = root.get<std::string>("program_version");
    study.commit = root.get<std::string>("git_commit");
    study.created = root.get<std::string>("created");
    study.command_line = root.get<std::string>("command_line");
    study.job_id = root.get<std::string>("job_id");
    study.seed = root.get<std::uint64_t>("seed");
    study.scenario_name = root.get<std::string>("scenario_name");
    study.scenario_path = root.get<std::string>("scenario_path");
    study.scenario_text = root.get<std::string>("scenario_toml");
    study.nodes_known = root.has("quantiles_of") && root.get<std::string>("quantiles_of") == quantiles_of(true);  // since 1.1
}

void read_study(const Hdf5Object& group, StudyInfo& study)
{
    study.strategy = group.get<std::string>("strategy");
    study.outcome.text = group.get<std::string>("outcome");
    study.outcome.proved = group.get<std::int8_t>("proved") != 0;
    study.outcome.confidence = group.get<double>("confidence");
    study.outcome.pruned = group.get<std::uint64_t>("pruned");
    study.outcome.open = group.get<std::uint64_t>("open");
    if (group.has("evaluated")) {  // since schema 1.1
        study.outcome.evaluated = group.get<std::uint64_t>("evaluated");
        study.held = group.get_list<std::int32_t>("part");
        study.parts = group.get<std::int32_t>("parts");
    }
}

void read_space(const Hdf5Object& group, Results& results)
{
    results.raw_tuples = group.get<std::uint64_t>("raw_tuples");
    results.feasible = group.get<std::uint64_t>("feasible");
    for (const std::string& name : group.get_list<std::string>("axes")) {
        const bool ordered = group.open(name).get<std::int8_t>("ordered") != 0;
        results.axes.push_back(Axis{.name = name, .ordered = ordered, .labels = group.read<std::string>(name)});
    }
    results.rejected.resize(group.read<std::string>("rejected").size());
    const Rows<Rejected> rows(group, results.rejected);
    rows.column<std::string>("rejected", [](Rejected& r, const std::string& reason) { r.reason = reason; });
    rows.column<std::uint64_t>("rejected_count", [](Rejected& r, std::uint64_t count) { r.count = count; });
    rows.column<double>("rejected_miss", [](Rejected& r, double miss) { r.miss = miss; });
    rows.column<std::string>("rejected_nearest", [](Rejected& r, const std::string& nearest) { r.nearest = nearest; });
}

template <class Row>
void read_axes(const Rows<Row>& rows, const std::vector<Axis>& axes)
{
    for (const Axis& axis : axes) {
        const auto numbers = numeric_labels(axis);
        rows.template column<std::int32_t>(axis.name, [&](Row& row, std::int32_t stored) {
            const auto position = numbers ? std::find(numbers->begin(), numbers->end(), stored) - numbers->begin() : stored;
            if (position < 0 || static_cast<std::size_t>(position) >= axis.labels.size()) {
                throw std::runtime_error("axis " + axis.name + " has no label for " + std::to_string(stored));
            }
            row.point.push_back(static_cast<int>(position));
        });
    }
}

/// Rows whose objectives are all NaN have none.
template <class Row>
void read_objectives(const Rows<Row>& rows, std::vector<Row>& points, const std::vector<ObjectiveInfo>& objectives)
{
    for (Row& point : points) {
        point.objectives.resize(objectives.size());
    }
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        rows.estimates(objective_column(objectives[k].name), [k](Row& row) -> Estimate& { return row.objectives[k]; });
    }
    for (Row& point : points) {
        if (std::all_of(point.objectives.begin(), point.objectives.end(),
                        [](const Estimate& e) { return std::isnan(e.value); })) {
            point.objectives.clear();
        }
    }
}

void read_evaluations(const Hdf5Object& group, Results& results)
{
    for (const std::string& name : group.get_list<std::string>("objectives")) {
        const Hdf5Object column = group.open(objective_column(name));
        results.objectives.push_back(ObjectiveInfo{
            .name = name, .units = column.get<std::string>("units"), .long_name = column.get<std::string>("long_name")});
    }
    results.evaluations.resize(group.read<std::uint64_t>("evaluation").size());
    const Rows<EvaluatedPoint> rows(group, results.evaluations);
    rows.column<std::uint64_t>("evaluation", [](EvaluatedPoint& p, std::uint64_t index) { p.index = index; });
    read_axes(rows, results.axes);
    rows.column<std::int32_t>("rung", [](EvaluatedPoint& p, std::int32_t rung) { p.rung = rung; });
    rows.column<std::uint64_t>("draws", [](EvaluatedPoint& p, std::uint64_t draws) { p.draws = draws; });
    read_objectives(rows, results.evaluations, results.objectives);
    for (const ObjectiveInfo& objective : results.objectives) {
        rows.column<double>(objective_column(objective.name) + "_bound",
                            [](EvaluatedPoint& p, double bound) { p.bounds.push_back(bound); });
    }
    for (EvaluatedPoint& point : results.evaluations) {
        if (std::all_of(point.bounds.begin(), point.bounds.end(), [](double bound) { return std::isnan(bound); })) {
            point.bounds.clear();
        }
    }
}

void read_front(const Hdf5Object& group, Results& results)
{
    results.provisional = group.has("provisional") && group.get<std::int8_t>("provisional") != 0;  // since schema 1.1
    results.front.resize(group.read<std::int32_t>("front").size());
    const Rows<FrontPoint> rows(group, results.front);
    rows.column<std::uint64_t>("evaluation", [](FrontPoint& p, std::uint64_t index) { p.index = index; });
    read_axes(rows, results.axes);
    rows.column<std::int8_t>("dominated", [](FrontPoint& p, std::int8_t dominated) { p.dominated = dominated != 0; });
    rows.column<std::uint64_t>("draws", [](FrontPoint& p, std::uint64_t draws) { p.prediction.draws = draws; });
    rows.column<std::int32_t>("total_gpus", [](FrontPoint& p, std::int32_t gpus) { p.prediction.gpus = gpus; });
    rows.column<std::int32_t>("memory_stage", [](FrontPoint& p, std::int32_t stage) { p.prediction.memory.stage = stage; });
    read_objectives(rows, results.front, results.objectives);
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    for (const auto& column : front_estimates()) {
        if (column.since == 0 || group.has_dataset(std::string(column.name))) {
            rows.estimates(std::string(column.name), column.of);
            continue;
        }
        for (FrontPoint& point : results.front) {
            column.of(point) = Estimate::exact(unknown);
        }
    }
    for (const auto& column : front_numbers()) {
        if (column.since == 0 || group.has_dataset(std::string(column.name))) {
            rows.column<double>(std::string(column.name), [&](FrontPoint& p, double value) { column.of(p) = value; });
            continue;
        }
        for (FrontPoint& point : results.front) {
            column.of(point) = unknown;
        }
    }
    const std::size_t width = group.read<double>("probability").size();
    for (const auto& column : front_quantiles()) {
        rows.tables(std::string(column.name), width, column.of);
    }
}

void read_progress(const Hdf5Object& group, std::vector<ProgressPoint>& progress)
{
    progress.resize(group.read<std::int32_t>("progress").size());
    const Rows<ProgressPoint> rows(group, progress);
    rows.column<std::uint64_t>("evaluations", [](ProgressPoint& p, std::uint64_t evaluations) { p.evaluations = evaluations; });
    rows.column<std::uint64_t>("draws", [](ProgressPoint& p, std::uint64_t draws) { p.draws = draws; });
    rows.column<double>("hypervolume", [](ProgressPoint& p, double hypervolume) { p.hypervolume = hypervolume; });
    rows.column<double>("elapsed", [](ProgressPoint& p, double elapsed) { p.elapsed_s = elapsed; });
}

void read_ranks(const Hdf5Object& group, Results& results)
{
    results.threads = group.get<std::int32_t>("threads");
    results.ranks.resize(group.read<std::int32_t>("rank").size());
    const Rows<RankWork> rows(group, results.ranks);
    rows.column<std::int32_t>("rank", [](RankWork& w, std::int32_t rank) { w.rank = rank; });
    rows.column<std::uint64_t>("items", [](RankWork& w, std::uint64_t items) { w.items = items; });
    rows.column<double>("busy", [](RankWork& w, double busy) { w.busy_s = busy; });
    rows.column<double>("idle", [](RankWork& w, double idle) { w.idle_s = idle; });
}

void check_is_results(const Hdf5Object& root, const std::string& path)
{
    if (!root.has("filetype") || root.get<std::string>("filetype") != results_filetype) {
        throw InputError(path + " is HDF5, but not a results file of prismopt (its root has no attribute filetype = \"" +
                         results_filetype + "\"); give a file that `prismopt search` wrote");
    }
    const std::vector<std::int32_t> version = root.get_list<std::int32_t>("schema_version");
    if (version.empty() || version.front() != results_schema_major) {
        const std::string found = version.empty() ? "none" : std::to_string(version.front());
        throw InputError(path + " has schema version " + found + ", and this program reads version " +
                         std::to_string(results_schema_major) + "; use prismopt " + root.get<std::string>("program_version") +
                         ", which wrote it");
    }
}

}  // namespace

Results read_results(const std::string& path)
{
    if (::access(path.c_str(), R_OK) != 0) {
        if (::access((path + ".journal").c_str(), R_OK) == 0) {
            throw InputError(path + " is not there, but the journal of its search is; go on with: prismopt resume " + path);
        }
        throw InputError("cannot open " + path + " (" + std::strerror(errno) + "); give the path of a results file");
    }
    if (!is_hdf5(path)) {
        throw InputError(path +
                         " is not a results file (it does not begin as HDF5 does); give a file that `prismopt search` wrote");
    }
    try {
        const Hdf5Object root = Hdf5Object::open_file(path);
        check_is_results(root, path);
        Results results;
        read_root(root, results.study);
        read_study(root.open("study"), results.study);
        read_space(root.open("space"), results);
        read_evaluations(root.open("evaluations"), results);
        read_front(root.open("front"), results);
        read_progress(root.open("progress"), results.progress);
        read_ranks(root.open("ranks"), results);
        return results;
    } catch (const InputError&) {
        throw;
    } catch (const std::exception& error) {
        throw InputError(path + " is damaged or cut short: " + error.what() +
                         "; copy it again, or run `prismopt resume` on its journal");
    }
}

}  // namespace prismopt

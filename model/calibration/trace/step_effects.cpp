#include "model/calibration/trace/step_effects.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/effect_spread.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace prismopt {

namespace {

/// A kernel of computing, less the mean of its kind, worker and position.
struct Kernel {
    std::size_t step;
    std::size_t worker;
    double log;
    double weight;  // time that its position takes
};

/// The kernels of a worker in a step, or of all of them in it.
struct Group {
    double mean = 0.0;
    double weight = 0.0;
    double error = 0.0;  // standard error of the mean, from how the kernels scatter about it
};

using GroupTable = std::vector<std::vector<Group>>;  // [worker][step]

/// The kernels of computing in steps that have all workers.
struct StepKernels {
    std::vector<std::int32_t> steps;   // with all workers
    std::vector<std::size_t> workers;  // of the trace, that compute
    std::vector<Kernel> kernels;
    double left = 0.0;     // of a kernel's variance, when means are taken
    double freedom = 0.0;  // degrees that the kernels' scatter has
};

bool is_timed_compute(const Trace& trace, const TraceOp& op)
{
    return trace.kinds[op.kind].role == OpRole::compute && op.duration_s > 0.0F;
}

/// Takes the means of positions from the kernels. `keys`: kind, worker and position of each.
void set_positions(StepKernels& table, const std::vector<std::int64_t>& keys,
                   const std::vector<double>& seconds)
{
    std::vector<Kernel>& kernels = table.kernels;
    const Partition cells = partition_by(keys);
    std::vector<double> logs(kernels.size());
    std::transform(kernels.begin(), kernels.end(), logs.begin(),
                   [](const Kernel& kernel) { return kernel.log; });
    const std::vector<double> means = level_means(cells, logs);
    const std::vector<double> times = level_means(cells, seconds);
    double squares = 0.0;
    double fourths = 0.0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const auto cell = static_cast<std::size_t>(cells.level[i]);
        kernels[i].log -= means[cell];
        kernels[i].weight = times[cell];
        const double square = times[cell] * times[cell];
        squares += square;
        fourths += square * square;
    }
    // Kernels that count, by their time; means of positions and of workers in steps are taken from them.
    const auto taken =
        static_cast<double>(cells.levels) + static_cast<double>(table.steps.size() * table.workers.size());
    table.left = kernels.empty() ? 0.0 : 1.0 - taken / static_cast<double>(kernels.size());
    table.freedom = fourths > 0.0 ? table.left * squares * squares / fourths : 0.0;
}

StepKernels step_kernels(const Trace& trace)
{
    std::map<std::int32_t, std::set<std::int32_t>> workers_of;
    std::set<std::int32_t> workers;
    for (const TraceOp& op : trace.ops) {
        if (is_timed_compute(trace, op) &&
            (workers_of[op.step].empty() || *workers_of[op.step].rbegin() != op.worker)) {
            workers_of[op.step].insert(op.worker);
            workers.insert(op.worker);
        }
    }
    StepKernels table;
    std::map<std::int32_t, std::size_t> place;
    for (const auto& [step, there] : workers_of) {
        if (there == workers) {
            place[step] = table.steps.size();
            table.steps.push_back(step);
        }
    }
    std::map<std::int32_t, std::size_t> index;
    for (const std::int32_t worker : workers) {
        index[worker] = table.workers.size();
        table.workers.push_back(static_cast<std::size_t>(worker));
    }
    std::vector<std::int64_t> keys;
    std::vector<double> seconds;
    const auto worker_count = static_cast<std::int64_t>(trace.workers.size());
    for (const TraceOp& op : trace.ops) {
        const auto step = place.find(op.step);
        if (is_timed_compute(trace, op) && step != place.end()) {
            constexpr std::int64_t most_numbers = std::int64_t{1} << 28;
            const std::int64_t row = static_cast<std::int64_t>(op.kind) * worker_count + op.worker;
            keys.push_back(row * most_numbers + op.sequence);
            seconds.push_back(static_cast<double>(op.duration_s));
            table.kernels.push_back({.step = step->second,
                                     .worker = index.at(op.worker),
                                     .log = std::log(seconds.back()),
                                     .weight = 0.0});
        }
    }
    set_positions(table, keys, seconds);
    return table;
}

/// Means of workers in steps, less those of workers.
GroupTable group_kernels(const StepKernels& table)
{
    GroupTable groups(table.workers.size(), std::vector<Group>(table.steps.size()));
    for (const Kernel& kernel : table.kernels) {
        Group& group = groups[kernel.worker][kernel.step];
        group.mean += kernel.weight * kernel.log;
        group.weight += kernel.weight;
    }
    for (std::vector<Group>& of_worker : groups) {
        for (Group& group : of_worker) {
            group.mean /= group.weight;
        }
    }
    for (const Kernel& kernel : table.kernels) {
        Group& group = groups[kernel.worker][kernel.step];
        const double rest = kernel.weight * (kernel.log - group.mean) / group.weight;
        group.error += rest * rest;
    }
    for (std::vector<Group>& of_worker : groups) {
        double mean = 0.0;
        for (const Group& group : of_worker) {
            mean += group.mean / static_cast<double>(of_worker.size());
        }
        for (Group& group : of_worker) {
            group.mean -= mean;
            group.error = std::sqrt(group.error / table.left);
        }
    }
    return groups;
}

Component unknown_component(const std::string& name, const StepKernels& table)
{
    Component component;
    component.name = name;
    if (table.steps.size() < 2) {
        component.unknown = UnknownComponent::single_step;
    } else {
        component.unknown = name == "stage" ? UnknownComponent::single_gpu : UnknownComponent::no_recurrence;
    }
    return component;
}

/// Of a kernel, by time.
Component residual_component(const StepKernels& table, const GroupTable& groups)
{
    double squares = 0.0;
    double weight = 0.0;
    for (const Kernel& kernel : table.kernels) {
        const double rest = kernel.log - groups[kernel.worker][kernel.step].mean;
        squares += kernel.weight * rest * rest;
        weight += kernel.weight;
    }
    Component component;
    component.name = "residual";
    component.units = static_cast<int>(table.kernels.size());
    component.variance = squares / weight / table.left;
    const StatisticLimits limits = variance_limits(component.variance, table.freedom);
    component.low = limits.low;
    component.high = limits.high;
    component.present = component.variance > 0.0;
    return component;
}

}  // namespace

StepEffects step_effects(const Trace& trace)
{
    constexpr double finest = 1e-6;  // of clocks that tick together
    const StepKernels table = step_kernels(trace);
    const std::size_t step_count = table.steps.size();
    const std::size_t worker_count = table.workers.size();
    StepEffects result;
    result.steps = table.steps;
    result.components = {unknown_component("step", table), unknown_component("stage", table),
                         unknown_component("residual", table)};
    if (step_count < 2 || worker_count == 0 || !(table.freedom >= 1.0)) {
        return result;
    }
    const auto k = static_cast<double>(step_count);
    const auto w = static_cast<double>(worker_count);
    const GroupTable groups = group_kernels(table);
    std::vector<double> effects(step_count, 0.0);
    std::vector<double> errors(step_count, 0.0);
    for (std::size_t s = 0; s < step_count; ++s) {
        for (const std::vector<Group>& of_worker : groups) {
            effects[s] += of_worker[s].mean / w;
            errors[s] += of_worker[s].error * of_worker[s].error / (w * w);
        }
        errors[s] = std::max(finest, std::sqrt(errors[s]));
    }
    double freedom = table.freedom;
    if (worker_count > 1) {
        // of workers in steps, with the variance given back that means of both took
        std::vector<double> rests;
        std::vector<double> noise;
        const double stretch = std::sqrt((k * w - 1.0) / ((k - 1.0) * (w - 1.0)));
        result.workers.assign(trace.workers.size(), {});
        for (std::size_t i = 0; i < worker_count; ++i) {
            for (std::size_t s = 0; s < step_count; ++s) {
                const Group& group = groups[i][s];
                result.workers[table.workers[i]].push_back(group.mean - effects[s]);
                rests.push_back(stretch * (group.mean - effects[s]));
                noise.push_back(std::max(finest, group.error));
            }
        }
        result.components[1] =
            spread_of_effects("stage", rests, noise, table.freedom, (k - 1.0) * (w - 1.0) + 1.0);
        if (result.components[1].present) {
            std::fill(errors.begin(), errors.end(), std::sqrt(variance_of(rests) / w));
            freedom = (k - 1.0) * (w - 1.0);
        }
    }
    result.components[0] = spread_of_effects("step", effects, errors, freedom, independent_draws(effects));
    result.components[2] = residual_component(table, groups);
    result.effects = std::move(effects);
    return result;
}

}  // namespace prismopt

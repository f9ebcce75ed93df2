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
    double squares = 0.0;  // of weights
    double error = 0.0;    // standard error of the mean, from how the kernels scatter about it
};

class StepTable {
public:
    explicit StepTable(const Trace& trace) : trace_(trace) { read(); }

    StepEffects make()
    {
        StepEffects result;
        result.steps = steps_;
        const auto k = static_cast<double>(steps_.size());
        const auto w = static_cast<double>(workers_.size());
        result.components = {unknown("step"), unknown("stage"), unknown("residual")};
        if (steps_.size() < 2 || workers_.empty() || !(freedom_ >= 1.0)) {
            return result;
        }
        group();
        std::vector<double> effects(steps_.size(), 0.0);
        std::vector<double> errors(steps_.size(), 0.0);
        for (std::size_t s = 0; s < steps_.size(); ++s) {
            for (const std::vector<Group>& of_worker : groups_) {
                effects[s] += of_worker[s].mean / w;
                errors[s] += of_worker[s].error * of_worker[s].error / (w * w);
            }
            errors[s] = std::max(finest, std::sqrt(errors[s]));
        }
        double freedom = freedom_;
        if (workers_.size() > 1) {
            // of workers in steps, with the variance given back that means of both took
            std::vector<double> rests;
            std::vector<double> noise;
            const double stretch = std::sqrt((k * w - 1.0) / ((k - 1.0) * (w - 1.0)));
            result.workers.assign(trace_.workers.size(), {});
            for (std::size_t i = 0; i < workers_.size(); ++i) {
                for (std::size_t s = 0; s < steps_.size(); ++s) {
                    result.workers[workers_[i]].push_back(groups_[i][s].mean - effects[s]);
                    rests.push_back(stretch * (groups_[i][s].mean - effects[s]));
                    noise.push_back(std::max(finest, groups_[i][s].error));
                }
            }
            result.components[1] =
                spread_of_effects("stage", rests, noise, freedom_, (k - 1.0) * (w - 1.0) + 1.0);
            if (result.components[1].present) {
                std::fill(errors.begin(), errors.end(), std::sqrt(variance_of(rests) / w));
                freedom = (k - 1.0) * (w - 1.0);
            }
        }
        result.components[0] =
            spread_of_effects("step", effects, errors, freedom, independent_draws(effects));
        result.components[2] = residual();
        result.effects = std::move(effects);
        return result;
    }

private:
    static constexpr double finest = 1e-6;  // of clocks that tick together

    UnknownComponent why_unknown(const std::string& name) const
    {
        if (steps_.size() < 2) {
            return UnknownComponent::single_step;
        }
        return name == "stage" ? UnknownComponent::single_gpu : UnknownComponent::no_recurrence;
    }

    Component unknown(const std::string& name) const
    {
        Component component;
        component.name = name;
        component.unknown = why_unknown(name);
        return component;
    }

    void read()
    {
        std::map<std::int32_t, std::set<std::int32_t>> workers_of;
        std::set<std::int32_t> workers;
        const auto counts = [&](const TraceOp& op) {
            return trace_.kinds[op.kind].role == OpRole::compute && op.duration_s > 0.0F;
        };
        for (const TraceOp& op : trace_.ops) {
            if (counts(op) && (workers_of[op.step].empty() || *workers_of[op.step].rbegin() != op.worker)) {
                workers_of[op.step].insert(op.worker);
                workers.insert(op.worker);
            }
        }
        std::map<std::int32_t, std::size_t> place;
        for (const auto& [step, there] : workers_of) {
            if (there == workers) {
                place[step] = steps_.size();
                steps_.push_back(step);
            }
        }
        std::map<std::int32_t, std::size_t> index;
        for (const std::int32_t worker : workers) {
            index[worker] = workers_.size();
            workers_.push_back(static_cast<std::size_t>(worker));
        }
        std::vector<std::int64_t> keys;
        std::vector<double> seconds;
        for (const TraceOp& op : trace_.ops) {
            const auto step = place.find(op.step);
            if (counts(op) && step != place.end()) {
                constexpr std::int64_t most_numbers = std::int64_t{1} << 28;
                keys.push_back(
                    (static_cast<std::int64_t>(op.kind) * static_cast<std::int64_t>(trace_.workers.size()) +
                     op.worker) *
                        most_numbers +
                    op.sequence);
                seconds.push_back(static_cast<double>(op.duration_s));
                kernels_.push_back({step->second, index.at(op.worker), std::log(seconds.back()), 0.0});
            }
        }
        set_positions(keys, seconds);
    }

    void set_positions(const std::vector<std::int64_t>& keys, const std::vector<double>& seconds)
    {
        const Partition cells = partition_by(keys);
        std::vector<double> logs(kernels_.size());
        std::transform(kernels_.begin(), kernels_.end(), logs.begin(),
                       [](const Kernel& kernel) { return kernel.log; });
        const std::vector<double> means = level_means(cells, logs);
        const std::vector<double> times = level_means(cells, seconds);
        double squares = 0.0;
        double fourths = 0.0;
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const auto cell = static_cast<std::size_t>(cells.level[i]);
            kernels_[i].log -= means[cell];
            kernels_[i].weight = times[cell];
            const double square = times[cell] * times[cell];
            squares += square;
            fourths += square * square;
        }
        // Kernels that count, by their time; means of positions and of workers in steps are taken from them.
        const auto taken =
            static_cast<double>(cells.levels) + static_cast<double>(steps_.size() * workers_.size());
        left_ = kernels_.empty() ? 0.0 : 1.0 - taken / static_cast<double>(kernels_.size());
        freedom_ = fourths > 0.0 ? left_ * squares * squares / fourths : 0.0;
    }

    void group()
    {
        groups_.assign(workers_.size(), std::vector<Group>(steps_.size()));
        for (const Kernel& kernel : kernels_) {
            Group& group = groups_[kernel.worker][kernel.step];
            group.mean += kernel.weight * kernel.log;
            group.weight += kernel.weight;
            group.squares += kernel.weight * kernel.weight;
        }
        for (std::vector<Group>& of_worker : groups_) {
            for (Group& group : of_worker) {
                group.mean /= group.weight;
            }
        }
        for (const Kernel& kernel : kernels_) {
            Group& group = groups_[kernel.worker][kernel.step];
            const double rest = kernel.weight * (kernel.log - group.mean) / group.weight;
            group.error += rest * rest;
        }
        for (std::vector<Group>& of_worker : groups_) {
            double mean = 0.0;
            for (const Group& group : of_worker) {
                mean += group.mean / static_cast<double>(of_worker.size());
            }
            for (Group& group : of_worker) {
                group.mean -= mean;
                group.error = std::sqrt(group.error / left_);
            }
        }
    }

    /// Of a kernel, by time.
    Component residual() const
    {
        double squares = 0.0;
        double weight = 0.0;
        std::vector<double> means(workers_.size(), 0.0);
        for (const Kernel& kernel : kernels_) {
            const double rest = kernel.log - groups_[kernel.worker][kernel.step].mean;
            squares += kernel.weight * rest * rest;
            weight += kernel.weight;
        }
        Component component;
        component.name = "residual";
        component.units = static_cast<int>(kernels_.size());
        component.variance = squares / weight / left_;
        const StatisticLimits limits = variance_limits(component.variance, freedom_);
        component.low = limits.low;
        component.high = limits.high;
        component.present = component.variance > 0.0;
        return component;
    }

    const Trace& trace_;
    std::vector<std::int32_t> steps_;   // with all workers
    std::vector<std::size_t> workers_;  // of the trace, that compute
    std::vector<Kernel> kernels_;
    double left_ = 0.0;     // of a kernel's variance, when means are taken
    double freedom_ = 0.0;  // degrees that the kernels' scatter has
    std::vector<std::vector<Group>> groups_;
};

}  // namespace

StepEffects step_effects(const Trace& trace) { return StepTable(trace).make(); }

}  // namespace prismopt

#include "model/calibration/gpus/gpu_effects.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/effect_spread.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace prismopt {

namespace {

struct Sum {
    double value = 0.0;
    double weight = 0.0;
    void add(double x, double w)
    {
        value += w * x;
        weight += w;
    }
    double mean() const { return value / weight; }
};

bool counts(const Trace& trace, const TraceOp& op)
{
    return trace.kinds[op.kind].role == OpRole::compute && op.duration_s > 0.0F;
}

double log_of(const TraceOp& op) { return std::log(static_cast<double>(op.duration_s)); }

/// Kind and stage.
using Cell = std::pair<int, int>;
Cell cell_of(const Trace& trace, const TraceOp& op)
{
    return {op.kind, trace.workers[static_cast<std::size_t>(op.worker)].stage};
}

/// Log duration of each kind and stage that several workers run: the median of their means.
std::map<Cell, double> centres(const Trace& trace)
{
    std::map<Cell, std::map<int, Sum>> sums;
    for (const TraceOp& op : trace.ops) {
        if (counts(trace, op)) {
            sums[cell_of(trace, op)][op.worker].add(log_of(op), 1.0);
        }
    }
    std::map<Cell, double> result;
    for (const auto& [cell, workers] : sums) {
        std::vector<double> means;
        for (const auto& [worker, sum] : workers) {
            means.push_back(sum.mean());
        }
        if (means.size() > 1) {
            result[cell] = median_of(means);
        }
    }
    return result;
}

/// Mean deviation of each worker (inner) in each slice of the trace (outer): its steps, or eighths of it.
std::vector<std::vector<Sum>> deviations(const Trace& trace)
{
    const std::map<Cell, double> centre = centres(trace);
    std::map<std::int32_t, std::size_t> steps;
    std::vector<std::size_t> total(trace.workers.size(), 0);
    for (const TraceOp& op : trace.ops) {
        steps.emplace(op.step, steps.size());
        ++total[static_cast<std::size_t>(op.worker)];
    }
    constexpr std::size_t least_steps = 4;
    constexpr std::size_t slice_count = 8;
    const bool by_step = steps.size() >= least_steps;
    std::vector<std::vector<Sum>> slices(by_step ? steps.size() : slice_count,
                                         std::vector<Sum>(trace.workers.size()));
    std::vector<std::size_t> seen(trace.workers.size(), 0);
    for (const TraceOp& op : trace.ops) {
        const auto worker = static_cast<std::size_t>(op.worker);
        const std::size_t slice = by_step ? steps.at(op.step) : slice_count * seen[worker]++ / total[worker];
        const auto usual = centre.find(cell_of(trace, op));
        if (counts(trace, op) && usual != centre.end()) {
            slices[slice][worker].add(log_of(op) - usual->second, std::exp(usual->second));
        }
    }
    return slices;
}

Component component_of(const std::vector<double>& effects, const std::vector<double>& errors, double freedom)
{
    if (effects.size() < 2) {
        Component result;
        result.name = "gpu";
        result.units = static_cast<int>(effects.size());
        result.unknown = UnknownComponent::own_kernels;
        return result;
    }
    return spread_of_effects("gpu", effects, errors, freedom, static_cast<double>(effects.size()));
}

}  // namespace

GpuEffects gpu_effects(const Trace& trace)
{
    // By worker: of each slice, less what all share.
    std::vector<std::vector<double>> values(trace.workers.size());
    for (const std::vector<Sum>& slice : deviations(trace)) {
        std::vector<double> means;
        for (const Sum& sum : slice) {
            if (sum.weight > 0.0) {
                means.push_back(sum.mean());
            }
        }
        if (means.size() < 2) {
            continue;
        }
        const double shared = median_of(means);
        for (std::size_t w = 0; w < slice.size(); ++w) {
            if (slice[w].weight > 0.0) {
                values[w].push_back(slice[w].mean() - shared);
            }
        }
    }
    GpuEffects result;
    result.effects.assign(trace.workers.size(), std::numeric_limits<double>::quiet_NaN());
    result.errors = result.effects;
    std::vector<double> effects;
    std::vector<double> errors;
    double freedom = 0.0;
    constexpr double finest = 1e-6;  // of clocks that tick together
    for (std::size_t w = 0; w < values.size(); ++w) {
        if (values[w].size() > 1) {
            result.effects[w] = mean_of(values[w]);
            result.errors[w] =
                std::max(finest, std::sqrt(variance_of(values[w]) / static_cast<double>(values[w].size())));
            effects.push_back(result.effects[w]);
            errors.push_back(result.errors[w]);
            freedom += static_cast<double>(values[w].size() - 1);
        }
    }
    result.component = component_of(effects, errors, freedom);
    return result;
}

}  // namespace prismopt

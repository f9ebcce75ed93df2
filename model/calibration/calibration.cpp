#include "model/calibration/calibration.hpp"

#include "model/calibration/component_distributions.hpp"
#include "model/calibration/compute_distributions.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/gpus/gpu_effects.hpp"
#include "model/calibration/trace/predicted_steps.hpp"
#include "model/calibration/trace/thin_trace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// Longer traces are thinned.
constexpr std::size_t most_operations = 500'000;

/// The steps of a trace whose times are steady, thinned.
struct SteadySteps {
    Trace trace;
    std::size_t recorded = 0;           // operations before thinning
    std::vector<std::int32_t> steps;    // of the thinned trace
    std::vector<std::int32_t> warm_up;  // before
    double step_s = 0.0;                // mean
    Trend trend;
};

std::size_t recorded_in(const Trace& trace, const std::vector<std::int32_t>& rising)
{
    return static_cast<std::size_t>(std::count_if(trace.ops.begin(), trace.ops.end(), [&](const TraceOp& op) {
        return std::binary_search(rising.begin(), rising.end(), op.step);
    }));
}

SteadySteps steady_steps(const Trace& trace)
{
    const std::vector<TraceStepTime> times = busiest_worker_times(trace);
    std::vector<double> series(times.size());
    std::transform(times.begin(), times.end(), series.begin(),
                   [](const TraceStepTime& time) { return time.seconds; });
    const std::size_t first = steady_from(series);
    SteadySteps result;
    std::vector<std::int32_t> steady;
    for (std::size_t i = 0; i < times.size(); ++i) {
        std::vector<std::int32_t>& steps = i < first ? result.warm_up : steady;
        steps.push_back(times[i].step);
    }
    result.trace = thin_trace(trace, steady, most_operations);
    result.recorded = recorded_in(trace, steady);
    for (const TraceStepTime& time : step_times(result.trace)) {
        result.steps.push_back(time.step);
    }
    const std::span<const double> steady_s = std::span(series).subspan(first);
    result.step_s = mean_of(steady_s);
    result.trend = trend_of(steady_s);
    return result;
}

/// Returns a note on a trend that is large enough to move a quantile.
std::optional<TrendNote> note_of(const Trend& trend, double step_s)
{
    constexpr double least = 0.005;
    if (!trend.present || std::abs(trend.change) <= least * step_s) {
        return std::nullopt;
    }
    return TrendNote{trend.change / step_s};
}

/// The trace without compute of some workers.
Trace without_compute_of(const std::vector<std::int32_t>& workers, const Trace& trace)
{
    Trace result = trace;
    if (workers.empty()) {
        return result;
    }
    std::erase_if(result.ops, [&](const TraceOp& op) {
        return result.kinds[op.kind].role == OpRole::compute &&
               std::binary_search(workers.begin(), workers.end(), op.worker);
    });
    return result;
}

/// Whether workers are stages of replicas: some are, or microbatches show it.
bool have_stages(const std::vector<TraceWorker>& workers, const ComputeEffects& of_compute)
{
    const auto is_later_stage = [](const TraceWorker& worker) { return worker.stage > 0; };
    return !of_compute.slots.empty() || std::any_of(workers.begin(), workers.end(), is_later_stage);
}

/// Components of kernels without microbatches: step, gpu, a GPU in a step, residual.
std::vector<Component> kernel_components(const StepEffects& steps, const Component& gpu)
{
    std::vector<Component> components = steps.components;
    components.insert(components.begin() + 1, gpu);
    return components;
}

/// Adds the distributions of transfers, collectives, and operations without a microbatch.
void add_operation_distributions(OperationDistributions found, Calibration& result)
{
    result.signatures = std::move(found.signatures);
    result.communication = found.communication;
    if (!found.communication.empty()) {
        const Component& step = found.communication.front();
        add_component(
            {"common_communication", "communication times of steps"}, step,
            [&] {
                return lognormal_of(step, source_of("communication time of a step over its mean", result));
            },
            result);
    }
    const std::string source =
        source_of(found.equal_positions
                      ? "durations over the mean of their kind and stage in a single step: an upper limit "
                        "if these operations do unequal work"
                      : "durations over the mean of their position, without the per-step component",
                  result);
    for (const KernelClassRow& row : kernel_class_rows) {
        const auto k = static_cast<std::size_t>(row.kernel);
        const std::string key = residual_key(row.kernel);
        const auto has_key = [&](const CalibratedDistribution& d) { return d.key == key; };
        if (std::any_of(result.distributions.begin(), result.distributions.end(), has_key)) {
            continue;
        }
        if (has_own_distribution(row.kernel, found.pools)) {
            add_distribution(result, {key, fit_distribution(found.pools[k], source)});
        } else if (!found.special[k].empty() && outermost(row.kernel) == row.kernel) {
            result.left.push_back({key, OncePerStep{found.special[k]}});
        }
    }
}

}  // namespace

bool few_steps(const Calibration& calibration)
{
    constexpr std::size_t least = 10;
    const std::size_t usual = calibration.steps.size() - calibration.others.size();
    return !calibration.others.empty() && (usual < least || 2 * usual < calibration.steps.size());
}

void add_distribution(Calibration& calibration, const CalibratedDistribution& distribution)
{
    std::erase_if(calibration.left, [&](const LeftToProfile& left) { return left.key == distribution.key; });
    const auto there =
        std::find_if(calibration.distributions.begin(), calibration.distributions.end(),
                     [&](const CalibratedDistribution& l) { return l.key == distribution.key; });
    if (there == calibration.distributions.end()) {
        calibration.distributions.push_back(distribution);
        return;
    }
    // A job's own kernels are the job's, however many others a microbenchmark timed, of other sizes
    // and without the job beside them.
    const bool of_job = distribution.key.starts_with("residual.");
    const bool more = !of_job && distribution.fit.values > there->fit.values;
    const DistributionFit& other = more ? there->fit : distribution.fit;
    const std::string instead =
        (of_job ? "; from the job, in place of the " : "; from more values than the ") +
        std::to_string(other.values) + " values of: " + other.distribution.source;
    if (more) {
        *there = distribution;
    }
    there->fit.distribution.source += instead;
}

Calibration calibrate(const Trace& all)
{
    const SteadySteps steady = steady_steps(all);
    const Trace& trace = steady.trace;
    Calibration result;
    result.source = all.source;
    result.operations = trace.ops.size();
    result.recorded = steady.recorded;
    result.steps = steady.steps;
    result.warm_up = steady.warm_up;
    if (const std::optional<TrendNote> note = note_of(steady.trend, steady.step_s)) {
        result.notes.push_back(*note);
    }

    const StepGraph graph = step_graph(trace);
    const ComputeEffects of_compute = compute_effects(trace, graph);
    const bool microbatches = !of_compute.slots.empty();
    const StepEffects steps = step_effects(trace);
    const GpuEffects gpus = microbatches ? GpuEffects{} : gpu_effects(trace);
    const WorkerTimes times = microbatches ? WorkerTimes{of_compute.worker_effects, of_compute.worker_errors}
                                           : WorkerTimes{gpus.effects, gpus.errors};
    const WorkerComparison workers =
        compare_workers(times, steps, {trace.workers, have_stages(trace.workers, of_compute)});
    result.others = graph.others;
    result.slow_workers = workers.excluded;
    result.notes.insert(result.notes.end(), workers.throttling.gpus.begin(), workers.throttling.gpus.end());

    const bool all_count = workers.excluded.empty();
    if (microbatches) {
        const ComputeEffects usual = all_count ? of_compute : compute_effects(trace, graph, workers.excluded);
        add_microbatch_distributions(usual, graph.steps, steady.step_s, workers, trace.kinds, result);
        add_operation_distributions(operation_distributions(trace, true), result);
    } else {
        const Trace usual = without_compute_of(workers.excluded, trace);
        const StepEffects usual_steps = all_count ? steps : step_effects(usual);
        const Component gpu = all_count ? gpus.component : gpu_effects(usual).component;
        result.components = kernel_components(usual_steps, gpu);
        add_kernel_gpus(gpus, workers, result);
        add_kernel_steps(usual_steps, steady.step_s, workers.throttling.steps, result);
        add_operation_distributions(operation_distributions(usual, false), result);
    }
    const std::vector<SlowUnit> stages = long_stages(trace);
    result.slow.insert(result.slow.end(), stages.begin(), stages.end());
    return result;
}

std::vector<double> composed_steps(const Trace& trace, const Calibration& calibration)
{
    const Trace used = thin_trace(trace, calibration.steps, most_operations);
    const StepGraph graph = step_graph(used);
    const ComputeEffects of_compute = compute_effects(used, graph, calibration.slow_workers);
    return of_compute.slots.empty() ? std::vector<double>{} : predicted_steps(used, graph, of_compute);
}

}  // namespace prismopt

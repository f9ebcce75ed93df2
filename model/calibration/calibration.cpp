#include "model/calibration/calibration.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/outliers.hpp"
#include "model/calibration/gpus/gpu_effects.hpp"
#include "model/calibration/gpus/slow_gpus.hpp"
#include "model/calibration/trace/predicted_steps.hpp"
#include "model/calibration/trace/step_effects.hpp"
#include "model/calibration/trace/thin_trace.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// Standard deviation of logarithms that moves no quantile by half a per cent.
constexpr double nothing = 0.001;
/// Upper limit of a standard deviation of logarithms below which a part is as good as constant.
constexpr double no_spread = 0.01;
/// Whether an operation is a backward pass, by its name.
bool is_backward(std::string name)
{
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("back") != std::string::npos || name.find("bwd") != std::string::npos;
}

/// Longer traces are thinned.
constexpr std::size_t most_operations = 500'000;

class Calibrator {
public:
    explicit Calibrator(const Trace& trace) : all_(trace) {}

    Calibration make()
    {
        result_.source = all_.source;
        choose_steps();
        result_.operations = trace_.ops.size();
        const StepGraph graph = step_graph(trace_);
        parts_ = compute_parts(trace_, graph);
        result_.others = graph.others;
        const StepEffects steps = step_effects(trace_);
        if (!parts_.slots.empty()) {
            gpus_ = {parts_.worker_effects, parts_.worker_errors};
            leave_out_slow(steps);
            if (!result_.slow_workers.empty()) {
                parts_ = compute_parts(trace_, graph, result_.slow_workers);
            }
            result_.components = parts_.components;
            compute_distributions(graph);
        } else {
            const GpuEffects gpus = gpu_effects(trace_);
            gpus_ = {gpus.effects, gpus.errors};
            leave_out_slow(steps);
            const bool all = result_.slow_workers.empty();
            const Trace others = all ? Trace{} : without_compute_of(result_.slow_workers);
            gpus_without_microbatches(gpus, all ? gpus : gpu_effects(others));
            steps_without_microbatches(all ? steps : step_effects(others));
        }
        communication_distributions();
        name_long_stages();
        return result_;
    }

private:
    void choose_steps()
    {
        const std::vector<TraceStepTime> times = busiest_worker_times(all_);
        std::vector<double> series(times.size());
        std::transform(times.begin(), times.end(), series.begin(), [](const TraceStepTime& time) { return time.seconds; });
        const std::size_t first = steady_from(series);
        for (std::size_t i = 0; i < times.size(); ++i) {
            (i < first ? result_.warm_up : result_.steps).push_back(times[i].step);
        }
        trace_ = thin_trace(all_, result_.steps, most_operations);
        result_.recorded = recorded_in(result_.steps);
        const auto used = step_times(trace_);
        result_.steps.resize(used.size());
        std::transform(used.begin(), used.end(), result_.steps.begin(), [](const TraceStepTime& time) { return time.step; });
        const std::span<const double> steady = std::span(series).subspan(first);
        step_s_ = mean_of(steady);
        note_trend(trend_of(steady));
    }

    void note_trend(const Trend& trend)
    {
        constexpr double told = 0.005;  // less moves no quantile
        if (trend.present && std::abs(trend.change) > told * step_s_) {
            char text[160];
            std::snprintf(
                text, sizeof text,
                "steps take %.3g %% %s at the end than at the beginning; all steps are used, and slow changes count as drift",
                100.0 * std::abs(trend.change) / step_s_, trend.change > 0.0 ? "longer" : "less");
            result_.notes.emplace_back(text);
        }
    }

    std::size_t recorded_in(const std::vector<std::int32_t>& rising) const
    {
        return static_cast<std::size_t>(std::count_if(all_.ops.begin(), all_.ops.end(), [&](const TraceOp& op) {
            return std::binary_search(rising.begin(), rising.end(), op.step);
        }));
    }

    std::string source(const char* what) const { return std::string(what) + "; prismopt calibrate, " + all_.source; }

    void add(const std::string& key, DistributionFit fit) { add_distribution(result_, {key, std::move(fit)}); }

    /// The distribution of a part that is there; none where the trace does not tell.
    template <class Fit>
    void add_part(const std::string& key, const Component& component, const char* between, Fit fit)
    {
        if (component.present && std::sqrt(component.high) > nothing) {
            add(key, fit());
        } else if (!component.unknown.empty()) {
            result_.left.push_back({key, component.unknown});
        } else if (std::sqrt(component.high) > no_spread) {
            result_.left.push_back({key, "differences between " + std::string(between) +
                                             " are not significant, but there are too few measurements to call them zero"});
        } else {
            DistributionFit none =
                constant_distribution(source(("no significant differences between " + std::string(between)).c_str()));
            none.values = static_cast<std::size_t>(component.units);
            add(key, none);
        }
    }

    void compute_distributions(const StepGraph& graph)
    {
        result_.drift = fit_drift(parts_.step_means, graph.steps, step_s_);
        const std::vector<Component>& parts = parts_.components;
        // With the drift, as a step's quantiles need; over a run all but the drift's part averages out.
        add_part("common_compute", parts[0], "steps", [&] {
            return fit_distribution(exponentials(with_variance(parts_.step_means, parts[0].variance)),
                                    source("compute time of a step over its mean"));
        });
        if (!gpus_with_slow(source("compute time of a worker over the mean of its stage"))) {
            add_part("gpu", parts[1], "workers", [&] {
                std::vector<double> gpus;
                std::copy_if(parts_.worker_effects.begin(), parts_.worker_effects.end(), std::back_inserter(gpus),
                             [](double effect) { return std::isfinite(effect); });
                gpus = exponentials(with_variance(gpus, parts[1].variance));
                return fit_distribution(gpus, source("compute time of a worker over the mean of its stage"));
            });
        }
        add_part("stage", parts[2], "stages in a step",
                 [&] { return lognormal(parts[2], source("compute time of a stage in one step")); });
        add_slow_steps();
        add_part("microbatch", parts[3], "microbatches", [&] {
            return fit_distribution(exponentials(parts_.microbatch_effects), source("compute time of a microbatch"));
        });
        keep_exponents();
        if (parts[4].unknown.empty()) {
            add("operation",
                fit_distribution(exponentials(parts_.residuals), source("residual of a forward or backward operation")));
            result_.left.push_back({"residual.gemm", "the trace has one duration per operation, not per kernel; see operation"});
        } else {
            result_.left.push_back({"operation", parts[4].unknown});
        }
    }

    /// Exponents of kinds that are forward or backward passes, from the first stage to the last; of several such kinds, or chunks of a
    /// stage, the mean.
    void keep_exponents()
    {
        std::map<int, std::vector<double>> forward;  // by stage
        std::map<int, std::vector<double>> backward;
        for (const MicrobatchExponent& found : parts_.exponents) {
            const std::string& kind = trace_.kinds[static_cast<std::size_t>(found.kind)].name;
            result_.exponents.push_back({kind, found.stage, found.exponent, found.low, found.high});
            (is_backward(kind) ? backward : forward)[found.stage].push_back(found.exponent);
        }
        const auto in_order = [](const std::map<int, std::vector<double>>& stages) {
            std::vector<double> exponents;
            for (const auto& [stage, of_stage] : stages) {
                exponents.push_back(mean_of(of_stage));
            }
            return exponents;
        };
        result_.microbatch_exponent = {in_order(forward), in_order(backward)};
    }

    /// Components have no values of their own to fit where several operations share a draw.
    static DistributionFit lognormal(const Component& component, const std::string& source)
    {
        DistributionFit fit = constant_distribution(source);
        fit.distribution.family = LogNormal{std::sqrt(std::expm1(component.variance))};
        fit.family = "lognormal";
        fit.values = static_cast<std::size_t>(component.units);
        fit.claims_to = highest_claim(fit.values);
        return fit;
    }

    /// Effects stretched to the variance of their component: means have noise of their own, and are about the mean of a few.
    static std::vector<double> with_variance(std::vector<double> effects, double variance)
    {
        const double seen = variance_of(effects);
        for (double& effect : effects) {
            effect *= seen > 0.0 ? std::sqrt(variance / seen) : 0.0;
        }
        return effects;
    }

    /// Kernels of profilers tell of no microbatch: what persists of each GPU, over the same kernels. `others`: without slow GPUs.
    void gpus_without_microbatches(const GpuEffects& gpus, const GpuEffects& others)
    {
        result_.components = {others.component};
        if (!gpus.component.unknown.empty()) {
            return;
        }
        const std::string from = source("kernel times of a GPU over those of the median GPU");
        if (gpus_with_slow(from)) {
            return;
        }
        std::vector<double> logs;
        std::copy_if(gpus.effects.begin(), gpus.effects.end(), std::back_inserter(logs),
                     [](double effect) { return std::isfinite(effect); });
        constexpr std::size_t least = 4;  // fewer that are alike say little of others
        if (gpus.component.present) {
            add("gpu", fit_distribution(exponentials(with_variance(logs, gpus.component.variance)), from));
        } else if (logs.size() >= least) {
            add("gpu", constant_distribution(source("no significant differences between GPUs")));
        }
    }

    /// What the kernels of one step share, and those of one GPU in it.
    void steps_without_microbatches(const StepEffects& steps)
    {
        result_.components.insert(result_.components.begin(), steps.components.front());
        result_.components.insert(result_.components.end(), steps.components.begin() + 1, steps.components.end());
        result_.drift = fit_drift(steps.effects, steps.steps, step_s_);
        add_part("common_compute", steps.components[0], "steps", [&] {
            constexpr std::size_t least = 20;  // of fewer a pool would be all that is known
            const std::string from = source("compute time of a step over its mean, kernels weighted by their time");
            return steps.effects.size() < least
                       ? lognormal(steps.components[0], from)
                       : fit_distribution(exponentials(with_variance(steps.effects, steps.components[0].variance)), from);
        });
        add_part("stage", steps.components[1], "GPUs in a step",
                 [&] { return lognormal(steps.components[1], source("compute time of a GPU in one step")); });
        add_slow_steps();
    }

    std::string gpu_name(const TraceWorker& worker) const
    {
        const bool stages =
            std::any_of(trace_.workers.begin(), trace_.workers.end(), [](const TraceWorker& w) { return w.stage > 0; });
        return stages || !parts_.slots.empty()
                   ? "GPU of dp " + std::to_string(worker.dp) + ", stage " + std::to_string(worker.stage)
                   : "GPU of rank " + std::to_string(worker.dp);
    }

    /// GPUs against the median of their stage, which a slow one does not move.
    struct Peers {
        std::vector<double> values;
        std::vector<double> errors;
        std::vector<std::size_t> who;  // workers of the trace
    };
    Peers peers() const
    {
        std::map<int, std::vector<double>> stages;
        for (std::size_t w = 0; w < gpus_.effects.size(); ++w) {
            if (std::isfinite(gpus_.effects[w])) {
                stages[trace_.workers[w].stage].push_back(gpus_.effects[w]);
            }
        }
        Peers result;
        for (std::size_t w = 0; w < gpus_.effects.size(); ++w) {
            if (std::isfinite(gpus_.effects[w])) {
                result.values.push_back(gpus_.effects[w] - median_of(stages[trace_.workers[w].stage]));
                result.errors.push_back(gpus_.errors[w]);
                result.who.push_back(w);
            }
        }
        return result;
    }

    /// Slow GPUs, always or in some steps, are no part of what the others vary by, as long as each of their stages keeps a GPU and
    /// half of all stay.
    void leave_out_slow(const StepEffects& steps)
    {
        const Peers all = peers();
        std::set<std::size_t> slow;
        for (const Outlier& outlier : outliers(all.values, all.errors)) {
            slow.insert(all.who[outlier.index]);
        }
        note_sometimes_slow(steps, slow);
        std::map<int, std::size_t> left;
        for (const std::size_t w : all.who) {
            left[trace_.workers[w].stage] += slow.contains(w) ? 0 : 1;
        }
        const bool stages_stay = std::all_of(left.begin(), left.end(), [](const auto& stage) { return stage.second > 0; });
        if (stages_stay && 2 * slow.size() <= all.who.size()) {
            result_.slow_workers.assign(slow.begin(), slow.end());
        }
    }

    /// The trace without compute of some workers.
    Trace without_compute_of(const std::vector<std::int32_t>& workers) const
    {
        Trace result = trace_;
        std::erase_if(result.ops, [&](const TraceOp& op) {
            return result.kinds[op.kind].role == OpRole::compute && std::binary_search(workers.begin(), workers.end(), op.worker);
        });
        return result;
    }

    /// Names slow GPUs. Where there are some, the distribution is of the others, with the slow ones as its slow mode; otherwise
    /// nothing is written.
    bool gpus_with_slow(const std::string& from)
    {
        const Peers all = peers();
        const std::vector<double>& values = all.values;
        const std::vector<double>& errors = all.errors;
        const std::vector<std::size_t>& who = all.who;
        const std::vector<Outlier> found = outliers(values, errors);
        std::vector<char> is_slow(values.size(), 0);
        std::vector<double> slow;
        for (const Outlier& outlier : found) {
            is_slow[outlier.index] = 1;
            slow.push_back(values[outlier.index]);
            result_.slow.push_back(
                {gpu_name(trace_.workers[who[outlier.index]]), std::expm1(values[outlier.index]), outlier.probability});
        }
        if (slow.empty()) {
            return false;
        }
        std::map<int, std::vector<double>> usual_of;  // by stage
        double noise = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (is_slow[i] == 0) {
                usual_of[trace_.workers[who[i]].stage].push_back(values[i]);
                noise += errors[i] * errors[i] / static_cast<double>(values.size() - slow.size());
            }
        }
        std::vector<double> usual;
        double squares = 0.0;
        double freedom = 0.0;
        for (const auto& [stage, of_stage] : usual_of) {
            const double mean = mean_of(of_stage);
            for (const double value : of_stage) {
                usual.push_back(value - mean);
                squares += (value - mean) * (value - mean);
            }
            freedom += static_cast<double>(of_stage.size() - 1);
        }
        const double variance = freedom > 0.0 ? std::max(0.0, squares / freedom - noise) : 0.0;
        const DistributionFit fit = distribution_with_slow(with_variance(usual, variance), slow, from);
        result_.notes.push_back(slow_advice("gpu", "GPU", slow.size(), values.size(), fit.distribution.slow.excess));
        result_.slow_shares.push_back(slow_share("gpu", slow.size(), values.size(), fit.distribution.slow.excess));
        add("gpu", fit);
        return true;
    }

    /// GPUs that throttle now and then. `slow`: gets these, too.
    void note_sometimes_slow(const StepEffects& steps, std::set<std::size_t>& slow)
    {
        std::vector<std::vector<double>> logs;
        std::vector<std::size_t> who;
        for (std::size_t w = 0; w < steps.workers.size(); ++w) {
            if (!steps.workers[w].empty()) {
                logs.push_back(steps.workers[w]);
                who.push_back(w);
            }
        }
        for (const SometimesSlow& found : sometimes_slow(logs)) {
            char text[80];
            std::snprintf(text, sizeof text, " is slow in %.2g %% of steps, by %.2g %%", 100.0 * found.share,
                          100.0 * found.excess);
            result_.notes.push_back(gpu_name(trace_.workers[who[found.index]]) + text);
            slow.insert(who[found.index]);
            const double share = found.share / static_cast<double>(logs.size());
            slow_steps_.excess =
                (slow_steps_.excess * slow_steps_.probability + found.excess * share) / (slow_steps_.probability + share);
            slow_steps_.probability += share;
        }
    }

    /// Steps in which a GPU throttles are a slow mode of "stage", as often as they are among all GPUs' steps.
    void add_slow_steps()
    {
        if (slow_steps_.probability == 0.0) {
            return;
        }
        const auto is_stage = [](const CalibratedDistribution& d) { return d.key == "stage"; };
        if (std::none_of(result_.distributions.begin(), result_.distributions.end(), is_stage)) {
            add("stage", constant_distribution(source("GPUs in a step")));
        }
        DistributionFit& fit = std::find_if(result_.distributions.begin(), result_.distributions.end(), is_stage)->fit;
        fit.distribution.slow = slow_steps_;
        fit.distribution.source += "; slow: steps in which a GPU throttles";
    }

    /// Mean durations by stage of kinds with a microbatch, against the median stage. Of a stage's workers the median counts: one
    /// slow GPU is no slow stage.
    void name_long_stages()
    {
        std::map<std::pair<int, std::int32_t>, std::pair<double, double>> sums;  // kind, worker: sum, count
        for (const TraceOp& op : trace_.ops) {
            if (op.microbatch >= 0 && trace_.kinds[op.kind].role == OpRole::compute) {
                auto& [sum, count] = sums[{op.kind, op.worker}];
                sum += static_cast<double>(op.duration_s);
                count += 1.0;
            }
        }
        std::map<std::pair<int, int>, std::vector<double>> workers;  // kind, stage
        for (const auto& [key, sum] : sums) {
            workers[{key.first, trace_.workers[static_cast<std::size_t>(key.second)].stage}].push_back(sum.first / sum.second);
        }
        std::map<int, std::vector<std::pair<int, double>>> by_kind;
        for (const auto& [key, means] : workers) {
            by_kind[key.first].emplace_back(key.second, median_of(means));
        }
        constexpr double longer = 0.05;  // less is how layers divide
        for (const auto& [kind, stages] : by_kind) {
            std::vector<double> means(stages.size());
            std::transform(stages.begin(), stages.end(), means.begin(), [](const auto& s) { return s.second; });
            const double median = median_of(means);
            for (const auto& [stage, mean] : stages) {
                if (stages.size() > 2 && mean > (1.0 + longer) * median) {
                    result_.slow.push_back(
                        {"stage " + std::to_string(stage) + ", " + trace_.kinds[static_cast<std::size_t>(kind)].name,
                         mean / median - 1.0, 0.0});
                }
            }
        }
    }

    void communication_distributions()
    {
        const bool all = !parts_.slots.empty() || result_.slow_workers.empty();
        OperationDistributions found =
            operation_distributions(all ? trace_ : without_compute_of(result_.slow_workers), !parts_.slots.empty());
        result_.signatures = std::move(found.signatures);
        result_.communication = found.communication;
        if (!found.communication.empty()) {
            const Component& step = found.communication.front();
            add_part("common_communication", step, "communication times of steps",
                     [&] { return lognormal(step, source("communication time of a step over its mean")); });
        }
        for (const KernelClassRow& row : kernel_class_rows) {
            const auto k = static_cast<std::size_t>(row.kernel);
            const std::string key = residual_key(row.kernel);
            const bool known = std::any_of(result_.distributions.begin(), result_.distributions.end(),
                                           [&](const CalibratedDistribution& l) { return l.key == key; });
            if (known) {
                continue;
            }
            if (has_own_distribution(row.kernel, found.pools)) {
                add(key, fit_distribution(
                             found.pools[k],
                             source(found.positions_alike
                                        ? "durations over the mean of their kind and stage in a single step: an upper limit "
                                          "if these operations do unequal work"
                                        : "durations over the mean of their position, without the per-step component")));
            } else if (!found.special[k].empty() && outermost(row.kernel) == row.kernel) {
                result_.left.push_back({key, "only operations that occur once per step (" + found.special[k] + ")"});
            }
        }
    }

    const Trace& all_;
    Trace trace_;  // steady steps
    double step_s_ = 0.0;
    ComputeParts parts_;
    struct {
        std::vector<double> effects;
        std::vector<double> errors;
    } gpus_;               // [worker of the trace], logarithms; not a number where nothing is known
    SlowMode slow_steps_;  // of GPUs that throttle
    Calibration result_;
};

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
    const auto there = std::find_if(calibration.distributions.begin(), calibration.distributions.end(),
                                    [&](const CalibratedDistribution& l) { return l.key == distribution.key; });
    if (there == calibration.distributions.end()) {
        calibration.distributions.push_back(distribution);
        return;
    }
    // A job's own kernels are the job's, however many others a microbenchmark timed, of other sizes and without the job beside
    // them.
    const bool of_job = distribution.key.starts_with("residual.");
    const bool more = !of_job && distribution.fit.values > there->fit.values;
    const DistributionFit& other = more ? there->fit : distribution.fit;
    const std::string instead = (of_job ? "; from the job, in place of the " : "; from more values than the ") +
                                std::to_string(other.values) + " values of: " + other.distribution.source;
    if (more) {
        *there = distribution;
    }
    there->fit.distribution.source += instead;
}

Calibration calibrate(const Trace& trace) { return Calibrator(trace).make(); }

std::vector<double> composed_steps(const Trace& trace, const Calibration& calibration)
{
    const Trace used = thin_trace(trace, calibration.steps, most_operations);
    const StepGraph graph = step_graph(used);
    const ComputeParts parts = compute_parts(used, graph, calibration.slow_workers);
    return parts.slots.empty() ? std::vector<double>{} : predicted_steps(used, graph, parts);
}

}  // namespace prismopt

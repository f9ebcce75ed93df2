#include "model/calibrate/calibration.hpp"

#include "model/calibrate/goodness.hpp"
#include "model/calibrate/gpu_effects.hpp"
#include "model/calibrate/outliers.hpp"
#include "model/calibrate/predicted_steps.hpp"
#include "model/calibrate/waiting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

namespace prismopt {

namespace {

std::vector<double> exponentials(const std::vector<double>& logs)
{
    std::vector<double> values(logs.size());
    std::transform(logs.begin(), logs.end(), values.begin(), [](double x) { return std::exp(x); });
    return values;
}

/// One measured duration of a transfer or collective: each is recorded by all its members.
struct Duration {
    std::int32_t step;
    std::uint16_t kind;
    int stage;
    int sequence;
    double seconds;
};

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
        if (!parts_.slots.empty()) {
            result_.components = parts_.components;
            compute_laws(graph);
            name_slow_gpus(parts_.worker_effects, parts_.worker_errors);
        } else {
            gpus_without_microbatches();
        }
        communication_laws();
        name_long_stages();
        return result_;
    }

private:
    void choose_steps()
    {
        const std::vector<StepTime> times = busiest_worker_times(all_);
        std::vector<double> series;
        for (const StepTime& time : times) {
            series.push_back(time.seconds);
        }
        const std::size_t first = steady_from(series);
        for (std::size_t i = 0; i < times.size(); ++i) {
            (i < first ? result_.warm_up : result_.steps).push_back(times[i].step);
        }
        // Evenly spaced steps, where there are more than tell anything new.
        constexpr std::size_t most_operations = 500'000;
        const std::size_t every = 1 + all_.ops.size() / most_operations;
        for (std::size_t i = 0; i * every < result_.steps.size(); ++i) {
            result_.steps[i] = result_.steps[i * every];
        }
        result_.steps.resize((result_.steps.size() + every - 1) / every);
        trace_ = steps_of(all_, result_.steps);
        step_s_ = mean_of(std::span(series).subspan(first));
    }

    std::string source(const char* what) const { return std::string(what) + "; prismopt calibrate, " + all_.source; }

    void add_law(const std::string& key, const LawFit& fit) { result_.laws.push_back({key, fit}); }

    void compute_laws(const StepGraph& graph)
    {
        const auto clear = [&](std::size_t k) { return parts_.components[k].present; };
        result_.drift = fit_drift(parts_.step_means, graph.steps, step_s_);
        if (clear(0)) {
            add_law("common_compute",
                    fit_law(exponentials(without_drift()), source("computing of a step over its mean, less drift")));
        } else {
            add_law("common_compute", constant_law(source("no spread between steps beyond chance")));
        }
        std::vector<double> gpus;
        for (const double effect : parts_.worker_effects) {
            if (std::isfinite(effect)) {
                gpus.push_back(std::exp(effect));
            }
        }
        add_law("gpu", clear(1) ? fit_law(gpus, source("computing of a worker over its stage's mean"))
                                : constant_law(source("no spread between workers beyond chance")));
        add_law("stage", clear(2) ? lognormal(parts_.components[2], source("computing of a stage in one step"))
                                  : constant_law(source("no spread between stages in a step beyond chance")));
        add_law("microbatch", clear(3) ? fit_law(exponentials(parts_.microbatch_effects), source("computing of a microbatch"))
                                       : constant_law(source("no spread between microbatches beyond chance")));
        add_law("residual.gemm", fit_law(exponentials(parts_.residuals), source("rest of a forward or backward operation")));
    }

    /// Components have no values of their own to fit where several operations share a draw.
    static LawFit lognormal(const Component& component, const std::string& source)
    {
        LawFit fit = constant_law(source);
        fit.law.family = LogNormal{std::sqrt(std::expm1(component.variance))};
        fit.family = "lognormal";
        fit.values = static_cast<std::size_t>(component.units);
        fit.claims_to = highest_claim(fit.values);
        return fit;
    }

    /// Steps' effects whose variance is the component's, less that of the drift.
    std::vector<double> without_drift() const
    {
        const double seen = variance_of(parts_.step_means);
        const double left = parts_.components[0].variance - (result_.drift.found ? result_.drift.cv * result_.drift.cv : 0.0);
        std::vector<double> effects = parts_.step_means;
        for (double& effect : effects) {
            effect *= seen > 0.0 ? std::sqrt(std::max(0.0, left) / seen) : 0.0;
        }
        return effects;
    }

    /// Kernels of profilers tell of no microbatch: what persists of each GPU, over the same kernels.
    void gpus_without_microbatches()
    {
        const GpuEffects gpus = gpu_effects(trace_);
        result_.components = {gpus.component};
        if (!gpus.component.unknown.empty()) {
            return;
        }
        std::vector<double> logs;
        for (const double effect : gpus.effects) {
            if (std::isfinite(effect)) {
                logs.push_back(effect);
            }
        }
        const double seen = variance_of(logs);
        for (double& log : logs) {
            log *= seen > 0.0 ? std::sqrt(gpus.component.variance / seen) : 0.0;
        }
        constexpr std::size_t least = 4;  // fewer that are alike say little of others
        if (gpus.component.present) {
            gpu_log_ = gpus.effects;
            add_law("gpu", fit_law(exponentials(logs), source("kernels of a GPU over those of the median GPU")));
        } else if (logs.size() >= least) {
            add_law("gpu", constant_law(source("no spread between GPUs beyond chance")));
        }
        name_slow_gpus(gpus.effects, gpus.errors);
    }

    /// Duration without what its GPU always adds.
    double of_usual_gpu(const TraceOp& op) const
    {
        const double log = gpu_log_.empty() ? 0.0 : gpu_log_[static_cast<std::size_t>(op.worker)];
        return static_cast<double>(op.duration_s) * (std::isfinite(log) ? std::exp(-log) : 1.0);
    }

    std::string gpu_name(const Worker& worker) const
    {
        const bool stages =
            std::any_of(trace_.workers.begin(), trace_.workers.end(), [](const Worker& w) { return w.stage > 0; });
        return stages || !parts_.slots.empty()
                   ? "GPU of dp " + std::to_string(worker.dp) + ", stage " + std::to_string(worker.stage)
                   : "GPU of rank " + std::to_string(worker.dp);
    }

    /// Each against the median of its stage, which a slow one does not move.
    void name_slow_gpus(const std::vector<double>& effects, const std::vector<double>& standard_errors)
    {
        std::map<int, std::vector<double>> stages;
        for (std::size_t w = 0; w < effects.size(); ++w) {
            if (std::isfinite(effects[w])) {
                stages[trace_.workers[w].stage].push_back(effects[w]);
            }
        }
        std::vector<double> values;
        std::vector<double> errors;
        std::vector<std::size_t> who;
        for (std::size_t w = 0; w < effects.size(); ++w) {
            if (std::isfinite(effects[w])) {
                values.push_back(effects[w] - median_of(stages[trace_.workers[w].stage]));
                errors.push_back(standard_errors[w]);
                who.push_back(w);
            }
        }
        for (const Outlier& outlier : outliers(values, errors)) {
            result_.slow.push_back(
                {gpu_name(trace_.workers[who[outlier.index]]), std::expm1(values[outlier.index]), outlier.probability});
        }
    }

    /// Mean durations by stage of kinds with a microbatch, against the median stage.
    void name_long_stages()
    {
        std::map<std::pair<int, int>, std::pair<double, double>> sums;  // kind, stage: sum, count
        for (const TraceOp& op : trace_.ops) {
            if (op.microbatch >= 0 && trace_.kinds[op.kind].role == OpRole::compute) {
                auto& [sum, count] = sums[{op.kind, trace_.workers[static_cast<std::size_t>(op.worker)].stage}];
                sum += static_cast<double>(op.duration_s);
                count += 1.0;
            }
        }
        std::map<int, std::vector<std::pair<int, double>>> by_kind;
        for (const auto& [key, sum] : sums) {
            by_kind[key.first].emplace_back(key.second, sum.first / sum.second);
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

    /// Durations of what is not in the components of computing, by kind.
    void communication_laws()
    {
        std::vector<std::vector<Duration>> by_kind(trace_.kinds.size());
        std::int32_t step = 0;
        std::vector<std::tuple<int, int, int>> seen;  // kind, stage, sequence of the step's collectives
        for (const TraceOp& op : trace_.ops) {
            const OpKind& kind = trace_.kinds[op.kind];
            const bool computes = kind.role == OpRole::compute;
            if ((computes && op.microbatch >= 0 && !parts_.slots.empty()) || kind.role == OpRole::receive) {
                continue;  // with the components; with the send
            }
            if (op.step != step) {
                step = op.step;
                seen.clear();
            }
            const int stage = trace_.workers[static_cast<std::size_t>(op.worker)].stage;
            if (kind.role == OpRole::collective) {
                const std::tuple<int, int, int> key{op.kind, stage, op.sequence};
                const auto place = std::lower_bound(seen.begin(), seen.end(), key);
                if (place != seen.end() && *place == key) {
                    continue;  // another member's record of the same
                }
                seen.insert(place, key);
            }
            if (op.duration_s > 0.0F) {
                by_kind[op.kind].push_back(
                    {op.step, op.kind, stage, op.sequence, computes ? of_usual_gpu(op) : static_cast<double>(op.duration_s)});
            }
        }
        std::array<std::vector<double>, kernel_classes> pools;
        std::vector<Duration> communication;
        for (std::vector<Duration>& durations : by_kind) {
            if (!durations.empty()) {
                add_signature(durations, pools, communication);
            }
        }
        communication_components(communication);
        for (std::size_t k = 0; k < kernel_classes; ++k) {
            const std::string key = std::string("residual.") + kernel_class_names[k];
            const bool known =
                std::any_of(result_.laws.begin(), result_.laws.end(), [&](const CalibratedLaw& l) { return l.key == key; });
            constexpr std::size_t least = 5;  // fewer say nothing of a spread
            if (pools[k].size() >= least && !known) {
                add_law(key, fit_law(pools[k], source("durations over the mean of their kind and stage")));
            }
        }
    }

    void add_signature(std::vector<Duration>& durations, std::array<std::vector<double>, kernel_classes>& pools,
                       std::vector<Duration>& communication)
    {
        const OpKind& kind = trace_.kinds[durations.front().kind];
        Signature signature;
        signature.name = kind.name;
        if (kind.role == OpRole::send) {
            signature.waiting = take_waiting(durations);
        }
        std::map<int, std::pair<double, double>> sums;  // by stage
        for (const Duration& d : durations) {
            sums[d.stage].first += d.seconds;
            sums[d.stage].second += 1.0;
            signature.mean_s += d.seconds / static_cast<double>(durations.size());
        }
        std::vector<double> factors;
        factors.reserve(durations.size());
        for (const Duration& d : durations) {
            factors.push_back(d.seconds * sums[d.stage].second / sums[d.stage].first);
        }
        signature.fit = fit_law(factors, source("durations over the mean of their stage"));
        result_.signatures.push_back(signature);
        auto& pool = pools[static_cast<std::size_t>(kind.kernel)];
        pool.insert(pool.end(), factors.begin(), factors.end());
        if (kind.role != OpRole::compute) {
            for (std::size_t i = 0; i < durations.size(); ++i) {
                communication.push_back(durations[i]);
                communication.back().seconds = factors[i];
            }
        }
    }

    /// Removes what waits for the other end.
    static double take_waiting(std::vector<Duration>& durations)
    {
        std::vector<double> seconds(durations.size());
        std::transform(durations.begin(), durations.end(), seconds.begin(), [](const Duration& d) { return d.seconds; });
        const double threshold = waiting_threshold(seconds);
        const auto waits = [&](const Duration& d) { return d.seconds > threshold; };
        const std::size_t before = durations.size();
        durations.erase(std::remove_if(durations.begin(), durations.end(), waits), durations.end());
        return 1.0 - static_cast<double>(durations.size()) / static_cast<double>(before);
    }

    /// The part that transfers and collectives of one step share.
    void communication_components(const std::vector<Duration>& durations)
    {
        if (durations.size() < 2) {
            return;
        }
        std::vector<std::int64_t> step;
        std::vector<std::int64_t> cell;
        std::vector<double> y;
        constexpr std::size_t most = 100'000;
        const std::size_t every = 1 + durations.size() / most;
        for (const Duration& d : durations) {
            if (static_cast<std::size_t>(std::abs(d.step)) % every == 0) {
                step.push_back(d.step);
                cell.push_back((static_cast<std::int64_t>(d.kind) << 32) + d.stage);
                y.push_back(std::log(d.seconds));
            }
        }
        const Partition cells = partition_by(cell);
        const std::vector<double> means = part_means(cells, y);
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] -= means[static_cast<std::size_t>(cells.level[i])];
        }
        Partition each{std::vector<int>(y.size()), static_cast<int>(y.size())};
        std::iota(each.level.begin(), each.level.end(), 0);
        const Partition steps = partition_by(step);
        enum Index { one, kinds, in_step, single };
        ComponentModel model{y,
                             {Partition{std::vector<int>(y.size(), 0), 1}, cells, steps, each},
                             {{"step", in_step, {{1.0, in_step, one}}},
                              {"residual", single, {{1.0, single, kinds}, {-1.0, in_step, one}}}},
                             {}};
        constexpr int blocks = 20;
        model.blocks = steps;
        for (int& level : model.blocks.level) {
            level = steps.levels > blocks ? static_cast<int>(static_cast<std::int64_t>(level) * blocks / steps.levels) : level;
        }
        model.blocks.levels = std::min(blocks, steps.levels);
        result_.communication = variance_components(model);
        const bool clear = result_.communication.front().present;
        add_law("common_communication",
                clear ? lognormal(result_.communication.front(), source("communication of a step over its mean"))
                      : constant_law(source("no spread of the communication of steps beyond chance")));
    }

    const Trace& all_;
    Trace trace_;  // steady steps
    double step_s_ = 0.0;
    ComputeParts parts_;
    std::vector<double> gpu_log_;  // by worker, of kernels without microbatches; empty: alike
    Calibration result_;
};

}  // namespace

Calibration calibrate(const Trace& trace) { return Calibrator(trace).make(); }

}  // namespace prismopt

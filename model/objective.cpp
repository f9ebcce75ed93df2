#include "model/objective.hpp"

#include "model/base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

/// Share of the training time that is not productive, at its ends.
Estimate lost_share(const Prediction& p)
{
    const double productive = p.ettr * p.training.mean.value;
    const auto at = [productive](double time) {
        if (std::isinf(time)) {
            return time;  // no limit stays none
        }
        return time > productive ? 1.0 - productive / time : 0.0;
    };
    const Estimate& t = p.training.mean;
    return {at(t.value), at(t.low), at(t.high), at(t.simultaneous_low), at(t.simultaneous_high)};
}

/// p99 over p50 from the limits of both, which is more than their joint spread.
Estimate tail_ratio(const TimeDistribution& d)
{
    const auto ratio = [](double above, double below) {
        return below > 0.0 ? above / below : std::numeric_limits<double>::infinity();
    };
    return {ratio(d.p99.value, d.p50.value), std::max(0.0, d.p99.low / d.p50.high),
            ratio(d.p99.high, d.p50.low), std::max(0.0, d.p99.simultaneous_low / d.p50.simultaneous_high),
            ratio(d.p99.simultaneous_high, d.p50.simultaneous_low)};
}

using enum ScalesWith;

// A median may lie below the mean, so the noise-free step does not bound it.
std::vector<Objective> named_rows()
{
    return {
        {"training_time_p99", run, "s", "99th percentile of the training time",
         [](const Prediction& p) { return p.training.p99; },
         [](const NoiseFree& b) { return b.training_p99_s; }, 0.99},
        {"training_time_p95", run, "s", "95th percentile of the training time",
         [](const Prediction& p) { return p.training.p95; },
         [](const NoiseFree& b) { return b.training_p95_s; }, 0.95},
        {"training_time_p50", run, "s", "median training time",
         [](const Prediction& p) { return p.training.p50; }, nullptr},
        {"training_time_mean", run, "s", "mean training time",
         [](const Prediction& p) { return p.training.mean; },
         [](const NoiseFree& b) { return b.training_s; }},
        {"promised_time", run, "s", "training time that is kept with the probability of the question",
         [](const Prediction& p) { return p.promised; }, [](const NoiseFree& b) { return b.promised_s; }},
        {"step_time_p99", step, "s", "99th percentile of the step time",
         [](const Prediction& p) { return p.step.p99; }, [](const NoiseFree& b) { return b.step_s; }, 0.99},
        {"step_time_p95", step, "s", "95th percentile of the step time",
         [](const Prediction& p) { return p.step.p95; }, [](const NoiseFree& b) { return b.step_s; }, 0.95},
        {"step_time_p50", step, "s", "median step time", [](const Prediction& p) { return p.step.p50; },
         nullptr},
        {"step_time_mean", step, "s", "mean step time", [](const Prediction& p) { return p.step.mean; },
         [](const NoiseFree& b) { return b.step_s; }},
        {"cost", run, "USD", "cost at the p99 training time", [](const Prediction& p) { return p.cost_usd; },
         [](const NoiseFree& b) { return b.cost_p99_usd; }, 0.99},
        {"expected_cost", run, "USD", "cost at the mean training time",
         [](const Prediction& p) { return p.expected_cost_usd; },
         [](const NoiseFree& b) { return b.cost_usd; }},
        {"gpu_hours", run, "h", "GPU-hours at the mean training time",
         [](const Prediction& p) { return p.gpus / (1_h).si * p.training.mean; },
         [](const NoiseFree& b) { return b.gpus * b.training_s / (1_h).si; }},
        {"memory", nothing, "B", "memory of the fullest GPU",
         [](const Prediction& p) { return Estimate::exact(p.memory.total().si); },
         [](const NoiseFree& b) { return b.memory_bytes; }},
        {"deviation", nothing, "1", "RMS deviation of operators in the precision, relative to the reference",
         [](const Prediction& p) { return Estimate::exact(p.deviation); },
         [](const NoiseFree& b) { return b.deviation; }},
        {"gpus", nothing, "1", "GPUs that the job uses",
         [](const Prediction& p) { return Estimate::exact(p.gpus); },
         [](const NoiseFree& b) { return b.gpus; }},
        {"held_gpus", nothing, "1",
         "GPUs that the job holds: those that it uses, and those of waiting spares",
         [](const Prediction& p) { return Estimate::exact(p.held_gpus()); },
         [](const NoiseFree& b) { return b.held_gpus; }},
        // The rest has no bound of its own kind where none is given: ratios and
        // probabilities are not monotone in the step.
        {"power", nothing, "W",
         "power of the building to provision for the job: all of its GPUs train, its spares wait",
         [](const Prediction& p) { return Estimate::exact(p.run.power_w); },
         [](const NoiseFree& b) { return b.power_w; }, 0.0, true},
        {"cluster_power", nothing, "W",
         "power of the building to provision for the whole cluster: the job trains, all other GPUs wait",
         [](const Prediction& p) { return Estimate::exact(p.run.cluster_power_w); },
         [](const NoiseFree& b) { return b.cluster_power_w; }, 0.0, true},
        {"energy", run, "J", "energy at the mean training time",
         [](const Prediction& p) { return p.run.energy_j; }, [](const NoiseFree& b) { return b.energy_j; },
         0.0, true},
        {"carbon", run, "kg", "carbon dioxide emitted for that energy",
         [](const Prediction& p) { return p.run.carbon_kg; }, [](const NoiseFree& b) { return b.carbon_kg; },
         0.0, true},
        {"miss_probability", nothing, "1", "probability that the training takes longer than the deadline",
         [](const Prediction& p) { return p.run.miss_probability; }, nullptr, 0.0, false, true},
        {"lost_share", nothing, "1", "unproductive share of the training time (1 - ETTR)", lost_share,
         nullptr, 0.0, false, true},
        {"training_time_tail", nothing, "1", "p99 over median of the training time",
         [](const Prediction& p) { return tail_ratio(p.training); }, nullptr},
        {"step_time_tail", nothing, "1", "p99 over median of the step time",
         [](const Prediction& p) { return tail_ratio(p.step); }, nullptr},
    };
}

Estimate at_percent(const TimeDistribution& times, int percent)
{
    const auto found =
        std::find_if(times.asked.begin(), times.asked.end(),
                     [percent](const TimeAtPercent& asked) { return asked.percent == percent; });
    return found == times.asked.end() ? Estimate::exact(std::numeric_limits<double>::quiet_NaN())
                                      : found->time;
}

std::string ordinal(int number)
{
    constexpr std::array<std::string_view, 4> suffixes{"th", "st", "nd", "rd"};
    const auto last = static_cast<std::size_t>(number % 10);
    const bool teen = number / 10 == 1;
    return std::to_string(number) + std::string(teen || last > 3 ? suffixes[0] : suffixes[last]);
}

/// Of one time, for every percent: at a median or below nothing bounds it, as above.
std::vector<Objective> quantile_rows(const std::string& name, ScalesWith scales, const std::string& of,
                                     TimeDistribution Prediction::*times, double (*bound)(const NoiseFree&))
{
    std::vector<Objective> result;
    for (int percent = 1; percent < 100; ++percent) {
        const bool bounded = percent > 50;
        result.push_back({name + std::to_string(percent), scales, "s",
                          ordinal(percent) + " percentile of the " + of,
                          [=](const Prediction& p) { return at_percent(p.*times, percent); },
                          bounded ? bound : nullptr, bounded ? percent / 100.0 : 0.0, false, false, percent});
    }
    return result;
}

const std::vector<Objective>& rows()
{
    static const std::vector<Objective> all = named_rows();
    return all;
}

const Objective* named(std::string_view name, const std::vector<Objective>& list)
{
    const auto found =
        std::find_if(list.begin(), list.end(), [name](const Objective& row) { return row.name == name; });
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Objective> objectives() { return rows(); }

const Objective* find_objective(std::string_view name)
{
    static const std::vector<Objective> training =
        quantile_rows("training_time_p", run, "training time", &Prediction::training,
                      [](const NoiseFree& b) { return b.training_asked_s; });
    static const std::vector<Objective> steps = quantile_rows(
        "step_time_p", step, "step time", &Prediction::step, [](const NoiseFree& b) { return b.step_s; });
    for (const std::vector<Objective>* list : {&rows(), &training, &steps}) {
        if (const Objective* found = named(name, *list)) {
            return found;
        }
    }
    return nullptr;
}

bool follows_step(std::string_view name)
{
    const Objective* objective = find_objective(name);
    return objective != nullptr && objective->scales != ScalesWith::nothing;
}

bool follows_tokens(std::string_view name)
{
    const Objective* objective = find_objective(name);
    return objective != nullptr && objective->scales == ScalesWith::run;
}

}  // namespace prismopt

#include "optimizer/study/run_effects.hpp"

#include "model/base/root.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace prismopt {

namespace {

RunFigures figures(const Prediction& prediction)
{
    return {prediction.training.p99, prediction.training.p50.value, prediction.cost_usd.value,
            prediction.run.energy_j.value};
}

/// One plan whose steps are drawn once.
class StudiedRun {
public:
    StudiedRun(const Problem& problem, const ParallelPlan& plan, const Rung& rung,
               const SamplerOptions& sampler)
        : problem_(problem), plan_(plan), steps_(rung.steps), sampler_(sampler), predictor_(problem),
          draws_(predictor_.sample(plan, {0, rung.fleets, rung.steps}, sampler)),
          prediction_(predictor_.summarise(plan, draws_, steps_, sampler, Confidence{}))
    {
        if (std::isfinite(prediction_.run.interval_s)) {  // rules would move it with the failures
            plan_.checkpoint_interval = Seconds{prediction_.run.interval_s};
        }
    }

    const Prediction& prediction() const { return prediction_; }
    const ParallelPlan& plan() const { return plan_; }
    const Problem& problem() const { return problem_; }

    std::optional<RunFigures> of(const ParallelPlan& plan) { return judged(predictor_, plan, draws_); }

    std::optional<RunFigures> under(const Reliability& reliability) { return under(reliability, plan_); }

    std::optional<RunFigures> under(const Reliability& reliability, const ParallelPlan& plan)
    {
        Problem changed = problem_;
        changed.reliability = reliability;
        Predictor predictor(changed);
        return judged(predictor, plan, draws_);
    }

    /// Steps that all take their phase's mean time.
    std::optional<RunFigures> without_jitter()
    {
        PhaseDraws mean = draws_;
        for (std::vector<double>& phase : mean) {
            const double sum = std::accumulate(phase.begin(), phase.end(), 0.0);
            std::fill(phase.begin(), phase.end(), sum / static_cast<double>(phase.size()));
        }
        return judged(predictor_, plan_, mean);
    }

private:
    std::optional<RunFigures> judged(Predictor& predictor, const ParallelPlan& plan,
                                     const PhaseDraws& draws) const
    {
        if (std::holds_alternative<Infeasible>(predictor.bound(plan))) {
            return std::nullopt;
        }
        return figures(predictor.summarise(plan, draws, steps_, sampler_, Confidence{}));
    }

    const Problem& problem_;
    ParallelPlan plan_;
    int steps_;
    SamplerOptions sampler_;
    Predictor predictor_;
    PhaseDraws draws_;
    Prediction prediction_;
};

/// An eighth to eight times the plan's interval.
std::vector<RunCurvePoint> interval_curve(StudiedRun& run)
{
    constexpr int halves = 6;  // of an octave, to either side
    std::vector<RunCurvePoint> curve;
    const double interval = run.prediction().run.interval_s;
    for (int k = -halves; std::isfinite(interval) && k <= halves; ++k) {
        ParallelPlan plan = run.plan();
        plan.checkpoint_interval = Seconds{interval * std::exp2(0.5 * k)};
        if (const auto figures = run.of(plan)) {
            curve.push_back({plan.checkpoint_interval.si, *figures});
        }
    }
    return curve;
}

int spares_of(const StudiedRun& run)
{
    return run.plan().spares == as_configured ? run.problem().reliability.spares : run.plan().spares;
}

/// From none to as many as the plan holds, and on until more make no difference.
std::vector<RunCurvePoint> spares_curve(StudiedRun& run)
{
    constexpr std::array<int, 12> numbers{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
    constexpr double no_difference = 1e-4;
    const int own = spares_of(run);
    std::vector<int> wanted(numbers.begin(), numbers.end());
    if (own != enough_spares && std::find(wanted.begin(), wanted.end(), own) == wanted.end()) {
        wanted.insert(std::upper_bound(wanted.begin(), wanted.end(), own), own);
    }
    std::vector<RunCurvePoint> curve;
    for (const int spares : wanted) {
        ParallelPlan plan = run.plan();
        plan.spares = spares;
        const auto figures = run.of(plan);
        if (!figures) {
            continue;
        }
        const bool same =
            !curve.empty() &&
            std::abs(figures->training_p99.value / curve.back().run.training_p99.value - 1.0) < no_difference;
        curve.push_back({static_cast<double>(spares), *figures});
        if (same && spares >= own) {
            break;
        }
    }
    return curve;
}

bool replaces_nodes(const Reliability& reliability)
{
    return std::any_of(reliability.causes.begin(), reliability.causes.end(),
                       [](const Cause& cause) { return cause.repair.si > 0.0 && cause.rate.si > 0.0; });
}

Reliability with_failures(Reliability reliability, double factor)
{
    reliability.node_failure_rate = PerSecond{factor * reliability.node_failure_rate.si};
    for (Cause& cause : reliability.causes) {
        cause.rate = PerSecond{cause.planned ? cause.rate.si : factor * cause.rate.si};
    }
    return reliability;
}

Reliability with_restarts(Reliability reliability, double factor)
{
    reliability.restart = Seconds{factor * reliability.restart.si};
    reliability.switch_time = Seconds{factor * reliability.switch_time.si};
    for (Cause& cause : reliability.causes) {
        cause.detection = Seconds{factor * cause.detection.si};
        cause.restart = Seconds{factor * cause.restart.si};
    }
    return reliability;
}

Reliability with_recovery(Reliability reliability, Recovery recovery)
{
    reliability.recovery = recovery;
    return reliability;
}

Reliability with_free_checkpoints(Reliability reliability)
{
    reliability.checkpoint_write = Seconds{};
    reliability.snapshot = Seconds{};
    reliability.memory.stall = Seconds{};
    return reliability;
}

ParallelPlan with_interval(ParallelPlan plan, double seconds)
{
    plan.checkpoint_interval = Seconds{seconds};
    return plan;
}

ParallelPlan with_spares(ParallelPlan plan, int spares)
{
    plan.spares = spares;
    return plan;
}

std::vector<RunEffect> effects(StudiedRun& run)
{
    std::vector<RunEffect> list;
    const auto add = [&list](const char* kind, const char* name, const std::optional<RunFigures>& figures) {
        if (figures) {
            list.push_back({kind, name, *figures});
        }
    };
    const Reliability& reliability = run.problem().reliability;
    const RunOutlook& outlook = run.prediction().run;
    if (std::isfinite(outlook.mean_time_between_failures_s)) {
        add("failures", "no failures", run.under(with_failures(reliability, 0.0)));
        add("failures", "half as many failures", run.under(with_failures(reliability, 0.5)));
        add("failures", "twice as many failures", run.under(with_failures(reliability, 2.0)));
        add("restarts", "detection and restarts twice as fast", run.under(with_restarts(reliability, 0.5)));
        add("restarts", "detection and restarts half as fast", run.under(with_restarts(reliability, 2.0)));
    }
    if (reliability.recovery == Recovery::hot_spares) {
        add("restarts", "spares that are not hot", run.under(with_recovery(reliability, Recovery::restart)));
    }
    if (reliability.recovery == Recovery::fewer_replicas) {
        add("restarts", "a restart at each failure",
            run.under(with_recovery(reliability, Recovery::restart)));
        add("restarts", "hot spares, and no steps with fewer replicas",
            run.under(with_recovery(reliability, Recovery::hot_spares)));
    }
    if (std::isfinite(outlook.interval_s)) {
        add("checkpoints", "checkpoints that take no time", run.under(with_free_checkpoints(reliability)));
        add("checkpoints", "checkpoint interval halved",
            run.of(with_interval(run.plan(), 0.5 * outlook.interval_s)));
        add("checkpoints", "checkpoint interval doubled",
            run.of(with_interval(run.plan(), 2.0 * outlook.interval_s)));
    }
    if (replaces_nodes(reliability)) {
        const int own = spares_of(run);
        add("spares", "no spare nodes", own == 0 ? std::nullopt : run.of(with_spares(run.plan(), 0)));
        add("spares", "one more spare node",
            own == enough_spares ? std::nullopt : run.of(with_spares(run.plan(), own + 1)));
    }
    if (reliability.drift.cv > 0.0) {
        Reliability steady = reliability;
        steady.drift = {};
        add("jitter", "no drift of the speed", run.under(steady));
    }
    add("jitter", "every step takes its mean time", run.without_jitter());
    return list;
}

/// The way of the plan, or another one, at a multiple of today's failure rates.
class FailurePolicies {
public:
    explicit FailurePolicies(StudiedRun& run) : run_(run) {}

    std::vector<BreakEven> break_even()
    {
        const Reliability& own = run_.problem().reliability;
        const int spares = spares_of(run_);
        std::vector<BreakEven> list;
        const auto add = [&](const char* name, Recovery recovery, int with) {
            if (const auto found = break_even_with(name, with_recovery(own, recovery), with)) {
                list.push_back(*found);
            }
        };
        if (own.recovery != Recovery::restart) {
            add("a restart at each failure", Recovery::restart, spares);
        }
        if (spares > 0) {
            add("a restart at each failure, and no spare nodes", Recovery::restart, 0);
        }
        if (own.switch_time.si > 0.0 && own.recovery != Recovery::hot_spares && spares != 0) {
            add("hot spares", Recovery::hot_spares, spares);
        }
        if (own.switch_time.si > 0.0 && own.recovery != Recovery::fewer_replicas) {
            add("training on with fewer replicas", Recovery::fewer_replicas, spares);
        }
        return list;
    }

private:
    /// How much more the other way costs than the plan's own, in USD; nothing if a
    /// run under one of them never ends.
    std::optional<double> more(const Reliability& other, int spares, double factor)
    {
        const auto own = run_.under(with_failures(run_.problem().reliability, factor));
        const auto changed = run_.under(with_failures(other, factor), with_spares(run_.plan(), spares));
        return own && changed ? std::optional(changed->cost_usd - own->cost_usd) : std::nullopt;
    }

    /// Bisects the logarithm of the factor. Assumes that the difference changes its sign at
    /// most once, as both ways lose about in proportion to the rates; otherwise this is one
    /// of the factors with equal costs.
    std::optional<BreakEven> break_even_with(const char* name, const Reliability& other, int spares)
    {
        constexpr double most = 4.0;  // octaves to either side
        const double low = -most;
        double high = most;
        const auto least = more(other, spares, std::exp2(low));
        auto greatest = more(other, spares, std::exp2(high));
        while (!greatest && high > low + 1.0) {
            high -= 1.0;
            greatest = more(other, spares, std::exp2(high));
        }
        if (!least || !greatest) {
            return std::nullopt;
        }
        if ((*least > 0.0) == (*greatest > 0.0)) {
            return BreakEven{name, std::numeric_limits<double>::quiet_NaN(), *greatest < 0.0};
        }
        const auto has_sign_of_least = [&](double octaves) {
            const auto difference = more(other, spares, std::exp2(octaves));
            return difference && (*difference > 0.0) == (*least > 0.0);
        };
        const Bracket octaves = bisect({low, high}, {.halvings = 6}, has_sign_of_least);  // to a twelfth
        return BreakEven{name, std::exp2(octaves.middle()), *greatest < 0.0};
    }

    StudiedRun& run_;
};

}  // namespace

RunEffects run_effects(const Problem& problem, const ParallelPlan& plan, const Rung& rung,
                       const SamplerOptions& sampler)
{
    StudiedRun run(problem, plan, rung, sampler);
    const RunOutlook& outlook = run.prediction().run;
    RunEffects study;
    study.draws = run.prediction().draws;
    study.plan = figures(run.prediction());
    study.between_failures_s = outlook.mean_time_between_failures_s;
    study.interval_s = outlook.interval_s;
    study.young_s = outlook.young_s;
    study.optimal_s = outlook.optimal_s;
    study.spare_nodes = spares_of(run);
    study.interval = interval_curve(run);
    if (replaces_nodes(problem.reliability)) {
        study.spares = spares_curve(run);
    } else {
        study.spares_note =
            "Spare nodes make no difference: no cause of failure takes a node out of service (repair in "
            "[[reliability.cause]]).";
    }
    study.effects = effects(run);
    if (std::isfinite(outlook.mean_time_between_failures_s) && replaces_nodes(problem.reliability)) {
        study.break_even = FailurePolicies(run).break_even();
    }
    return study;
}

}  // namespace prismopt

#include "optimizer/api/improve.hpp"

#include "io/base/input_error.hpp"
#include "io/report/breakdown_text.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/base/statistics.hpp"
#include "model/calibration/posterior/posterior_draws.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/improve/near_plans.hpp"
#include "optimizer/improve/step_errors.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/study/measured_plans.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/steps_to_measure.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// Draws of each plan: enough that the error of paired means is small beside that of the model.
constexpr int drawn_fleets = block_fleets;
constexpr int drawn_steps = 4;

constexpr double peak_unit = (1_GB).si;

/// Plans of each number of changes that are drawn; those that are shown are the best of them.
constexpr std::size_t drawn_per_level = 6;

/// A plan with what was computed of it.
struct DrawnPlan {
    NearPlan near;
    bool best_of_all = false;
    std::vector<double> steps_s{};  // draws
    std::vector<StageBreakdown> stages{};
    double mean_s = 0.0;
};

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void refuse_mistake(double measured_s, double predicted_s)
{
    if (measured_s > 0.0 && std::abs(std::log(measured_s / predicted_s)) > std::log(largest_measured_ratio)) {
        throw InputError(fmt::format(
            "the measured step of {:.4g} s is {:.3g} times the predicted {:.4g} s; give seconds per step of "
            "the whole job, or check that the files describe what ran",
            measured_s, measured_s / predicted_s, predicted_s));
    }
}

/// The error of predicted peaks, after that of today's plan was measured.
MemoryLimit limit_after(const Problem& problem, const Scenario& scenario, double predicted, double measured)
{
    const double capacity = problem.cluster.accelerator.memory.si;
    if (measured > capacity) {
        throw InputError(
            fmt::format("a measured peak of {:.4g} GB is more than the {:.4g} GB of the accelerator; give "
                        "the peak of one "
                        "GPU",
                        measured / peak_unit, capacity / peak_unit));
    }
    const std::string& stack = problem.cluster.stack.name;
    const MemoryError before = memory_error_of(scenario.learned, stack);
    const MemoryError error = after(before, std::log(measured / predicted), measured_memory_noise);
    return with_error(problem.memory_limit, stack, error);
}

/// Draws plans, and takes them apart.
class Drawer {
public:
    Drawer(const StudyModel& model, Problem problem)
        : model_(model), problem_(std::move(problem)), predictor_(problem_)
    {
    }

    void draw(DrawnPlan& of)
    {
        const auto compiled = predictor_.compile(of.near.plan);
        const auto* run = std::get_if<CompiledRun>(&compiled);
        if (run == nullptr) {
            return;
        }
        of.steps_s =
            predictor_.sample(*run, {0, drawn_fleets, drawn_steps}, model_.sampler({Purpose::confirm}))
                .front();
        of.mean_s = mean_of(of.steps_s);
        of.stages = breakdown(run->phases.front(), run->in_phase.front(),
                              setting_of(problem_, problem_.phases.front()));
    }

private:
    const StudyModel& model_;
    Problem problem_;
    Predictor predictor_;
};

/// The best plans of each number of changes, by their bounds.
std::vector<DrawnPlan> nearest(const NearPlans& near, int most_changes)
{
    std::vector<DrawnPlan> plans;
    for (int axes = 1; axes <= most_changes; ++axes) {
        std::size_t taken = 0;
        for (const NearPlan& plan : near.plans) {
            if (plan.axes == axes && taken < drawn_per_level) {
                plans.push_back({plan});
                ++taken;
            }
        }
    }
    return plans;
}

/// The best of the space on as many GPUs, and of the plans near that one.
void add_best_of_all(const ChosenPlan& today, const Problem& problem, const Pause& pause,
                     std::vector<DrawnPlan>& plans)
{
    Scenario searched = today.scenario;
    searched.space.gpus = {today.plan.gpus()};
    searched.search.runnable_by = trainer_of(today.scenario);
    const std::optional<ExamplePlan> best = example_plan(searched, pause);
    if (!best) {
        return;
    }
    const NearPlans around =
        near_plans(best->plan, today.scenario, problem, {.most_changes = 2, .most = 2}, pause);
    std::vector<NearPlan> found = around.plans;
    if (around.start && around.start_fits) {
        found.push_back(*around.start);
    }
    for (NearPlan& plan : found) {
        const auto known = std::find_if(plans.begin(), plans.end(),
                                        [&](const DrawnPlan& p) { return p.near.plan == plan.plan; });
        if (known == plans.end() && !(plan.plan == today.plan)) {
            plan.changes = changed_values(today.plan, plan.plan);
            plan.axes = static_cast<int>(plan.changes.size());
            plans.push_back({plan, true});
        }
    }
}

/// Draws in ascending order.
struct SortedDraws {
    std::vector<double> sorted;

    double quantile(double probability) const
    {
        const auto last = static_cast<double>(sorted.size() - 1);
        return sorted[static_cast<std::size_t>(std::lround(probability * last))];
    }
    double below_one() const
    {
        const auto below = std::lower_bound(sorted.begin(), sorted.end(), 1.0) - sorted.begin();
        return static_cast<double>(below) / static_cast<double>(sorted.size());
    }
};

/// The ratio of a plan's step to today's, given the error of the model and of the draws. `errors`:
/// [draw * plans + plan], with today's plan first.
SortedDraws ratio_draws(const DrawnPlan& today, const DrawnPlan& plan, std::size_t position,
                        std::size_t plans, const std::vector<double>& errors, std::uint64_t seed)
{
    std::vector<double> logs;
    for (std::size_t i = 0; i < plan.steps_s.size(); ++i) {
        logs.push_back(std::log(plan.steps_s[i] / today.steps_s[i]));
    }
    const double mean = mean_of(logs);
    double squares = 0.0;
    for (const double value : logs) {
        squares += (value - mean) * (value - mean);
    }
    const auto n = static_cast<double>(logs.size());
    const double deviation_of_mean = std::sqrt(squares / (n * (n - 1.0)));
    const double log_ratio = std::log(plan.mean_s / today.mean_s);
    SortedDraws ratios;
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        const double error = errors[d * plans + position] - errors[d * plans];
        const double of_draws =
            deviation_of_mean * posterior_normal(seed, d, PosteriorKind::repeat, position);
        ratios.sorted.push_back(std::exp(log_ratio + error + of_draws));
    }
    std::sort(ratios.sorted.begin(), ratios.sorted.end());
    return ratios;
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

bool gains_more(const ImprovedPlan& a, const ImprovedPlan& b) { return a.gain > b.gain; }

/// What a reader is shown: of each number of changes the plans that gain most, and of the search of all plans
/// the best one, if it is better than these.
/// The listed plan with the same changes; the end: there is none. Values without effect, as the degree of
/// Ulysses without context parallelism, change nothing.
std::vector<ImprovedPlan>::iterator same_in(std::vector<ImprovedPlan>& listed, const ImprovedPlan& plan)
{
    return std::find_if(listed.begin(), listed.end(), [&plan](const ImprovedPlan& other) {
        return other.plan == plan.plan || other.changes == plan.changes;
    });
}

/// `fits`: whether today's plan does, so that only faster ones improve it.
std::vector<ImprovedPlan> shown(const std::vector<ImprovedPlan>& all, const ImproveRequest& request,
                                bool fits)
{
    std::vector<ImprovedPlan> result;
    std::vector<ImprovedPlan> sorted = all;
    if (fits) {
        std::erase_if(sorted, [](const ImprovedPlan& plan) { return plan.gain <= 0.0; });
    }
    std::stable_sort(sorted.begin(), sorted.end(), gains_more);
    for (int axes = 1; axes <= request.most_changes; ++axes) {
        int taken = 0;
        for (const ImprovedPlan& plan : sorted) {
            const bool fresh = same_in(result, plan) == result.end();
            if (fresh && !plan.best_of_all && plan.axes == axes && taken < request.most) {
                result.push_back(plan);
                ++taken;
            }
        }
    }
    const auto best =
        std::find_if(sorted.begin(), sorted.end(), [](const ImprovedPlan& plan) { return plan.best_of_all; });
    const auto same = sorted.empty() ? result.end() : same_in(result, sorted.front());
    if (same != result.end()) {
        same->best_of_all = true;
    } else if (best != sorted.end() && best == sorted.begin()) {
        result.push_back(*best);
    }
    return result;
}

/// Plans near today's. `problem`: gets the limit of the memory after the measurement.
NearPlans plans_near(const ChosenPlan& today, const ImproveRequest& request, const Pause& pause,
                     Problem& problem)
{
    if (const auto why = structural_problem(today.plan, problem)) {
        throw InfeasiblePlan(*why, "today's plan is infeasible: " + infeasible_text(*why) +
                                       "; give the plan that runs with --design");
    }
    const auto found = [&] {
        return near_plans(today.plan, today.scenario, problem,
                          {.most_changes = request.most_changes, .most = drawn_per_level}, pause);
    };
    NearPlans near = found();
    if (!near.start) {
        throw InputError("today's plan cannot be predicted; give the plan that runs with --design");
    }
    if (request.measured_memory_bytes > 0.0) {
        problem.memory_limit = limit_after(problem, today.scenario, near.start->bound.memory_bytes,
                                           request.measured_memory_bytes);
        near = found();
    }
    return near;
}

/// Today's plan and others, drawn with common random numbers.
struct DrawnPlans {
    DrawnPlan today;
    std::vector<DrawnPlan> others;

    /// Today's first.
    std::vector<ParallelPlan> designs() const
    {
        std::vector<ParallelPlan> all{today.near.plan};
        for (const DrawnPlan& plan : others) {
            all.push_back(plan.near.plan);
        }
        return all;
    }
};

/// Today's plan need not fit. `problem`: gets tables for these plans.
DrawnPlans drawn_plans(const StudyModel& model, const NearPlan& start, std::vector<DrawnPlan> others,
                       const Pause& pause, Problem& problem)
{
    DrawnPlans drawn{{start}, std::move(others)};
    problem.noise = tables_of(model.scenario, drawn.designs());
    Problem any_memory = problem;
    any_memory.memory_limit = without_limit(any_memory.memory_limit);
    Drawer(model, any_memory).draw(drawn.today);
    Drawer drawer(model, problem);
    for (DrawnPlan& plan : drawn.others) {
        pause();
        drawer.draw(plan);
    }
    std::erase_if(drawn.others, [](const DrawnPlan& plan) { return plan.steps_s.empty(); });
    return drawn;
}

/// Draws of the log error of each plan's step, [draw * plans + plan], today's first.
std::vector<double> error_draws(const Scenario& scenario, Problem problem, const DrawnPlans& drawn,
                                double measured_step_s)
{
    problem.memory_limit = without_limit(problem.memory_limit);
    const auto measurement = measured_step_s > 0.0
                                 ? std::optional(MeasuredStep{measured_step_s, drawn.today.mean_s})
                                 : std::nullopt;
    return step_error_draws(scenario, problem, drawn.designs(), measurement);
}

/// What was predicted of a step that was then measured: its 95 % prediction interval.
void set_predicted_interval(const Scenario& scenario, Problem problem, const DrawnPlan& today,
                            Improvement& result)
{
    problem.memory_limit = without_limit(problem.memory_limit);
    constexpr double tail = 0.025;
    SortedDraws steps_s;
    for (const double error : step_error_draws(scenario, problem, {&today.near.plan, 1}, std::nullopt)) {
        steps_s.sorted.push_back(today.mean_s * std::exp(error));
    }
    std::sort(steps_s.sorted.begin(), steps_s.sorted.end());
    result.predicted_low_s = steps_s.quantile(tail);
    result.predicted_high_s = steps_s.quantile(1.0 - tail);
}

/// The step of today's plan as far as it is known: measured, learnt from other plans, or predicted.
double todays_step_s(const Scenario& scenario, const ImproveRequest& request, const DrawnPlans& drawn,
                     const std::vector<double>& errors)
{
    if (request.measured_step_s > 0.0) {
        return request.measured_step_s;
    }
    if (scenario.learned.empty()) {
        return drawn.today.mean_s;
    }
    std::vector<double> of_today;
    for (std::size_t d = 0; d < posterior_draws; ++d) {
        of_today.push_back(errors[d * (drawn.others.size() + 1)]);
    }
    return drawn.today.mean_s * std::exp(median(of_today));
}

/// Without its times. `peak_ratio`: of peaks as they are known to predicted ones.
ImprovedPlan improved(const DrawnPlan& plan, const Scenario& scenario, double peak_ratio, double precision)
{
    return {.plan = plan.near.plan,
            .design = design_text(plan.near.plan, scenario.space),
            .axes = plan.near.axes,
            .best_of_all = plan.best_of_all,
            .changes = plan.near.changes,
            .memory_bytes = plan.near.bound.memory_bytes * peak_ratio,
            .fits = plan.near.fits,
            .reason = "",
            .steps_to_measure = steps_to_measure(plan.steps_s, drawn_fleets, drawn_steps, precision).count};
}

}  // namespace

void refuse_wrong(const ImproveRequest& request)
{
    if (!(request.measured_step_s >= 0.0 && request.measured_memory_bytes >= 0.0)) {
        throw InputError(
            "--measured-step and --measured-memory cannot be negative; omit what was not measured");
    }
    if (request.most_changes < 1 || request.most_changes > 3) {
        throw InputError(fmt::format("--changes {} is out of range; give 1, 2 or 3", request.most_changes));
    }
    if (request.most < 1) {
        throw InputError(fmt::format(
            "--most {} is not positive; give the number of plans to list, for example 3", request.most));
    }
}

Improvement improve(const ChosenPlan& today, const ImproveRequest& request, const Pause& pause)
{
    refuse_wrong(request);
    const Scenario& scenario = today.scenario;
    const StudyModel model(scenario, tables_of(scenario, {today.plan}));
    Problem problem = model.problem;
    const NearPlans near = plans_near(today, request, pause, problem);
    std::vector<DrawnPlan> others = nearest(near, request.most_changes);
    add_best_of_all(today, problem, pause, others);
    const DrawnPlans drawn = drawn_plans(model, *near.start, std::move(others), pause, problem);
    const DrawnPlan& start = drawn.today;
    refuse_mistake(request.measured_step_s, start.mean_s);
    const std::vector<double> errors = error_draws(scenario, problem, drawn, request.measured_step_s);
    const double today_s = todays_step_s(scenario, request, drawn, errors);
    const bool measured_memory = request.measured_memory_bytes > 0.0;
    const double peak_ratio = measured_memory ? std::exp(problem.memory_limit.bias) : 1.0;

    Improvement result{.today = improved(start, scenario, peak_ratio, request.precision),
                       .predicted_step_s = start.mean_s,
                       .predicted_memory_bytes = start.near.bound.memory_bytes,
                       .measured = request.measured_step_s > 0.0,
                       .measured_memory = measured_memory,
                       .limit = problem.memory_limit.probability,
                       .plans = {},
                       .complete = near.complete,
                       .software = scenario.cluster.software.text(),
                       .precision = request.precision};
    result.today.step_s = today_s;
    result.today.chance_faster = 0.5;
    if (result.measured) {
        set_predicted_interval(scenario, problem, start, result);
    }
    if (measured_memory) {
        result.today.memory_bytes = request.measured_memory_bytes;
    }
    std::vector<ImprovedPlan> all;
    for (std::size_t i = 0; i < drawn.others.size(); ++i) {
        constexpr double tail = 0.05;
        const DrawnPlan& other = drawn.others[i];
        const SortedDraws ratios =
            ratio_draws(start, other, i + 1, drawn.others.size() + 1, errors, scenario.seed);
        const double ratio = ratios.quantile(0.5);
        ImprovedPlan plan = improved(other, scenario, peak_ratio, request.precision);
        plan.step_s = today_s * ratio;
        plan.gain = 1.0 - ratio;
        plan.gain_low = 1.0 - ratios.quantile(1.0 - tail);
        plan.gain_high = 1.0 - ratios.quantile(tail);
        plan.chance_faster = ratios.below_one();
        plan.reason = reason_text({start.stages, start.mean_s}, {other.stages, other.mean_s});
        all.push_back(std::move(plan));
    }
    result.plans = shown(all, request, result.today.fits >= result.limit);
    return result;
}

const ImprovedPlan* best_within(const Improvement& improvement, int axes)
{
    const ImprovedPlan* best = nullptr;
    for (const ImprovedPlan& plan : improvement.plans) {
        if (plan.axes <= axes && (best == nullptr || gains_more(plan, *best))) {
            best = &plan;
        }
    }
    return best;
}

}  // namespace prismopt

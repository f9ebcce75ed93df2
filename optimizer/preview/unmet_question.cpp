#include "optimizer/preview/unmet_question.hpp"

#include "io/toml/reading_figure.hpp"
#include "optimizer/preview/processor_time.hpp"
#include "optimizer/space/spread_ranges.hpp"
#include "optimizer/study/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace prismopt {

namespace {

constexpr std::uint64_t range_count = 64;  // until the first plan that may meet the question
constexpr double most_bounding_s = 20.0;   // processor time for the least bounds

/// A sample that is spread over a large space comes first: most questions that can be met are met by some
/// plan of it, whichever numbers of GPUs they need.
bool may_be_met(const StudyModel& model, const Pause& pause)
{
    Worker worker(model, pause);
    const auto has_plan = [&worker](const SweepRange& range) {
        return !worker.sweep(range).feasible.empty();
    };
    const std::uint64_t size = model.designs.space().size();
    const std::vector<SweepRange> sample = spread_ranges(size, 0);
    if (sample.size() > 1 && std::any_of(sample.begin(), sample.end(), has_plan)) {
        return true;
    }
    const std::vector<SweepRange> ranges = split_space(size, range_count);
    return std::any_of(ranges.begin(), ranges.end(), has_plan);
}

double least_of(const Sweep& sweep, double least)
{
    for (const Bound& bound : sweep.feasible) {
        least = std::min(least, bound.objectives.front());
    }
    return least;
}

/// The least lower bound of a limited quantity among all feasible plans, or one that keeps the limit. Ranges
/// that are spread over the space come first: what they find excludes most plans of the others early.
double least_bound(const StudyModel& study, const StudyModel::Limit& limit, const Pause& pause)
{
    constexpr std::size_t stride = 16;
    Scenario scenario = study.scenario;
    scenario.objectives = {limit.objective->name};
    const StudyModel model(scenario, study.problem.noise);
    Worker worker(model, pause);
    const std::vector<SweepRange> ranges = split_space(model.designs.space().size(), stride * stride);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t first = 0; first < stride; ++first) {
        for (std::size_t i = first; i < ranges.size() && least > limit.most; i += stride) {
            SweepRange range = ranges[i];
            range.within_limits = false;
            if (std::isfinite(least)) {
                range.limits = {{least}};
            }
            least = least_of(worker.sweep(range), least);
        }
    }
    return least;
}

/// The keys of [question] that limit an objective, as limits_of() reads them.
std::string_view limiting_keys(std::string_view objective)
{
    struct Row {
        std::string_view objective;
        std::string_view keys;
    };
    constexpr std::array<Row, 5> rows{{{"promised_time", "deadline or done_by"},
                                       {"cost", "budget"},
                                       {"power", "power_limit"},
                                       {"cluster_power", "power_limit"},
                                       {"held_gpus", "gpus_at_most"}}};
    const auto* const row = std::find_if(rows.begin(), rows.end(),
                                         [objective](const Row& one) { return one.objective == objective; });
    return row == rows.end() ? objective : row->keys;
}

std::string limit_text(const UnmetLimit& limit)
{
    const Objective& objective = *find_objective(limit.objective);
    const auto amount = [&objective](double value) { return reading_quantity(value, objective.units, 4); };
    return fmt::format("{} is at least {}, and {} allows {}", objective.long_name, amount(limit.least),
                       limiting_keys(objective.name), amount(limit.most));
}

}  // namespace

std::optional<UnmetQuestion> unmet_question(const Scenario& scenario, const Pause& pause)
{
    const StudyModel model(scenario);
    if (!model.is_limited() || model.designs.space().size() > most_examined_whole ||
        may_be_met(model, pause)) {
        return std::nullopt;
    }
    UnmetQuestion unmet;
    const double start_s = processor_s();
    const Pause bounding = [&pause, start_s] {
        pause();
        if (processor_s() - start_s > most_bounding_s) {
            throw OutOfTime{};
        }
    };
    try {
        for (const StudyModel::Limit& limit : model.limits) {
            const double least = limit.bounded ? least_bound(model, limit, bounding) : 0.0;
            if (least > limit.most) {
                unmet.limits.push_back(
                    {.objective = limit.objective->name, .most = limit.most, .least = least});
            }
        }
    } catch (const OutOfTime&) {  // the limits that are known are reported
    }
    return unmet;
}

std::string unmet_question_text(const UnmetQuestion& unmet)
{
    std::vector<std::string> limits;
    for (const UnmetLimit& limit : unmet.limits) {
        limits.push_back(limit_text(limit));
    }
    return fmt::format(
        "no feasible plan can meet [question]: {}; a search goes on without its limits, for "
        "what comes nearest",
        limits.empty() ? "lower bounds exclude all plans" : fmt::format("{}", fmt::join(limits, "; ")));
}

Scenario without_question(Scenario scenario)
{
    scenario.question.reset();
    return scenario;
}

}  // namespace prismopt

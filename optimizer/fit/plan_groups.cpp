#include "optimizer/fit/plan_groups.hpp"

#include "model/base/median.hpp"
#include "model/base/statistics.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"
#include "search/shortlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

constexpr std::size_t judged_draws = 4096;
constexpr double wanted_cover = 0.9;
constexpr std::array covering_deviations{0.6745, 1.2816, 1.9600};  // 50, 80, 95 % of a normal distribution

/// Rows of a group by their plans: those that the model predicts as equal, but for rounding, are one plan.
std::map<std::pair<PlanTraits, long long>, std::vector<std::size_t>> rows_of_plans(const PlanGroup& group)
{
    constexpr double digits = 1e9;
    std::map<std::pair<PlanTraits, long long>, std::vector<std::size_t>> plans;
    for (std::size_t i = 0; i < group.predicted_s.size(); ++i) {
        plans[{group.errors.traits[i], std::llround(digits * std::log(group.predicted_s[i]))}].push_back(i);
    }
    return plans;
}

/// The part of a covariance of all rows.
std::vector<double> block_of(const std::vector<double>& covariance, std::size_t rows,
                             const std::vector<std::size_t>& members)
{
    std::vector<double> result;
    for (const std::size_t i : members) {
        for (const std::size_t j : members) {
            result.push_back(covariance[i * rows + j]);
        }
    }
    return result;
}

/// Each plan once, with the geometric mean of its measured times.
PlanGroup of_different_plans(const PlanGroup& group)
{
    PlanGroup once{group.source, group.job, group.one_node, {}, {}, {}};
    once.errors.weight = group.errors.weight;
    std::vector<std::size_t> firsts;
    for (const auto& [plan, rows] : rows_of_plans(group)) {
        double log_ratio = 0.0;
        for (const std::size_t row : rows) {
            log_ratio += group.errors.log_ratio[row] / static_cast<double>(rows.size());
        }
        const std::size_t first = rows.front();
        firsts.push_back(first);
        once.predicted_s.push_back(group.predicted_s[first]);
        once.measured_s.push_back(group.predicted_s[first] * std::exp(log_ratio));
        once.errors.traits.push_back(group.errors.traits[first]);
        once.errors.log_ratio.push_back(log_ratio);
    }
    once.errors.constants = block_of(group.errors.constants, group.predicted_s.size(), firsts);
    return once;
}

/// Draws of the measured times. The group's covariance of the constants is that of as many
/// constants with unit gradients.
StepPosterior posterior_of(const PlanGroup& group, const Discrepancy& discrepancy,
                           const std::vector<std::size_t>& measured)
{
    std::vector<StepObservation> observations;
    for (const std::size_t i : measured) {
        std::vector<double> gradient(group.predicted_s.size(), 0.0);
        gradient[i] = 1.0;
        observations.push_back({{group.errors.traits[i], std::move(gradient)}, group.errors.log_ratio[i]});
    }
    return {group.errors.constants, discrepancy, std::move(observations)};
}

std::vector<PlanOfPosterior> plans_of(const PlanGroup& group)
{
    std::vector<PlanOfPosterior> plans;
    for (std::size_t i = 0; i < group.predicted_s.size(); ++i) {
        std::vector<double> gradient(group.predicted_s.size(), 0.0);
        gradient[i] = 1.0;
        plans.push_back({group.errors.traits[i], std::move(gradient)});
    }
    return plans;
}

JointDraws draws_of(const PlanGroup& group, const Discrepancy& discrepancy)
{
    JointDraws draws{group.predicted_s.size(),
                     posterior_of(group, discrepancy, {}).draw(plans_of(group), judged_draws, 1, {})};
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        for (std::size_t i = 0; i < draws.points; ++i) {
            double& value = draws.values[d * draws.points + i];
            value = group.predicted_s[i] * std::exp(value);
        }
    }
    return draws;
}

double best_of(const PlanGroup& group, const std::vector<std::size_t>& plans)
{
    double best = group.measured_s[plans.front()];
    for (const std::size_t i : plans) {
        best = std::min(best, group.measured_s[i]);
    }
    return best;
}

double beyond_repeats(double regret) { return regret <= repeats_differ ? 0.0 : regret; }

/// Least mean of |factor predicted / measured - 1| over all factors: at a weighted
/// median of measured over predicted.
double error_with_best_factor(std::vector<double> log_ratios)
{
    std::sort(log_ratios.begin(), log_ratios.end());
    double total = 0.0;
    for (const double ratio : log_ratios) {
        total += std::exp(-ratio);
    }
    double below = 0.0;
    auto best = log_ratios.begin();
    while (below + std::exp(-*best) < 0.5 * total) {
        below += std::exp(-*best++);
    }
    double error = 0.0;
    for (const double ratio : log_ratios) {
        error += std::abs(std::expm1(*best - ratio)) / static_cast<double>(log_ratios.size());
    }
    return error;
}

ShortlistAccuracy accuracy_of(const PlanGroup& group, const Discrepancy& discrepancy)
{
    const std::size_t n = group.predicted_s.size();
    const double fastest = *std::min_element(group.measured_s.begin(), group.measured_s.end());
    const auto regret = [&](const std::vector<std::size_t>& plans) {
        return best_of(group, plans) / fastest - 1.0;
    };
    const JointDraws draws = draws_of(group, discrepancy);
    const std::vector<std::size_t> covered = covering(draws, wanted_cover).points;
    const std::vector<std::size_t> three = least_regret(draws, 3).points;
    ShortlistAccuracy result{group.source, group.job, group.one_node, n, covered.size()};
    result.hit = beyond_repeats(regret(covered)) == 0.0;
    result.exact = regret(covered) == 0.0;
    const auto first =
        std::min_element(group.predicted_s.begin(), group.predicted_s.end()) - group.predicted_s.begin();
    result.first_strict = regret({static_cast<std::size_t>(first)});
    result.three_strict = regret(three);
    result.first_regret = beyond_repeats(result.first_strict);
    result.three_regret = beyond_repeats(result.three_strict);
    double choices = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            for (std::size_t k = 0; k < j; ++k) {
                result.random_regret += beyond_repeats(regret({i, j, k}));
                choices += 1.0;
            }
        }
    }
    result.random_regret /= choices;
    const std::vector<NormalMarginal> after =
        posterior_of(group, discrepancy, three).marginals(plans_of(group));
    std::vector<double> others_ratios;
    for (std::size_t i = 0; i < n; ++i) {
        if (std::find(three.begin(), three.end(), i) == three.end()) {
            others_ratios.push_back(group.errors.log_ratio[i]);
            const double others = static_cast<double>(n - three.size());
            result.error += std::abs(std::expm1(-group.errors.log_ratio[i])) / others;
            result.error_after += std::abs(std::expm1(after[i].mean - group.errors.log_ratio[i])) / others;
            const double miss = std::abs(after[i].mean - group.errors.log_ratio[i]) /
                                std::hypot(after[i].deviation, discrepancy.repeat);
            for (std::size_t k = 0; k < result.inside.size(); ++k) {
                result.inside[k] += miss <= covering_deviations[k] ? 1.0 / others : 0.0;
            }
        }
    }
    result.error_hindsight = others_ratios.empty() ? 0.0 : error_with_best_factor(std::move(others_ratios));
    return result;
}

}  // namespace

std::vector<PlanGroup> plan_groups(const std::vector<FittedRow>& rows,
                                   const std::vector<HeldOutFamily>& families, const Fit& fit,
                                   const NoiseByProfile& noise)
{
    const std::vector<double> covariance = constants_covariance(rows, fit, noise);
    std::map<std::string, std::vector<const HeldOutRow*>> jobs;
    for (const HeldOutFamily& family : families) {
        for (const HeldOutRow& row : family.rows) {
            jobs[job_of(rows[row.row].run)].push_back(&row);
        }
    }
    std::vector<PlanGroup> groups;
    std::map<std::string, double> of_source;
    for (const auto& [job, members] : jobs) {
        if (members.size() < smallest_fitted_group) {
            continue;
        }
        const MeasuredRun& first = rows[members.front()->row].run;
        PlanGroup group{first.source, job, first.plan.gpus() <= first.cluster.gpus_per_node(), {}, {}, {}};
        std::vector<std::size_t> positions;
        for (const HeldOutRow* row : members) {
            const MeasuredRun& run = rows[row->row].run;
            positions.push_back(row->row);
            group.measured_s.push_back(run.measured_s);
            group.predicted_s.push_back(run.measured_s * (1.0 + row->error));
            group.errors.traits.push_back(traits_of(run.plan));
            group.errors.log_ratio.push_back(-std::log1p(row->error));
        }
        group.errors.constants = block_of(covariance, rows.size(), positions);
        for (double& of_constants : group.errors.constants) {
            of_constants *= fit.widening[static_cast<std::size_t>(kind_of(first.workload, first.cluster))];
        }
        of_source[group.source] += 1.0;
        groups.push_back(std::move(group));
    }
    for (PlanGroup& group : groups) {
        group.errors.weight = std::pow(of_source[group.source], -0.7);
    }
    return groups;
}

double repeat_deviation_of(const std::vector<PlanGroup>& groups)
{
    std::map<std::string, std::vector<std::vector<double>>> sources;
    for (const PlanGroup& group : groups) {
        for (const auto& [plan, rows] : rows_of_plans(group)) {
            std::vector<double>& values = sources[group.source].emplace_back();
            std::transform(rows.begin(), rows.end(), std::back_inserter(values),
                           [&group](std::size_t row) { return group.errors.log_ratio[row]; });
        }
    }
    std::vector<std::vector<std::vector<double>>> repeats;
    for (const auto& [source, plans] : sources) {
        repeats.push_back(plans);
    }
    return repeat_deviation(repeats);
}

namespace {

/// Mean squares of the errors of peak memory of one stack, its sources pooled.
struct MemorySquares {
    double all = 0.0;
    double within = 0.0;  // about the mean of each source
};

MemorySquares memory_squares(const std::map<std::string, std::vector<double>>& sources)
{
    MemorySquares result;
    double several = 0.0;
    for (const auto& [source, ratios] : sources) {
        const auto rows = static_cast<double>(ratios.size());
        const double sum = std::accumulate(ratios.begin(), ratios.end(), 0.0);
        const double of_squares = std::inner_product(ratios.begin(), ratios.end(), ratios.begin(), 0.0);
        result.all += of_squares / rows / static_cast<double>(sources.size());
        if (ratios.size() > 1) {
            result.within += (of_squares - sum * sum / rows) / (rows - 1.0);
            several += 1.0;
        }
    }
    result.within /= std::max(1.0, several);
    return result;
}

}  // namespace

/// A stack that is far off, or has many small sources, does not widen what is said of
/// the others: medians over stacks.
MemoryDeviations memory_deviations(const std::vector<CheckedRun>& runs)
{
    std::map<std::string, std::map<std::string, std::vector<double>>> stacks;
    for (const CheckedRun& checked : runs) {
        if (checked.run.memory_bytes > 0.0) {
            stacks[checked.run.cluster.stack.name][checked.run.source].push_back(
                std::log(checked.run.memory_bytes / checked.memory_bytes));
        }
    }
    std::vector<double> all;
    std::vector<double> within;
    for (const auto& [stack, sources] : stacks) {
        const MemorySquares of_stack = memory_squares(sources);
        all.push_back(of_stack.all);
        within.push_back(of_stack.within);
    }
    const double usual = all.empty() ? 0.0 : median_of(all);
    const double usual_within = within.empty() ? 0.0 : std::min(median_of(within), usual);
    MemoryDeviations result{std::sqrt(usual - usual_within), std::sqrt(usual_within)};
    // an assumption: so few rows are worth as much as all other stacks
    constexpr double borrowed_rows = 10.0;
    for (const auto& [stack, sources] : stacks) {
        double of_squares = 0.0;
        double rows = 0.0;
        for (const auto& [source, ratios] : sources) {
            of_squares = std::inner_product(ratios.begin(), ratios.end(), ratios.begin(), of_squares);
            rows += static_cast<double>(ratios.size());
        }
        result.of_stack[stack] = {static_cast<int>(rows),
                                  std::sqrt((of_squares + borrowed_rows * usual) / (rows + borrowed_rows))};
    }
    return result;
}

std::vector<ShortlistAccuracy> shortlist_accuracy(const std::vector<PlanGroup>& groups, double repeat)
{
    std::map<std::string, Discrepancy> without;
    std::vector<ShortlistAccuracy> result;
    for (const PlanGroup& rows : groups) {
        const PlanGroup judged = of_different_plans(rows);
        if (judged.predicted_s.size() < smallest_judged_group) {
            continue;
        }
        if (!without.contains(judged.source)) {
            std::vector<MeasuredGroup> others;
            for (const PlanGroup& group : groups) {
                if (group.source != judged.source) {
                    others.push_back(group.errors);
                }
            }
            without[judged.source] = fit_discrepancy(others, repeat);
        }
        result.push_back(accuracy_of(judged, without[judged.source]));
    }
    return result;
}

}  // namespace prismopt

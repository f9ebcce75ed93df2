#include "optimizer/preview/space_estimate.hpp"

#include "io/base/percent.hpp"
#include "io/words/rejected_text.hpp"
#include "model/base/statistics.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/preview/processor_time.hpp"
#include "optimizer/study/worker.hpp"
#include "search/branch_sampler.hpp"
#include "search/strategies/exact/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace prismopt {

namespace {

constexpr std::uint64_t branch_tuples = 1024;  // neighbours share compiled programs, as in a search
constexpr std::uint64_t limited_branch_tuples = 1 << 16;  // most are excluded together
constexpr std::uint64_t smaller = 16;                     // times
constexpr std::uint64_t fewest_branches = 500;
constexpr std::uint64_t too_few_branches = 50;  // for an interval, after the time for sampling
constexpr double sampling_s = 8.0;    // processor time; twice that until the fewest branches are drawn
constexpr double exploring_s = 12.0;  // processor time

/// Mean over branches, with its confidence interval.
class Tally {
public:
    void add(double value)
    {
        sum_ += value;
        squares_ += value * value;
    }
    Estimated of(double count) const
    {
        const double mean = sum_ / count;
        const double variance = std::max(0.0, squares_ / count - mean * mean) / count;
        // On a logarithmic scale: counts are positive, and few branches have most of the weight.
        const double half = mean > 0.0 ? two_sided_95 * std::sqrt(variance) / mean : 0.0;
        return {mean, mean * std::exp(-half), mean * std::exp(half)};
    }
    double effective() const { return squares_ > 0.0 ? sum_ * sum_ / squares_ : 0.0; }

private:
    double sum_ = 0.0;
    double squares_ = 0.0;
};

std::set<std::string> rules_of(const Space& space)
{
    std::set<std::string> reasons;
    for (const Rejected& rule : space.enumerate(0, 0, [](std::uint64_t, std::span<const int>) {})) {
        reasons.insert(rule.reason);
    }
    return reasons;
}

}  // namespace

double SpaceEstimate::share_below() const
{
    constexpr double doubt = 0.05;
    return effective > 0.0 ? 1.0 - std::pow(doubt, 1.0 / effective) : 1.0;
}

namespace {

/// Sums over branches, each weighted by how many it stands for.
struct BranchSums {
    Tally allowed;
    Tally feasible;
    Tally kept;
    Tally seconds;
};

/// Adds what the sweep of a branch found. `rules`: reasons that its weight already accounts for.
void add_branch(Sweep sweep, double weight, const std::set<std::string>& rules, SpaceEstimate& result,
                BranchSums& sums)
{
    ++result.branches;
    result.largest = std::max(result.largest, weight);
    const std::uint64_t feasible = sweep.feasible.size() + sweep.excluded;
    std::uint64_t judged = feasible;
    std::erase_if(sweep.rejected,
                  [&rules](const Rejected& rejected) { return rules.contains(rejected.reason); });
    for (const Rejected& rejected : sweep.rejected) {
        judged += rejected.count;
    }
    add(sweep.rejected, result.rejected);
    result.judged += judged;
    sums.allowed.add(weight * static_cast<double>(judged));
    sums.feasible.add(weight * static_cast<double>(feasible));
    sums.kept.add(weight * static_cast<double>(sweep.feasible.size()));
    for (Bound& bound : sweep.feasible) {
        result.plans.push_back({std::move(bound), weight});
    }
}

/// Turns the sums into means over branches.
void set_means(const BranchSums& sums, SpaceEstimate& result)
{
    const auto count = static_cast<double>(result.branches);
    for (SpaceEstimate::Plan& plan : result.plans) {
        plan.stands_for /= count;
    }
    result.largest /= count;
    result.allowed = sums.allowed.of(count);
    result.feasible = sums.feasible.of(count);
    result.kept = sums.kept.of(count);
    result.sweep_s = sums.seconds.of(count);
    result.effective = sums.allowed.effective();
}

/// The estimate from branches of at most so many tuples; nothing where the time is enough for too few of
/// them. `like`: limits of each range; without any, all feasible plans are counted.
std::optional<SpaceEstimate> sampled_by(std::uint64_t tuples, const StudyModel& model, const SweepRange& like,
                                        const Pause& pause, int most_branches)
{
    const Space& space = model.designs.space();
    const BranchSampler sampler(space, tuples);
    const std::set<std::string> rules = rules_of(space);
    const double start_s = processor_s();
    SpaceEstimate result;
    const auto out_of_time = [&] {
        const double spent_s = processor_s() - start_s;
        const bool enough =
            result.branches >= fewest_branches || (tuples > 1 && result.branches < too_few_branches);
        return spent_s > (enough ? sampling_s : 2.0 * sampling_s);
    };
    Worker worker(model, [&] {
        pause();
        if ((tuples > 1 || result.branches > 0) && out_of_time()) {
            throw OutOfTime{};
        }
    });
    BranchSums sums;
    try {
        while (result.branches < static_cast<std::uint64_t>(most_branches) && !out_of_time()) {
            SearchRandom random(model.scenario.seed, static_cast<std::uint32_t>(result.branches));
            pause();
            const double before_s = processor_s();
            const auto branch = sampler.descend(random);
            if (!branch) {
                sums.seconds.add(0.0);
                ++result.branches;
                continue;
            }
            SweepRange range = like;
            range.begin = branch->begin;
            range.end = branch->end;
            Sweep sweep = range.limits.empty() ? worker.bound_all(range) : worker.sweep(range);
            add_branch(std::move(sweep), branch->weight, rules, result, sums);
            sums.seconds.add(branch->weight * (processor_s() - before_s));
        }
    } catch (const OutOfTime&) {
    } catch (const Stopped& stop) {
        if (result.branches == 0) {
            throw;
        }
        result.stopped = stop.what();
    }
    if (tuples > 1 && result.stopped.empty() &&
        result.branches < std::min<std::uint64_t>(too_few_branches, most_branches)) {
        return std::nullopt;
    }
    set_means(sums, result);
    return result;
}

SpaceEstimate estimate_from(std::uint64_t tuples, const StudyModel& model, const SweepRange& like,
                            const Pause& pause, int most_branches)
{
    for (;; tuples = std::max<std::uint64_t>(1, tuples / smaller)) {
        if (auto estimate = sampled_by(tuples, model, like, pause, most_branches)) {
            return *std::move(estimate);
        }
    }
}

}  // namespace

SpaceEstimate estimate_space(const StudyModel& model, const Pause& pause, int most_branches)
{
    return estimate_from(branch_tuples, model, {}, pause, most_branches);
}

std::string none_found_text(const SpaceEstimate& estimate)
{
    std::string text = fmt::format("no feasible plan among {} sampled", grouped(estimate.judged));
    if (estimate.judged > 0) {
        text += fmt::format(
            "; less than {} of the plans that the rules of [space] allow are feasible (95 % confidence)",
            relative_text(estimate.share_below(), 2));
    }
    for (const Rejected& rejected : estimate.rejected) {
        const std::string by = rejected.miss > 0.0 && rejected.reason == "out of memory"
                                   ? fmt::format(" exceeds the memory by {:.2f} GB", rejected.miss / 1e9)
                                   : "";
        text += fmt::format("\n  {}: {}", rejected.reason, grouped(rejected.count));
        text += rejected.nearest.empty()
                    ? ""
                    : fmt::format("; the closest plan{}: {}", by, nearest_text(rejected));
    }
    return text;
}

std::vector<Bound> explored_front(const StudyModel& model, const std::vector<Bound>& sample,
                                  const Pause& pause)
{
    Exploration exploration(model.designs.space(), model.scenario.seed);
    Worker worker(model, pause);
    const double start_s = processor_s();
    std::vector<std::uint64_t> points = exploration.ask();
    exploration.tell(sample);
    const auto has_time = [start_s] { return processor_s() - start_s < exploring_s; };
    while (!points.empty() && has_time()) {
        for (std::size_t i = 0; i < points.size() && has_time(); ++i) {
            exploration.tell(worker.sweep({.begin = points[i], .end = points[i] + 1}).feasible);
        }
        points = exploration.ask();
    }
    return exploration.front();
}

LimitedSweep limited_sweep(const StudyModel& model, const std::vector<std::vector<double>>& limits,
                           const NearRequest& near, const Pause& pause, int most_branches)
{
    SpaceEstimate estimate =
        estimate_from(limited_branch_tuples, model, {.limits = limits, .near = near}, pause, most_branches);
    if (!estimate.stopped.empty()) {
        throw Stopped(estimate.stopped);
    }
    constexpr double none_seen = 3.0;  // upper 95 % limit of a Poisson mean when nothing was observed
    LimitedSweep result{estimate.kept, estimate.sweep_s, {}};
    result.plans.high += none_seen * estimate.largest;
    for (SpaceEstimate::Plan& plan : estimate.plans) {
        result.found.push_back(std::move(plan.bound));
    }
    return result;
}

}  // namespace prismopt

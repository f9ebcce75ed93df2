#include "search/components/race.hpp"

#include "search/archive.hpp"

#include <boost/math/statistics/univariate_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace prismopt {
namespace {

/// Fewer points that climbed say too little of the noise of the others.
constexpr std::size_t least_climbers = 8;

/// How the values of an objective changed from one rung to the next, in logarithms.
struct Change {
    double shared = 0.0;  // median
    double spread = 0.0;  // standard deviation about it, from the median absolute deviation
};

Change change_of(std::vector<double> changes)
{
    Change change;
    change.shared = boost::math::statistics::median(changes);
    for (double& c : changes) {
        c = std::abs(c - change.shared);
    }
    change.spread = 1.4826 * boost::math::statistics::median(changes);  // exact for normal errors
    return change;
}

double log_ratio(double after, double before)
{
    return after > 0.0 && before > 0.0 ? std::log(after / before) : 0.0;
}

}  // namespace

void Race::add(const Evaluation& evaluation)
{
    Runner& runner = runners_[evaluation.index];
    if (evaluation.rung != runner.rung + 1) {
        throw std::runtime_error("race: point " + std::to_string(evaluation.index) + " came at rung " +
                                 std::to_string(evaluation.rung) + " after rung " +
                                 std::to_string(runner.rung) + "; answers belong to another study");
    }
    Values value;
    for (const Estimate& estimate : evaluation.objectives) {
        if (std::isnan(estimate.value)) {
            throw std::runtime_error(
                "race: an objective of point " + std::to_string(evaluation.index) +
                " is not a number, so it cannot be compared; predict this point alone to see why");
        }
        value.push_back(estimate.value);
    }
    runner.rung = evaluation.rung;
    runner.values.push_back(std::move(value));
}

std::vector<std::uint64_t> Race::at_rung(int rung) const
{
    std::vector<std::uint64_t> points;
    for (const auto& [index, runner] : runners_) {
        if (runner.rung >= rung) {
            points.push_back(index);
        }
    }
    return points;
}

std::size_t Race::settled() const
{
    if (over_) {
        return runners_.size();
    }
    const auto done = std::count_if(runners_.begin(), runners_.end(), [this](const auto& entry) {
        return entry.second.rung >= options_.top_rung || entry.second.rung < rung_;
    });
    return static_cast<std::size_t>(done);
}

std::vector<PointRequest> Race::next()
{
    while (!over_) {
        if (rung_ >= options_.top_rung || runners_.empty()) {
            over_ = true;
            break;
        }
        std::vector<PointRequest> requests = first_group_asked_ ? second_group() : first_group();
        if (first_group_asked_ && !requests.empty()) {
            return requests;
        }
    }
    return {};
}

/// The best quarter, the whole first layer, and no fewer than a short list: nothing is known
/// yet of the noise of comparisons.
std::vector<PointRequest> Race::first_group()
{
    const std::vector<std::uint64_t> points = at_rung(rung_);
    std::vector<Values> values;
    values.reserve(points.size());
    for (const std::uint64_t index : points) {
        values.push_back(runners_.at(index).values[static_cast<std::size_t>(rung_ - 1)]);
    }
    order_.clear();
    for (const std::size_t position : by_rank_and_crowding(values)) {
        order_.push_back(points[position]);
    }

    const auto share =
        static_cast<std::size_t>(std::ceil(options_.least_share * static_cast<double>(points.size())));
    raised_ = std::max({share, non_dominated(values).size(), std::min(options_.least_kept, points.size())});
    first_group_asked_ = true;
    return raise({order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(raised_)});
}

/// Of the others, those that no climber is better than by more than the noise.
std::vector<PointRequest> Race::second_group()
{
    const auto before = static_cast<std::size_t>(rung_ - 1);
    const std::size_t objectives = runners_.at(order_.front()).values.front().size();
    const auto climbed = order_.begin() + static_cast<std::ptrdiff_t>(raised_);
    const auto most = static_cast<std::size_t>(options_.most_share * static_cast<double>(order_.size()));
    ++rung_;
    first_group_asked_ = false;
    if (raised_ < least_climbers || raised_ >= most) {
        return {};
    }

    std::vector<Change> changes;
    for (std::size_t k = 0; k < objectives; ++k) {
        std::vector<double> of_climbers;
        for (auto c = order_.begin(); c != climbed; ++c) {
            const Runner& runner = runners_.at(*c);
            of_climbers.push_back(log_ratio(runner.values[before + 1][k], runner.values[before][k]));
        }
        changes.push_back(change_of(std::move(of_climbers)));
    }
    // What a point had to be at the lower rung not to be dominated by this climber. The change between rungs
    // has the variance s^2 (1/n - 1/N), the difference of a point with n and a climber with N > n draws s^2
    // (1/n + 1/N): for N >= 2 n at most three times as much.
    std::vector<Values> limits;
    for (auto c = order_.begin(); c != climbed; ++c) {
        Values limit = runners_.at(*c).values[before + 1];
        for (std::size_t k = 0; k < objectives; ++k) {
            limit[k] *= std::exp(options_.margins * std::sqrt(3.0) * changes[k].spread - changes[k].shared);
        }
        limits.push_back(std::move(limit));
    }
    std::vector<std::uint64_t> chosen;
    for (auto rest = climbed; rest != order_.end() && raised_ + chosen.size() < most; ++rest) {
        const Values& value = runners_.at(*rest).values[before];
        const bool dominated = std::any_of(limits.begin(), limits.end(),
                                           [&](const Values& limit) { return dominates(limit, value); });
        if (!dominated) {
            chosen.push_back(*rest);
        }
    }
    if (chosen.empty()) {
        return {};
    }
    --rung_;  // these climb before the next rung is judged
    first_group_asked_ = true;
    raised_ = order_.size();
    return raise(chosen);
}

std::vector<PointRequest> Race::raise(const std::vector<std::uint64_t>& chosen) const
{
    std::vector<PointRequest> requests;
    requests.reserve(chosen.size());
    for (const std::uint64_t index : chosen) {
        requests.push_back({index, rung_ + 1});
    }
    return requests;
}

std::vector<std::uint64_t> Race::front() const
{
    int highest = 0;
    for (const auto& entry : runners_) {
        highest = std::max(highest, entry.second.rung);
    }
    const std::vector<std::uint64_t> points = at_rung(std::max(highest, 1));
    std::vector<Values> values;
    values.reserve(points.size());
    for (const std::uint64_t index : points) {
        values.push_back(runners_.at(index).values.back());
    }
    std::vector<std::uint64_t> front;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(points[position]);
    }
    return front;
}

}  // namespace prismopt

#include "search/shortlist.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prismopt {

namespace {

constexpr double nowhere = std::numeric_limits<double>::infinity();

/// Best and worst possible value of each draw; infinite best: no point is possible.
struct Extremes {
    std::vector<double> best;
    std::vector<double> worst;
    double counted = 0.0;  // draws in which a point is possible

    explicit Extremes(const JointDraws& draws) : best(draws.draws(), nowhere), worst(draws.draws(), 0.0)
    {
        for (std::size_t d = 0; d < best.size(); ++d) {
            for (std::size_t i = 0; i < draws.points; ++i) {
                const double value = draws.at(d, i);
                best[d] = std::min(best[d], value);
                if (std::isfinite(value)) {
                    worst[d] = std::max(worst[d], value);
                }
            }
            counted += std::isfinite(best[d]) ? 1.0 : 0.0;
        }
    }
};

std::vector<double> mean_logarithms(const JointDraws& draws)
{
    std::vector<double> means(draws.points, nowhere);
    for (std::size_t i = 0; i < draws.points; ++i) {
        double sum = 0.0;
        double count = 0.0;
        for (std::size_t d = 0; d < draws.draws(); ++d) {
            if (std::isfinite(draws.at(d, i))) {
                sum += std::log(draws.at(d, i));
                count += 1.0;
            }
        }
        means[i] = count > 0.0 ? sum / count : nowhere;
    }
    return means;
}

bool equivalent(const JointDraws& draws, std::size_t i, std::size_t j, double difference)
{
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        const double a = draws.at(d, i);
        const double b = draws.at(d, j);
        const bool both = std::isfinite(a) && std::isfinite(b);
        if (both ? std::abs(a - b) > difference * std::min(a, b) : std::isfinite(a) != std::isfinite(b)) {
            return false;
        }
    }
    return true;
}

/// The regret of a set, by its best value in each draw.
double mean_regret(const Extremes& extremes, const JointDraws& draws, const std::vector<double>& best_of_set,
                   std::size_t added)
{
    double sum = 0.0;
    for (std::size_t d = 0; d < best_of_set.size(); ++d) {
        if (std::isfinite(extremes.best[d])) {
            const double value = std::min(best_of_set[d], draws.at(d, added));
            sum += (std::isfinite(value) ? value : extremes.worst[d]) / extremes.best[d] - 1.0;
        }
    }
    return extremes.counted > 0.0 ? sum / extremes.counted : 0.0;
}

/// A shortlist that grows point by point.
class Growing {
public:
    explicit Growing(const JointDraws& draws)
        : draws_(draws), extremes_(draws), group_(equivalents(draws)), group_chance_(draws.points, 0.0),
          best_(draws.draws(), nowhere)
    {
        const std::vector<Chance> chance = chances(draws);
        for (std::size_t i = 0; i < draws.points; ++i) {
            group_chance_[group_[i]] += chance[i].best;
        }
    }

    const std::vector<double>& group_chance() const { return group_chance_; }
    double regret_with(std::size_t point) const { return mean_regret(extremes_, draws_, best_, point); }
    double cover() const { return list_.cover.empty() ? 0.0 : list_.cover.back(); }

    void add(std::size_t point)
    {
        const double before = cover();
        list_.regret.push_back(regret_with(point));
        list_.points.push_back(point);
        list_.cover.push_back(before + group_chance_[group_[point]]);
        group_chance_[group_[point]] = 0.0;  // counted
        for (std::size_t d = 0; d < best_.size(); ++d) {
            best_[d] = std::min(best_[d], draws_.at(d, point));
        }
    }

    Shortlist release() { return std::move(list_); }

private:
    const JointDraws& draws_;
    Extremes extremes_;
    std::vector<std::size_t> group_;
    std::vector<double> group_chance_;  // [group's best point]: P(best), of groups not yet in the list
    std::vector<double> best_;          // [draw]: of the list
    Shortlist list_;
};

/// The value nearest to this share of them; NaN: there are none.
double nearest_quantile(std::vector<double> values, double share)
{
    if (values.empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto place = std::lround(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return values[static_cast<std::size_t>(place)];
}

}  // namespace

std::vector<Chance> chances(const JointDraws& draws)
{
    const Extremes extremes(draws);
    std::vector<Chance> result(draws.points);
    std::vector<std::vector<double>> regrets(draws.points);  // [point], of the draws in which it is possible
    std::vector<std::size_t> winners;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        if (!std::isfinite(extremes.best[d])) {
            continue;
        }
        winners.clear();
        for (std::size_t i = 0; i < draws.points; ++i) {
            const double value = draws.at(d, i);
            if (std::isfinite(value)) {
                regrets[i].push_back(value / extremes.best[d] - 1.0);
            }
            if (value == extremes.best[d]) {
                winners.push_back(i);
            }
        }
        for (const std::size_t i : winners) {
            result[i].best += 1.0 / static_cast<double>(winners.size());
        }
    }
    for (std::size_t i = 0; i < draws.points; ++i) {
        const auto possible = static_cast<double>(regrets[i].size());
        result[i].regret = std::accumulate(regrets[i].begin(), regrets[i].end(), 0.0) / possible;
        result[i].most_regret = nearest_quantile(regrets[i], 0.95);
        result[i].possible = possible / std::max(1.0, static_cast<double>(draws.draws()));
        result[i].best /= std::max(1.0, extremes.counted);
    }
    return result;
}

Central90 central_90(const JointDraws& draws, std::size_t point)
{
    std::vector<double> values;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        if (std::isfinite(draws.at(d, point))) {
            values.push_back(draws.at(d, point));
        }
    }
    return {nearest_quantile(values, 0.05), nearest_quantile(values, 0.5), nearest_quantile(values, 0.95)};
}

std::vector<std::size_t> equivalents(const JointDraws& draws, double difference)
{
    const std::vector<double> means = mean_logarithms(draws);
    std::vector<std::size_t> order(draws.points);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&means](std::size_t a, std::size_t b) { return means[a] < means[b]; });
    std::vector<std::size_t> group(draws.points);
    std::vector<std::size_t> firsts;
    for (const std::size_t i : order) {
        group[i] = i;
        // Means of equivalents are as near as their values, so only the last groups are candidates.
        for (auto j = firsts.rbegin(); j != firsts.rend() && means[i] - means[*j] <= difference; ++j) {
            if (equivalent(draws, i, *j, difference)) {
                group[i] = *j;
                break;
            }
        }
        if (group[i] == i) {
            firsts.push_back(i);
        }
    }
    return group;
}

Shortlist covering(const JointDraws& draws, double cover)
{
    Growing list(draws);
    for (std::size_t chosen = 0; chosen < draws.points && list.cover() < cover; ++chosen) {
        const std::vector<double>& chance = list.group_chance();
        const auto next = std::max_element(chance.begin(), chance.end());
        if (*next <= 0.0) {
            break;
        }
        list.add(static_cast<std::size_t>(next - chance.begin()));
    }
    return list.release();
}

Shortlist least_regret(const JointDraws& draws, std::size_t most)
{
    Growing list(draws);
    std::vector<char> chosen(draws.points, 0);
    for (std::size_t k = 0; k < std::min(most, draws.points); ++k) {
        std::size_t next = draws.points;
        double least = nowhere;
        for (std::size_t i = 0; i < draws.points; ++i) {
            const double regret = chosen[i] != 0 ? nowhere : list.regret_with(i);
            if (regret < least) {
                least = regret;
                next = i;
            }
        }
        if (next == draws.points) {
            break;
        }
        chosen[next] = 1;
        list.add(next);
    }
    return list.release();
}

}  // namespace prismopt

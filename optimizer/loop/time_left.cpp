#include "optimizer/loop/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {

namespace {

/// The past that counts, and in how many pieces: the median of their paces is not moved by a limit that
/// excludes thousands of plans at once, nor by a plan that takes long.
constexpr double window_s = 300.0;
constexpr std::size_t pieces = 9;
constexpr double least_s = 10.0;  // a shorter past says nothing
// Times the past that counts: a pace carries no information about what takes longer.
constexpr double furthest = 20.0;
constexpr double steady = 3.0;  // between the quartiles of the paces: it is none where they differ more

}  // namespace

std::optional<double> TimeLeft::seconds(double now_s, std::uint64_t left)
{
    if (left == 0) {
        return 0.0;
    }
    seen_.push_back({now_s, left});
    while (seen_.size() > 2 && seen_[1].at_s <= now_s - window_s) {
        seen_.pop_front();
    }
    const double begin_s = std::max(seen_.front().at_s, now_s - window_s);
    if (now_s - begin_s < least_s) {
        return std::nullopt;
    }
    const auto left_at = [&](double at_s) {
        const auto later = std::lower_bound(seen_.begin(), seen_.end(), at_s,
                                            [](const Seen& seen, double s) { return seen.at_s < s; });
        if (later == seen_.begin() || later == seen_.end()) {
            return static_cast<double>(later == seen_.end() ? seen_.back().left : later->left);
        }
        const Seen& before = *std::prev(later);
        const double share = (at_s - before.at_s) / (later->at_s - before.at_s);
        return (1.0 - share) * static_cast<double>(before.left) + share * static_cast<double>(later->left);
    };
    std::vector<double> paces;
    const double piece_s = (now_s - begin_s) / pieces;
    for (std::size_t i = 0; i < pieces; ++i) {
        const double from_s = begin_s + static_cast<double>(i) * piece_s;
        paces.push_back((left_at(from_s) - left_at(from_s + piece_s)) / piece_s);
    }
    std::sort(paces.begin(), paces.end());
    const double low = paces[pieces / 4];
    const double high = paces[3 * pieces / 4];
    if (low <= 0.0 || high > steady * low) {
        return std::nullopt;
    }
    const double left_s = static_cast<double>(left) / paces[pieces / 2];
    return left_s <= furthest * (now_s - begin_s) ? std::optional(left_s) : std::nullopt;
}

}  // namespace prismopt

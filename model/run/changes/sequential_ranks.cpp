#include "model/run/changes/sequential_ranks.hpp"

#include "model/base/statistics.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr int bins = 4096;
constexpr double bins_per_deviation = 256.0;

}  // namespace

SequentialRanks::SequentialRanks() : counts_(bins + 1, 0) {}

double SequentialRanks::score(double value)
{
    constexpr double half = bins / 2.0;
    const int bin = 1 + static_cast<int>(std::clamp(value * bins_per_deviation, 1.0 - half, half - 1.0) + half);
    const auto upto = [&](int last) {
        std::int64_t sum = 0;
        for (int i = last; i > 0; i -= i & -i) {
            sum += counts_[static_cast<std::size_t>(i)];
        }
        return sum;
    };
    const auto below = static_cast<double>(upto(bin - 1));
    const double equal = static_cast<double>(upto(bin)) - below;
    for (int i = bin; i <= bins; i += i & -i) {
        ++counts_[static_cast<std::size_t>(i)];
    }
    ++count_;
    return normal_quantile((below + 0.5 * (equal + 1.0)) / static_cast<double>(count_));
}

}  // namespace prismopt

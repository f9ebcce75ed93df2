#include "model/run/changes/change_place.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Log likelihood ratio at the 95 % limit of one parameter: half of chi squared, 3.84.
constexpr double likelihood_drop = 1.92;

/// Fit of a shift before innovation `first`.
ChangePlace shift_at(const std::vector<FilteredInnovation>& innovations, const SlowLevel& level, std::int64_t first)
{
    SlowLevel::Vector followed{};
    double product = 0.0;
    double information = 0.0;
    for (auto i = static_cast<std::size_t>(first); i < innovations.size(); ++i) {
        const FilteredInnovation& innovation = innovations[i];
        level.advance(followed);
        const double left = 1.0 - SlowLevel::response(followed);  // of the shift, in this innovation
        product += left * innovation.value / innovation.variance;
        information += left * left / innovation.variance;
        for (std::size_t m = 0; m < followed.size(); ++m) {
            followed[m] += innovation.gain[m] * left;
        }
    }
    return {first, first, first, product / information, 1.0 / std::sqrt(information), product * product / (2.0 * information)};
}

}  // namespace

ChangePlace likeliest_shift(const std::vector<FilteredInnovation>& innovations, const SlowLevel& level, std::int64_t first,
                            double scale)
{
    std::vector<ChangePlace> places;
    for (std::int64_t place = first; place < static_cast<std::int64_t>(innovations.size()); ++place) {
        places.push_back(shift_at(innovations, level, place));
        places.back().likelihood /= scale * scale;
        places.back().deviation *= scale;
    }
    if (places.empty()) {
        return {.index = first, .low = first, .high = first};
    }
    ChangePlace best = *std::max_element(places.begin(), places.end(),
                                         [](const ChangePlace& a, const ChangePlace& b) { return a.likelihood < b.likelihood; });
    for (const ChangePlace& place : places) {
        if (place.likelihood >= best.likelihood - likelihood_drop) {
            best.low = std::min(best.low, place.index);
            best.high = std::max(best.high, place.index);
        }
    }
    return best;
}

}  // namespace prismopt

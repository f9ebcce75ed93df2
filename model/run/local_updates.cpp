#include "model/run/local_updates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// Parameters and relative increase of the loss.
using Gap = std::pair<double, double>;

// arXiv 2503.09799, tables 4 and 5, rounded to 0.1 % up to 2.4e9 parameters.
constexpr std::array<Gap, 9> of_two{{{35e6, 0.007},
                                     {90e6, 0.005},
                                     {180e6, 0.003},
                                     {335e6, 0.001},
                                     {550e6, 0.002},
                                     {1.3e9, 0.002},
                                     {2.4e9, -0.001},
                                     {4e9, -0.0018},
                                     {10e9, -0.0019}}};
constexpr std::array<Gap, 9> of_four{{{35e6, 0.020},
                                      {90e6, 0.015},
                                      {180e6, 0.011},
                                      {335e6, 0.009},
                                      {550e6, 0.007},
                                      {1.3e9, 0.005},
                                      {2.4e9, 0.003},
                                      {4e9, 0.0018},
                                      {10e9, 0.0029}}};
constexpr std::array<Gap, 7> of_eight{{{35e6, 0.039},
                                       {90e6, 0.031},
                                       {180e6, 0.023},
                                       {335e6, 0.020},
                                       {550e6, 0.017},
                                       {1.3e9, 0.013},
                                       {2.4e9, 0.011}}};

double interpolated(std::span<const Gap> gaps, double parameters)
{
    const auto above =
        std::find_if(gaps.begin(), gaps.end(), [&](const Gap& gap) { return gap.first >= parameters; });
    if (above == gaps.begin()) {
        return gaps.front().second;
    }
    if (above == gaps.end()) {
        return gaps.back().second;
    }
    const Gap& below = *(above - 1);
    const double share = std::log(parameters / below.first) / std::log(above->first / below.first);
    return below.second + share * (above->second - below.second);
}

}  // namespace

double published_local_gap(double parameters, int groups)
{
    const double two = interpolated(of_two, parameters);
    const double four = interpolated(of_four, parameters);
    const double eight = interpolated(of_eight, parameters);
    const double doublings = std::log2(static_cast<double>(groups)) - 1.0;  // beyond two
    const double gap =
        doublings <= 1.0 ? two + doublings * (four - two) : four + (doublings - 1.0) * (eight - four);
    return std::max(0.0, gap);
}

double LocalUpdates::tokens_factor(int local_steps, int groups) const
{
    if (!by_groups.empty()) {
        return by_groups.at(static_cast<std::size_t>(groups));
    }
    const auto own = by_steps.find(local_steps);
    return 1.0 + (own != by_steps.end() ? own->second : any_steps.value_or(0.0));
}

}  // namespace prismopt

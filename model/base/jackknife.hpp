#pragma once

/// Limits for functions of several statistics on shared draws: a difference of quantiles of two plans, say.

#include "model/base/estimate.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Quantiles as weighted means of order statistics, the weights those of a beta law about the quantile's rank. Source: Harrell and Davis,
/// Biometrika 69 (1982) 635-640.
///
/// A change of a single order statistic on shared draws is that of one draw or two, however many there are; here it is a mean over
/// all that are near the quantile, so it is known better, and the jackknife finds its error.
class SmoothQuantiles {
public:
    SmoothQuantiles(std::size_t draws, std::span<const double> probabilities);

    /// [probability], of so many draws in ascending order.
    std::vector<double> operator()(std::span<const double> sorted) const;

private:
    struct Weights {
        std::size_t first = 0;  // rank; what lies outside weighs nothing
        std::vector<double> of_rank;
    };
    std::vector<Weights> weights_;  // [probability]
};

/// How draws are cut into sections of whole blocks, to be left out in turn.
struct Sections {
    std::size_t count = 0;  // 0: too few draws
    std::size_t size = 0;   // draws of one
};
/// As many as 16, at least 8.
Sections sections_of(std::size_t draws, const Clusters& clusters);

/// All draws but those of one section.
std::vector<double> without_section(std::span<const double> draws, const Sections& sections, std::size_t left_out);

/// Of a statistic of all draws and that of all but one section.
double pseudo_value(double of_all, double of_others, std::size_t draws, const Sections& sections);

/// A statistic of all draws with Student-t limits from its pseudo-values, which behave as independent draws of it; infinite without any.
/// Pseudo-values of sums are sums of pseudo-values. Source: Shao and Tu, The Jackknife and Bootstrap (1995), section 2.3.
Estimate jackknife_estimate(double of_all, std::span<const double> pseudo_values, const Confidence& confidence);

}  // namespace prismopt

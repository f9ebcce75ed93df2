#pragma once

/// Confidence limits for functions of several statistics on shared draws, such as a difference of quantiles
/// of two plans. docs/methods/intervals.md.

#include "model/base/estimate.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Harrell-Davis quantiles: means of order statistics weighted by a beta
/// distribution about the quantile's rank.
///
/// Their changes on shared draws average over all draws near the quantile, so they are more precise
/// than changes of one order statistic, and the jackknife estimates their error. Source: Harrell and
/// Davis, Biometrika 69 (1982) 635-640.
class SmoothQuantiles {
public:
    SmoothQuantiles(std::size_t draws, std::span<const double> probabilities);

    /// Returns the quantiles, [probability], of ascending draws; as many draws as the constructor got.
    std::vector<double> operator()(std::span<const double> sorted) const;

private:
    struct Weights {
        std::size_t first = 0;  // rank; ranks outside the list have weight zero
        std::vector<double> of_rank;
    };
    std::vector<Weights> weights_;  // [probability]
};

/// Division of draws into sections of whole blocks; the jackknife omits each section in turn.
struct Sections {
    std::size_t count = 0;  // 0: too few draws
    std::size_t size = 0;   // draws per section
};
/// Returns up to 16 sections, at least 8; none if there are too few draws.
Sections sections_of(std::size_t draws, const Clusters& clusters);

/// Returns all draws except those of one section.
std::vector<double> without_section(std::span<const double> draws, const Sections& sections,
                                    std::size_t excluded);

/// Returns the pseudo-value of a section from a statistic of all draws and that of all draws but the section.
double pseudo_value(double of_all, double of_others, std::size_t draws, const Sections& sections);

/// Returns a statistic of all draws with Student's t limits from its pseudo-values, which behave as
/// independent draws of it; infinite limits without pseudo-values. Pseudo-values of sums are sums of
/// pseudo-values. Source: Shao and Tu, The Jackknife and Bootstrap (1995), section 2.3.
Estimate jackknife_estimate(double of_all, std::span<const double> pseudo_values,
                            const Confidence& confidence);

}  // namespace prismopt

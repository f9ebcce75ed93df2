#pragma once

/// Joint posterior of the step times of several plans, from the fit of the constants, the
/// discrepancy and what was measured.

#include "model/base/parallel.hpp"
#include "model/calibration/posterior/discrepancy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// What the posterior knows of a plan.
struct PlanOfPosterior {
    PlanTraits traits;
    std::vector<double> gradient;  // of log(step time) by the logarithms of the constants
    int job = 0;                   // plans of one job share the source effect
};

/// A measured step time.
struct StepObservation {
    PlanOfPosterior plan;
    double log_ratio = 0.0;  // log(measured / predicted)
    double deviation = 0.0;  // of its noise; zero: that of repeated runs
};

struct NormalMarginal {
    double mean = 0.0;
    double deviation = 0.0;
};

/// Logarithms of measured over predicted step times are jointly normal, before and after observations.
class StepPosterior {
public:
    /// `covariance`: of the logarithms of the constants, [i * constants + j].
    StepPosterior(std::vector<double> covariance, Discrepancy discrepancy,
                  std::vector<StepObservation> observations = {});

    const Discrepancy& discrepancy() const { return discrepancy_; }
    const std::vector<double>& covariance() const { return covariance_; }

    /// Mean and deviation of log(actual / predicted) of each plan, without the noise of a measurement.
    std::vector<NormalMarginal> marginals(std::span<const PlanOfPosterior> plans) const;
    /// Of each constant, as the logarithm of its value over the fitted one, and last
    /// of the source effect of a job.
    std::vector<NormalMarginal> constants(int job = 0) const;
    /// How surprising each observation is to all the others: its residual over the standard deviation that
    /// they leave (leave-one-out: Rasmussen and Williams 2006, equations 5.12).
    std::vector<double> surprises() const;

    /// Which components of the error are drawn; the others are zero.
    struct Components {
        bool delta = true;
    };
    /// Joint draws of log(actual / predicted), [draw * plans + plan].
    ///
    /// A draw before the observations is corrected by what they say (Matheron's rule; Journel and Huijbregts,
    /// "Mining Geostatistics", 1978; Wilson et al., arXiv 2011.04026). A constant's and a source's draw
    /// depend on (seed, draw, constant or job) only; delta's on the position of the plan's traits among those
    /// of `plans`. `pause` is called several times per second; its exceptions pass through.
    std::vector<double> draw(
        std::span<const PlanOfPosterior> plans, std::size_t draws, std::uint64_t seed, Components components,
        const Pause& pause = [] {}) const;

    /// The source effect of a job in each of these draws, before observations.
    std::vector<double> source_draws(int job, std::size_t draws, std::uint64_t seed) const;

private:
    struct Latent;

    std::vector<double> covariance_;
    Discrepancy discrepancy_;
    std::vector<StepObservation> observations_;
};

}  // namespace prismopt

#pragma once

/// Step times of synthetic jobs with a plan's own noise, autocorrelation and a daily swing.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace prismopt::bench {

inline constexpr double day_s = 86'400.0;

/// Draws of a plan's step without the factor of all compute (common_compute), as logarithms
/// about the mean of their fleet.
struct PlanNoise {
    std::string design;
    double mean_s = 0.0;
    std::vector<double> residuals;
    double common_cv = 0.0;  // of the excluded factor
};
/// `scenario`: path; `design` as for predict.
PlanNoise plan_noise(const std::string& scenario, const std::string& design);

/// What a synthetic job has.
struct JobKind {
    std::string name;
    double coefficient = 0.5;   // autoregression of the common factor
    double common_scale = 1.0;  // times the plan's standard deviation
    double swing_low = 0.01;    // peak to peak over a day, uniform between these
    double swing_high = 0.02;
    double tails = 0.0;   // probability of a step slower by an exponential excess of 30 %
    int checkpoints = 0;  // steps between slow ones (30 % longer); 0: none
};

class SyntheticJob {
public:
    SyntheticJob(const PlanNoise& noise, const JobKind& kind, std::uint64_t seed);

    double next_s();

private:
    const PlanNoise& noise_;
    const JobKind& kind_;
    std::mt19937_64 generator_;
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    double common_ = 0.0;
    double phase_ = 0.0;
    double swing_ = 0.0;
    double today_ = 1.0;  // swing of this day and the next, relative
    double tomorrow_ = 1.0;
    double day_ = 0.0;
    std::int64_t step_ = 0;
};

/// Autoregressive noise, and a slow wander with a correlation time of 500 steps.
struct AutocorrelatedKind {
    std::vector<double> coefficients;
    double deviation = 0.0;
    double wander = 0.0;  // standard deviation

    double sum() const;
};
std::vector<AutocorrelatedKind> autocorrelated_kinds();

class AutocorrelatedJob {
public:
    static constexpr double mean_s = 6.0;

    AutocorrelatedJob(const AutocorrelatedKind& kind, std::uint64_t seed);

    double next_s();

private:
    double next_noise();

    const AutocorrelatedKind& kind_;
    std::mt19937_64 generator_;
    std::normal_distribution<double> normal_;
    std::vector<double> past_;  // the latest first
    double innovation_ = 0.0;   // standard deviation
    double wander_ = 0.0;
};

}  // namespace prismopt::bench

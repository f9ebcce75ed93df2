#include "tests/benchmarks/watch/synthetic_job.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace prismopt::bench {

namespace {

constexpr double day_to_day = 0.2;  // standard deviation of the swing of a day, relative: weather

}  // namespace

PlanNoise plan_noise(const std::string& path, const std::string& design)
{
    Scenario scenario = read_scenario(path);
    PlanNoise noise;
    noise.design = design;
    noise.common_cv = std::get<Normal>(scenario.variability.common_compute.family).cv;
    scenario.variability.common_compute = {};
    const ParallelPlan plan = parse_design(design, scenario);
    const StudyModel model(scenario, tables_of(scenario, {plan}));
    constexpr int fleets = 64;
    constexpr int steps = 512;
    const std::vector<double> draws =
        Predictor(model.problem).sample(plan, {0, fleets, steps}, model.sampler({Purpose::confirm})).front();
    noise.mean_s = std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    for (std::size_t fleet = 0; fleet < fleets; ++fleet) {
        double mean = 0.0;
        for (std::size_t i = 0; i < steps; ++i) {
            mean += std::log(draws[fleet * steps + i]) / steps;
        }
        for (std::size_t i = 0; i < steps; ++i) {
            noise.residuals.push_back(std::log(draws[fleet * steps + i]) - mean);
        }
    }
    return noise;
}

SyntheticJob::SyntheticJob(const PlanNoise& noise, const JobKind& kind, std::uint64_t seed)
    : noise_(noise), kind_(kind), generator_(seed)
{
    common_ = kind.common_scale * noise.common_cv * normal_(generator_);
    phase_ = 2.0 * std::numbers::pi * uniform_(generator_);
    swing_ = kind.swing_low + (kind.swing_high - kind.swing_low) * uniform_(generator_);
    today_ = 1.0 + day_to_day * normal_(generator_);
    tomorrow_ = 1.0 + day_to_day * normal_(generator_);
}

double SyntheticJob::next_s()
{
    const double rho = kind_.coefficient;
    common_ = rho * common_ +
              std::sqrt(1.0 - rho * rho) * kind_.common_scale * noise_.common_cv * normal_(generator_);
    const auto draw =
        static_cast<std::size_t>(uniform_(generator_) * static_cast<double>(noise_.residuals.size()));
    day_ += noise_.mean_s / day_s;
    if (day_ >= 1.0) {
        day_ -= 1.0;
        today_ = tomorrow_;
        tomorrow_ = 1.0 + day_to_day * normal_(generator_);
    }
    const double swing = swing_ / 2.0 * (today_ + day_ * (tomorrow_ - today_)) *
                         std::sin(phase_ + 2.0 * std::numbers::pi * day_);
    double seconds = noise_.mean_s * std::exp(noise_.residuals[draw] + common_ + swing);
    if (kind_.tails > 0.0 && uniform_(generator_) < kind_.tails) {
        seconds *= 1.0 - 0.3 * std::log(1.0 - uniform_(generator_));
    }
    ++step_;
    return kind_.checkpoints > 0 && step_ % kind_.checkpoints == 0 ? 1.3 * seconds : seconds;
}

double AutocorrelatedKind::sum() const
{
    return std::accumulate(coefficients.begin(), coefficients.end(), 0.0);
}

std::vector<AutocorrelatedKind> autocorrelated_kinds()
{
    std::vector<AutocorrelatedKind> kinds;
    for (const double deviation : {0.003, 0.006}) {
        for (const double sum : {0.0, 0.5, 0.65, 0.8, 0.9, 0.95}) {
            kinds.push_back({{sum}, deviation, 0.0});
        }
        for (const double sum : {0.65, 0.8, 0.9, 0.95}) {
            kinds.push_back({{0.5 * sum, 0.3 * sum, 0.2 * sum}, deviation, 0.0});
        }
    }
    for (const double wander : {0.003, 0.006}) {
        for (const double sum : {0.65, 0.8, 0.9, 0.95}) {
            kinds.push_back({{sum}, 0.002, wander});
        }
    }
    return kinds;
}

AutocorrelatedJob::AutocorrelatedJob(const AutocorrelatedKind& kind, std::uint64_t seed)
    : kind_(kind), generator_(seed), past_(kind.coefficients.size(), 0.0)
{
    // The deviation of an autoregression is that of its innovations times the root of the sum of
    // squared responses to one of them.
    constexpr int terms = 2000;
    double squares = 1.0;
    std::vector<double> responses(past_.size(), 0.0);
    responses.front() = 1.0;
    for (int i = 1; i < terms; ++i) {
        const double response =
            std::inner_product(responses.begin(), responses.end(), kind.coefficients.begin(), 0.0);
        squares += response * response;
        responses.pop_back();
        responses.insert(responses.begin(), response);
    }
    innovation_ = kind.deviation / std::sqrt(squares);
    for (int i = 0; i < terms; ++i) {
        next_noise();
    }
    wander_ = kind.wander * normal_(generator_);
}

double AutocorrelatedJob::next_noise()
{
    const double value = std::inner_product(past_.begin(), past_.end(), kind_.coefficients.begin(), 0.0) +
                         innovation_ * normal_(generator_);
    past_.pop_back();
    past_.insert(past_.begin(), value);
    return value;
}

double AutocorrelatedJob::next_s()
{
    constexpr double wander_steps = 500.0;
    const double kept = std::exp(-1.0 / wander_steps);
    wander_ = kept * wander_ + std::sqrt(1.0 - kept * kept) * kind_.wander * normal_(generator_);
    return mean_s * std::exp(next_noise() + wander_);
}

}  // namespace prismopt::bench

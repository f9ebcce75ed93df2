#include "tests/benchmarks/watch/synthetic_job.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/evaluator.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace prismopt::bench {

namespace {

constexpr double day_s = 86'400.0;
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
    const StudyModel model(scenario, tables_of(scenario, plan));
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
    common_ = rho * common_ + std::sqrt(1.0 - rho * rho) * kind_.common_scale * noise_.common_cv * normal_(generator_);
    const auto draw = static_cast<std::size_t>(uniform_(generator_) * static_cast<double>(noise_.residuals.size()));
    day_ += noise_.mean_s / day_s;
    if (day_ >= 1.0) {
        day_ -= 1.0;
        today_ = tomorrow_;
        tomorrow_ = 1.0 + day_to_day * normal_(generator_);
    }
    const double swing = swing_ / 2.0 * (today_ + day_ * (tomorrow_ - today_)) * std::sin(phase_ + 2.0 * std::numbers::pi * day_);
    double seconds = noise_.mean_s * std::exp(noise_.residuals[draw] + common_ + swing);
    if (kind_.tails > 0.0 && uniform_(generator_) < kind_.tails) {
        seconds *= 1.0 - 0.3 * std::log(1.0 - uniform_(generator_));
    }
    ++step_;
    return kind_.checkpoints > 0 && step_ % kind_.checkpoints == 0 ? 1.3 * seconds : seconds;
}

}  // namespace prismopt::bench

#include "model/training_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// e^x - 1 by its series, for 0 <= x <= 20: the same bits with every mathematics library.
double exponential_minus_one(double x)
{
    double term = 1.0;
    double sum = 0.0;
    for (int n = 1; n <= 120; ++n) {
        term *= x / n;
        sum += term;
    }
    return sum;
}

/// Young's interval is zero where writes are free, which nothing could do.
constexpr double shortest_interval_s = 1.0;

constexpr double most_failures_per_interval = 2.0;  // e^2 - 1: more than six failures before each checkpoint

}  // namespace

bool FailureModel::hopeless() const { return rate * (checkpoint_interval_s + checkpoint_write_s) > most_failures_per_interval; }

FailureModel failure_model(const Reliability& reliability, int nodes)
{
    FailureModel model;
    model.rate = reliability.node_failure_rate.si * nodes;
    model.restart_s = reliability.restart.si;
    model.checkpoint_write_s = reliability.checkpoint_write.si;
    model.checkpoint_interval_s = reliability.checkpoint_interval.si;
    if (model.checkpoint_interval_s == 0.0) {
        model.checkpoint_interval_s = model.rate > 0.0
                                          ? std::max(shortest_interval_s, std::sqrt(2.0 * model.checkpoint_write_s / model.rate))
                                          : std::numeric_limits<double>::infinity();
    }
    return model;
}

double expected_training_time(double productive_s, const FailureModel& model)
{
    if (!std::isfinite(model.checkpoint_interval_s)) {
        return productive_s;
    }
    // No checkpoint after the end: the last interval, whole or in part, is the rest.
    const double intervals = std::max(0.0, std::ceil(productive_s / model.checkpoint_interval_s) - 1.0);
    const double rest = productive_s - intervals * model.checkpoint_interval_s;
    const double length = model.checkpoint_interval_s + model.checkpoint_write_s;
    if (model.rate == 0.0) {
        return intervals * length + rest;
    }
    const double attempt = exponential_minus_one(model.rate * length) * (1.0 / model.rate + model.restart_s);
    return intervals * attempt + rest;
}

double sampled_training_time(double productive_s, const FailureModel& model, const QuantileTable& exponential, std::uint64_t seed,
                             Purpose purpose, std::uint32_t fleet)
{
    const double interval = std::min(model.checkpoint_interval_s, productive_s);
    const double cycle = interval + model.checkpoint_write_s;
    double saved = 0.0;  // productive time behind the last checkpoint
    double wall = 0.0;
    std::array<std::uint32_t, 4> words{};
    for (std::uint32_t failure = 0;; ++failure) {
        const double left = productive_s - saved;
        const double writes = std::max(0.0, std::ceil(left / interval) - 1.0);
        const double to_the_end = left + writes * model.checkpoint_write_s;
        if (model.rate == 0.0) {
            return wall + to_the_end;
        }
        if (failure % 4 == 0) {
            words = philox(seed, {fleet, 0, failure / 4, use(Stream::failure, purpose)});
        }
        const double gap = static_cast<double>(exponential(words[failure % 4])) / model.rate;
        if (gap >= to_the_end) {
            return wall + to_the_end;
        }
        saved += std::floor(gap / cycle) * interval;
        wall += gap + model.restart_s;
    }
}

}  // namespace prismopt

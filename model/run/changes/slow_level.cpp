#include "model/run/changes/slow_level.hpp"

#include <cmath>
#include <numbers>

namespace prismopt {

namespace {

constexpr double day_s = 86'400.0;
constexpr double swing_frequency = 2.0 * std::numbers::pi / day_s;
/// The swing forgets its size and phase in this time: weather. An assumption; docs/methods/watch.md.
constexpr double swing_memory_s = 10.0 * day_s;

}  // namespace

SlowLevel::SlowLevel(const SlowChanges& slow, double interval_s, double level)
{
    // u'' = -w^2 u - 2 g u' + noise has the stationary variance A of a cycle of amplitude a with any phase, a^2 / 2, at the noise
    // density 4 g w^2 A. The second member is u' / w.
    const double amplitude = slow.swing / 2.0;
    const double stationary = amplitude * amplitude / 2.0;
    const double decay = 1.0 / swing_memory_s;
    const double damped = std::sqrt(swing_frequency * swing_frequency - decay * decay);
    const double shrink = std::exp(-decay * interval_s);
    const double sine = shrink * std::sin(damped * interval_s);
    const double cosine = shrink * std::cos(damped * interval_s);
    rotate_[0][0] = cosine + decay / damped * sine;
    rotate_[0][1] = swing_frequency / damped * sine;
    rotate_[1][0] = -swing_frequency / damped * sine;
    rotate_[1][1] = cosine - decay / damped * sine;
    const double density = 4.0 * decay * swing_frequency * swing_frequency * stationary;
    swing_noise_[0][0] = density * interval_s * interval_s * interval_s / 3.0;
    swing_noise_[0][1] = density * interval_s * interval_s / 2.0 / swing_frequency;
    swing_noise_[1][0] = swing_noise_[0][1];
    swing_noise_[1][1] = density * interval_s / (swing_frequency * swing_frequency);
    const double drift = slow.drift.cv * slow.drift.cv;
    if (drift > 0.0) {
        fade_ = std::exp(-interval_s / slow.drift.time.si);
        drift_noise_ = drift * (1.0 - fade_ * fade_);
    }
    state_[0] = level;
    covariance_[0][0] = 1.0;
    covariance_[1][1] = stationary;
    covariance_[2][2] = stationary;
    covariance_[3][3] = drift;
    expect();
}

void SlowLevel::expect()
{
    variance_.expected = 0.0;
    for (int i = 0; i < members; ++i) {
        const Vector& row = covariance_[static_cast<std::size_t>(i)];
        variance_.with[static_cast<std::size_t>(i)] = row[0] + row[1] + row[3] + row[4];
    }
    variance_.expected = variance_.with[0] + variance_.with[1] + variance_.with[3] + variance_.with[4];
}

void SlowLevel::advance(Vector& state) const
{
    const double swing = rotate_[0][0] * state[1] + rotate_[0][1] * state[2];
    state[2] = rotate_[1][0] * state[1] + rotate_[1][1] * state[2];
    state[1] = swing;
    state[3] *= fade_;
}

void SlowLevel::advance()
{
    advance(state_);
    for (Vector& row : covariance_) {
        advance(row);
    }
    for (int j = 0; j < members; ++j) {
        const auto column = static_cast<std::size_t>(j);
        const double swing = rotate_[0][0] * covariance_[1][column] + rotate_[0][1] * covariance_[2][column];
        covariance_[2][column] = rotate_[1][0] * covariance_[1][column] + rotate_[1][1] * covariance_[2][column];
        covariance_[1][column] = swing;
        covariance_[3][column] *= fade_;
    }
    covariance_[1][1] += swing_noise_[0][0];
    covariance_[1][2] += swing_noise_[0][1];
    covariance_[2][1] += swing_noise_[1][0];
    covariance_[2][2] += swing_noise_[1][1];
    covariance_[3][3] += drift_noise_;
    expect();
}

SlowLevel::Vector SlowLevel::gain(double noise) const
{
    Vector gain = variance_.with;
    for (double& g : gain) {
        g /= variance(noise);
    }
    return gain;
}

void SlowLevel::update(double innovation, double noise)
{
    const Vector gain = this->gain(noise);
    for (std::size_t i = 0; i < members; ++i) {
        state_[i] += gain[i] * innovation;
        for (std::size_t j = 0; j < members; ++j) {
            covariance_[i][j] -= gain[i] * variance_.with[j];
        }
    }
}

void SlowLevel::begin_shift(double size)
{
    state_[0] += state_[4];
    for (Vector& row : covariance_) {
        row[0] += row[4];
        row[4] = 0.0;
    }
    for (std::size_t j = 0; j < members; ++j) {
        covariance_[0][j] += covariance_[4][j];
        covariance_[4][j] = 0.0;
    }
    state_[4] = size;
    covariance_[4][4] = 1.0;
    expect();
}

}  // namespace prismopt

#pragma once

/// Level of the step times of a job, followed by a Kalman filter: constant, daily swing, drift, and the shift since the last
/// change. docs/methods/watch.md.

#include "model/run/reliability.hpp"

#include <array>

namespace prismopt {

/// Slow changes of the level that are normal, of the logarithm of the step time.
struct SlowChanges {
    double swing = 0.0;  // peak to peak, over a day
    Drift drift{};       // of the scenario
};

/// Filter of log step times with white noise. Its state has five members: level, daily swing (two, in quadrature), drift, shift.
class SlowLevel {
public:
    static constexpr int members = 5;
    using Vector = std::array<double, members>;

    /// `interval_s`: time from one observation to the next. The level starts at `level`, with the prior standard deviation 1.
    SlowLevel(const SlowChanges& slow, double interval_s, double level);

    /// Moves the state on to the next observation.
    void advance();
    /// The expected observation.
    double expected() const { return state_[0] + state_[1] + state_[3] + state_[4]; }
    /// The level without the time of day and drift, which average out, and its variance.
    double lasting() const { return state_[0] + state_[4]; }
    double lasting_variance() const { return covariance_[0][0] + 2.0 * covariance_[0][4] + covariance_[4][4]; }
    /// Variance of the next innovation, with noise of this variance.
    double variance(double noise) const { return variance_.expected + noise; }
    /// Gain of an observation with noise of this variance.
    Vector gain(double noise) const;
    /// Takes an innovation (observation less expected()) of an observation with noise of this variance.
    void update(double innovation, double noise);

    /// Adds the shift to the level, and begins a new one, of this size, with the prior standard deviation 1.
    void begin_shift(double size);
    double shift() const { return state_[4]; }
    double shift_variance() const { return covariance_[4][4]; }

    /// State of a filter that hears the response of this one to an input alone, with the same gains.
    static double response(const Vector& state) { return state[0] + state[1] + state[3] + state[4]; }
    void advance(Vector& state) const;

private:
    void expect();

    double rotate_[2][2] = {{1.0, 0.0}, {0.0, 1.0}};  // of the swing, per observation
    double swing_noise_[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
    double fade_ = 1.0;  // of the drift
    double drift_noise_ = 0.0;
    Vector state_{};
    std::array<Vector, members> covariance_{};
    struct {
        Vector with{};  // covariance of each member with the expected observation
        double expected = 0.0;
    } variance_;
};

}  // namespace prismopt

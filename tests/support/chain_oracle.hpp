#pragma once

/// Distributions of sums of independent durations by another way than the model's: characteristic functions
/// by quadrature over quantiles, and the distribution function by their inversion. Slow, and exact to about
/// 1e-7 in probability for smooth distributions.

#include "model/distribution/quantile_table.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace prismopt {

/// Sum of durations, each list entry drawn `copies` times.
class SumOracle {
public:
    SumOracle(const std::vector<Quantile>& distributions, int copies) : copies_(copies)
    {
        double variance = 0.0;
        for (const Quantile& distribution : distributions) {
            const Moments m = moments(distribution);
            mean_ += copies * m.mean;
            variance += copies * m.variance;
            points_.push_back(points_of(distribution));
        }
        // Trapezoidal inversion repeats the distribution at this period: 30 deviations
        // either side reach far beyond p99.9.
        const double period = 60.0 * std::sqrt(variance);
        spacing_ = 2.0 * std::numbers::pi / period;
        constexpr double vanished = 1e-9;
        constexpr int most = 4000;
        for (int k = 0; k < most; ++k) {
            transform_.push_back(transform((k + 0.5) * spacing_));
            if (std::abs(transform_.back()) < vanished) {
                break;
            }
        }
    }

    double mean() const { return mean_; }

    /// Probability of at most x. Gil-Pelaez, Biometrika 38 (1951) 481-482.
    double below(double x) const
    {
        double sum = 0.0;
        for (std::size_t k = 0; k < transform_.size(); ++k) {
            const double omega = (static_cast<double>(k) + 0.5) * spacing_;
            sum += (std::polar(1.0, -omega * (x - mean_)) * transform_[k]).imag() /
                   (static_cast<double>(k) + 0.5);
        }
        return 0.5 - sum / std::numbers::pi;
    }

private:
    struct Point {
        double x;  // from the distribution's mean
        double weight;
    };

    /// Trapezoidal rule in logit(p).
    static std::vector<Point> points_of(const Quantile& distribution)
    {
        constexpr int steps = 500;
        constexpr double limit = 36.0;
        const double mean = moments(distribution).mean;
        std::vector<Point> points;
        for (int i = -steps; i <= steps; ++i) {
            const double y = limit * i / steps;
            const double tail = 1.0 / (1.0 + std::exp(std::abs(y)));
            points.push_back({distribution(tail, i > 0) - mean, tail * (1.0 - tail) * limit / steps});
        }
        return points;
    }

    /// E exp(i omega (sum - mean)).
    std::complex<double> transform(double omega) const
    {
        std::complex<double> product = 1.0;
        for (const auto& points : points_) {
            std::complex<double> sum = 0.0;
            for (const Point& point : points) {
                sum += point.weight * std::polar(1.0, omega * point.x);
            }
            product *= sum;
        }
        return std::pow(product, copies_);
    }

    int copies_;
    double mean_ = 0.0;
    double spacing_ = 0.0;
    std::vector<std::vector<Point>> points_;       // [distribution]
    std::vector<std::complex<double>> transform_;  // [k]: at (k + 1/2) * spacing
};

}  // namespace prismopt

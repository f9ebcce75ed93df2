#include "model/calibration/fit/maximise.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace prismopt {

namespace {

struct Derivatives {
    Eigen::VectorXd gradient;
    Eigen::MatrixXd hessian;
};

Derivatives derivatives(const std::function<double(const Eigen::VectorXd&)>& function,
                        const Eigen::VectorXd& x, double centre)
{
    constexpr double h = 1e-4;  // variables are of order one: logarithms, shapes
    const Eigen::Index n = x.size();
    Derivatives result{Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
    const auto at = [&](Eigen::Index i, double di, Eigen::Index j, double dj) {
        Eigen::VectorXd moved = x;
        moved[i] += di;
        moved[j] += dj;
        return function(moved);
    };
    for (Eigen::Index i = 0; i < n; ++i) {
        const double up = at(i, h, i, 0.0);
        const double down = at(i, -h, i, 0.0);
        result.gradient[i] = (up - down) / (2.0 * h);
        result.hessian(i, i) = (up - 2.0 * centre + down) / (h * h);
        for (Eigen::Index j = 0; j < i; ++j) {
            const double mixed =
                (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / (4.0 * h * h);
            result.hessian(i, j) = mixed;
            result.hessian(j, i) = mixed;
        }
    }
    return result;
}

}  // namespace

std::optional<Eigen::VectorXd> maximise(const std::function<double(const Eigen::VectorXd&)>& function,
                                        Eigen::VectorXd start)
{
    Eigen::VectorXd x = std::move(start);
    double value = function(x);
    double damping = 1e-3;
    for (int iteration = 0; iteration < 200 && std::isfinite(value); ++iteration) {
        const Derivatives d = derivatives(function, x, value);
        if (!d.gradient.allFinite() || !d.hessian.allFinite()) {
            return std::nullopt;
        }
        constexpr double most_damping = 1e8;
        double gain = -1.0;
        for (; gain < 0.0 && damping < most_damping; damping *= 4.0) {
            const Eigen::MatrixXd damped =
                -d.hessian + damping * (1.0 + d.hessian.diagonal().cwiseAbs().maxCoeff()) *
                                 Eigen::MatrixXd::Identity(x.size(), x.size());
            const Eigen::LLT<Eigen::MatrixXd> factor(damped);
            if (factor.info() != Eigen::Success) {
                continue;
            }
            const Eigen::VectorXd next = x + factor.solve(d.gradient);
            const double there = function(next);
            if (there >= value) {
                gain = there - value;
                x = next;
                value = there;
            }
        }
        damping = std::max(damping / 40.0, 1e-9);
        if (gain < 1e-10 * (1.0 + std::abs(value))) {
            return x;
        }
    }
    return std::nullopt;
}

}  // namespace prismopt

#pragma once

/// Maximisation of smooth functions of few variables, such as likelihoods.

#include <Eigen/Core>

#include <functional>
#include <optional>

namespace prismopt {

/// Returns a maximum by Newton's method with central differences, damped as by Levenberg and
/// Marquardt, from `start`; nothing if none is found. The function may return minus infinity or not
/// a number where it is undefined.
std::optional<Eigen::VectorXd> maximise(const std::function<double(const Eigen::VectorXd&)>& function,
                                        Eigen::VectorXd start);

}  // namespace prismopt

#pragma once

/// Maximum of a smooth function of few variables, such as a likelihood.

#include <Eigen/Core>

#include <functional>
#include <optional>

namespace prismopt {

/// Newton's method with central differences, damped as Levenberg and Marquardt do, from `start`. The function may be minus
/// infinity or not a number where it is not defined. Nothing where no maximum is found.
std::optional<Eigen::VectorXd> maximise(const std::function<double(const Eigen::VectorXd&)>& function, Eigen::VectorXd start);

}  // namespace prismopt

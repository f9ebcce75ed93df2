#pragma once

/// Fit of a network's constants to measured collectives.

#include "io/measured/measured_collectives.hpp"

#include <functional>
#include <string>
#include <vector>

namespace prismopt {

/// A constant that measured collectives determine.
struct CollectiveConstant {
    std::string name;
    double value = 0.0;      // SI
    double deviation = 0.0;  // of its logarithm
    double largest = 0.0;
    std::function<void(Cluster&, double)> set;
};

/// Returns the constants at their fitted values. Minimises a robust loss of log(predicted / measured), in
/// which a system counts as one row however many it has, and of prior terms about the values given; rows of
/// systems that stand apart do not count. Levenberg-Marquardt (Eigen, after MINPACK).
std::vector<CollectiveConstant> fit_collectives(const std::vector<MeasuredCollective>& rows,
                                                std::vector<CollectiveConstant> constants);

/// Predicted times of the rows, seconds, with these constants in place of their clusters'.
std::vector<double> predicted_times(const std::vector<MeasuredCollective>& rows,
                                    const std::vector<CollectiveConstant>& constants);

}  // namespace prismopt

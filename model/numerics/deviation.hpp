#pragma once

/// Deviation of a result from the exact one.

#include "model/base/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// |result - exact| divided by the root mean square of the exact result, over the elements of a tensor.
/// Infinite where a result is not a finite number.
struct Deviation {
    double largest = 0.0;
    double rms = 0.0;
    double p50 = 0.0;
    double p99 = 0.0;
};

/// Relative errors of one tensor are added to those of others of the same pass.
class DeviationCount {
public:
    void add(const Matrix<float>& result, const Matrix<double>& exact);
    Deviation summary() const;

private:
    std::vector<double> errors_;
};

Deviation deviation(const Matrix<float>& result, const Matrix<double>& exact);

/// Wasserstein-1 distance between the distributions of two samples of one size: the mean
/// distance of their order statistics.
double wasserstein_distance(std::span<const float> a, std::span<const float> b);

}  // namespace prismopt

#pragma once

/// Residual distributions of tests: lognormal, of a coefficient of variation for
/// each class that is within none.

#include "model/distribution/variability.hpp"

#include <array>
#include <cstddef>

namespace prismopt {

/// Coefficients of variation.
struct ResidualCvs {
    double gemm = 0.0;
    double attention = 0.0;
    double elementwise = 0.0;
    double tp_collective = 0.0;
    double p2p = 0.0;
    double dp_collective = 0.0;
};

inline void set_residuals(const ResidualCvs& cv, Variability& v)
{
    const auto set = [&v](KernelClass kernel, double of) {
        v.residual[static_cast<std::size_t>(kernel)] = Distribution{LogNormal{of}, {}, 20.0, "test"};
    };
    set(KernelClass::gemm, cv.gemm);
    set(KernelClass::attention, cv.attention);
    set(KernelClass::elementwise, cv.elementwise);
    set(KernelClass::tp_collective, cv.tp_collective);
    set(KernelClass::p2p, cv.p2p);
    set(KernelClass::dp_collective, cv.dp_collective);
}

}  // namespace prismopt

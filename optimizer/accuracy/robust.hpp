#pragma once

/// The robust loss of the fits.

#include <cmath>

namespace prismopt {

/// Returns a residual whose square is the loss of Cauchy's weights (Holland and Welsch, Communications in
/// Statistics A 6 (1977) 813-827) with a scale of 10 %.
inline double robust(double residual)
{
    constexpr double scale = 0.1;
    const double x = residual / scale;
    const double loss = scale * std::sqrt(std::log1p(x * x));
    return residual < 0.0 ? -loss : loss;
}

}  // namespace prismopt

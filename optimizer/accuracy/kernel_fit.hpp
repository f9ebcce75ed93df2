#pragma once

/// Shares of the peaks that measured kernels reach, and the errors of the model of kernel times with them.

#include "io/measured/measured_kernels.hpp"

#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// A share of an accelerator that kernels alone determine.
struct KernelShare {
    std::string accelerator;
    std::string key;  // machine_constants.hpp
    double value = 0.0;
    double deviation = 0.0;  // of its logarithm
    int rows = 0;
};

/// Fits the shares of the accelerators of the rows, each by the robust loss of log(predicted / measured) over
/// its rows. Casts come before the products that hold them.
std::vector<KernelShare> fit_kernels(const std::vector<MeasuredKernel>& rows);

/// Predicted times [row] in seconds, with these shares; other constants are those of the catalog.
std::vector<double> predicted_kernels(const std::vector<MeasuredKernel>& rows,
                                      const std::vector<KernelShare>& shares);

/// Predicted times [row] where the shares are fitted without the row's family of shapes.
std::vector<double> kernels_held_out(const std::vector<MeasuredKernel>& rows);

struct KernelErrors {
    KernelTable table = KernelTable::product;
    std::string precision;  // and kind of scaling
    std::string accelerator;
    int rows = 0;
    double error = 0.0;  // mean absolute, relative to the measured times
    double bias = 0.0;   // median
};
/// By kind of kernel, precision and accelerator.
std::vector<KernelErrors> kernel_errors(const std::vector<MeasuredKernel>& rows,
                                        const std::vector<double>& predicted_s);

}  // namespace prismopt

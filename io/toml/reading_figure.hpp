#pragma once

/// Numbers as people write them.

#include <string>
#include <string_view>

namespace prismopt {

/// So many significant digits, without trailing zeros, exponents or a negative zero; thousands are grouped:
/// "0.0457", "10.9", "1,030", "123,000".
std::string reading_figure(double value, int digits = 3);

/// A difference, with its sign: "+0.31", "-1,030"; "0" for the rounding error of numbers of the size `scale`.
std::string signed_figure(double value, double scale, int digits = 3);

/// A quantity in its display unit: "14.5 M USD", "123,000 days"; times that are not finite: "never".
std::string reading_quantity(double value, std::string_view units, int digits = 3);

}  // namespace prismopt

#pragma once

namespace prismopt {

constexpr double square(double x) { return x * x; }
constexpr double cube(double x) { return x * x * x; }

}  // namespace prismopt

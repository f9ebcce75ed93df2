#pragma once

/// Root finding for functions and conditions of one variable.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <optional>

namespace prismopt {

/// As many halvings as bring together any two doubles: they are at most 2,098 apart, the whole range of
/// exponents and the digits of one.
inline constexpr int most_halvings = 2'200;

/// Returns the root between `low` and `high` by bisection, to `bits` binary digits. Empty if
/// an end is not finite, if the function is not a number there or has the same sign at both
/// ends, or if it does not converge.
std::optional<double> root_between(const std::function<double(double)>& function, double low, double high,
                                   int bits);

/// Two values between which a condition changes. `high` is the end where the condition does not hold; it is
/// the smaller number where the condition holds for large numbers.
struct Bracket {
    double low = 0.0;
    double high = 0.0;

    double middle() const { return 0.5 * (low + high); }
};

/// How a bisection divides its bracket, and when it stops: after so many halvings, or when the bracket is no
/// wider than the larger of two widths.
struct Bisection {
    enum class Middle { arithmetic, geometric };  // geometric: both ends are positive

    int halvings = most_halvings;
    double width = 0.0;
    double relative_width = 0.0;  // of the magnitude of `high`
    Middle middle = Middle::arithmetic;
};

/// Narrows a bracket around the value where a condition ceases to hold: from `bracket.low`, where it is
/// assumed to hold, to `bracket.high`, where it is assumed not to. The ends themselves are not tested: a
/// condition that always holds moves `low` toward `high`, and one that never holds moves `high` toward `low`.
template <std::predicate<double> Condition>
Bracket bisect(Bracket bracket, const Bisection& rule, Condition&& holds)
{
    const auto is_wide = [&] {
        const double most = std::max(rule.width, rule.relative_width * std::abs(bracket.high));
        return std::abs(bracket.high - bracket.low) > most;
    };
    for (int halving = 0; halving < rule.halvings && is_wide(); ++halving) {
        const double middle = rule.middle == Bisection::Middle::geometric
                                  ? std::sqrt(bracket.low * bracket.high)
                                  : bracket.middle();
        if (holds(middle)) {
            bracket.low = middle;
        } else {
            bracket.high = middle;
        }
    }
    return bracket;
}

}  // namespace prismopt

#pragma once

/// Columns of a front point in results files, CSV, JSON and the report page.

#include "io/results/results.hpp"

#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

/// Range of values that a column may contain.
struct Allowed {
    double least = 0.0;
    double most = std::numeric_limits<double>::infinity();
    bool absent = false;  // NaN is allowed: no value
};

/// Shares are sums, which rounding may push slightly out of [0, 1].
inline constexpr Allowed allowed_share{-1e-9, 1.0 + 1e-9};

template <class T>
struct FrontColumn {
    std::string_view name;
    std::string_view units;
    std::string_view long_name;
    T& (*of)(FrontPoint&);
    int since = 0;  // minor schema version that added the column; NaN in older files and where it does not apply
    Allowed allowed{};

    const T& in(const FrontPoint& point) const { return of(const_cast<FrontPoint&>(point)); }  // `of` changes nothing itself
};

/// Estimates with confidence limits: `<name>`, `<name>_low` and `<name>_high`.
std::span<const FrontColumn<Estimate>> front_estimates();
/// Plain numbers.
std::span<const FrontColumn<double>> front_numbers();
/// Tabulated distributions: quantiles at reported_probabilities, or empty.
std::span<const FrontColumn<std::vector<double>>> front_quantiles();

}  // namespace prismopt

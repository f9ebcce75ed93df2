#pragma once

/// Columns of a front point in results files, CSV, JSON and the report page.

#include "io/results/results.hpp"

#include <limits>
#include <optional>
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

/// Range of a quantity in these units, wider than that of any study which a scenario can describe. Confidence limits are in it
/// too, unless they are infinite.
Allowed allowed_in(std::string_view units);

template <class T>
struct FrontColumn {
    std::string_view name;
    std::string_view units;
    std::string_view long_name;
    T& (*of)(FrontPoint&);
    int since = 0;  // minor schema version that added the column, which is NaN for points of older files
    std::optional<Allowed> own{};

    /// Its own range, or that of its units.
    Allowed allowed() const { return own ? *own : allowed_in(units); }
    const T& in(const FrontPoint& point) const { return of(const_cast<FrontPoint&>(point)); }  // `of` changes nothing itself
};

/// Estimates with confidence limits: `<name>`, `<name>_low` and `<name>_high`.
std::span<const FrontColumn<Estimate>> front_estimates();
/// Plain numbers.
std::span<const FrontColumn<double>> front_numbers();
/// Tabulated distributions: quantiles at reported_probabilities, or empty.
std::span<const FrontColumn<std::vector<double>>> front_quantiles();

}  // namespace prismopt

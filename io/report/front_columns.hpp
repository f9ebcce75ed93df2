#pragma once

/// What results hold of each front point, one row per column: results files, CSV, JSON and the page follow these lists.

#include "io/results/results.hpp"

#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

/// Which values a column may hold.
struct Allowed {
    double least = 0.0;
    double most = std::numeric_limits<double>::infinity();
    bool absent = false;  // NaN: there is none
};

/// Shares are sums, which rounding may take beyond their ends.
inline constexpr Allowed allowed_share{-1e-9, 1.0 + 1e-9};

template <class T>
struct FrontColumn {
    std::string_view name;
    std::string_view units;
    std::string_view long_name;
    T& (*of)(FrontPoint&);
    int since = 0;  // minor version of the results schema that added it; NaN in files from before, and where it does not apply
    Allowed allowed{};

    const T& in(const FrontPoint& point) const { return of(const_cast<FrontPoint&>(point)); }  // `of` changes nothing itself
};

/// With sampling limits: each is a value, `<name>_low` and `<name>_high`.
std::span<const FrontColumn<Estimate>> front_estimates();
/// Plain numbers.
std::span<const FrontColumn<double>> front_numbers();
/// Tabulated distributions: a value at each of reported_probabilities, or none.
std::span<const FrontColumn<std::vector<double>>> front_quantiles();

}  // namespace prismopt

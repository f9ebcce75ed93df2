#pragma once

/// What is told of each front point, one row a column: the files, the CSV and their readers all follow these lists.

#include "io/results.hpp"

#include <span>
#include <string>
#include <string_view>

namespace prismopt {

template <class T>
struct FrontColumn {
    std::string_view name;
    std::string_view units;
    std::string_view long_name;
    T& (*of)(FrontPoint&);

    const T& in(const FrontPoint& point) const { return of(const_cast<FrontPoint&>(point)); }  // `of` changes nothing itself
};

/// With sampling limits: each is a value, `<name>_low` and `<name>_high`.
std::span<const FrontColumn<Estimate>> front_estimates();
/// Plain numbers.
std::span<const FrontColumn<double>> front_numbers();
/// Tabulated distributions: a value at each of reported_probabilities, or none.
std::span<const FrontColumn<std::vector<double>>> front_quantiles();

}  // namespace prismopt

#pragma once

/// Short text of the plan of a front point.

#include "io/results/results.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// "tp 8 pp 16 dp 128 v 4 mb 1 interleaved", followed by other axes that the
/// study varied. --design accepts it.
std::string plan_words(const Results& results, const FrontPoint& point, std::string_view except = "");

/// Name of the axis of variants.
inline constexpr std::string_view variant_axis = "variant";

/// Label of the point on an axis; empty if the study has no such axis.
std::optional<std::string> axis_label(const Results& results, const Point& point, std::string_view axis);

/// A choice on the axis of hardware variants, such as the precision.
struct VariantChoice {
    std::string name;
    std::vector<std::string> of_variant;  // [label of the axis]
    std::size_t axis = 0;                 // position

    const std::string& at(const Point& point) const
    {
        return of_variant.at(static_cast<std::size_t>(point.at(axis)));
    }
};
/// From "global_batch=512 precision=fp8", the labels of that axis; empty without it.
std::vector<VariantChoice> variant_choices(const Results& results);

/// Axis of a name in such a text: "microbatch" for "mb", other names unchanged.
std::string axis_of_word(const std::string& word);

}  // namespace prismopt

#include "io/results/results_schema.hpp"

#include <algorithm>
#include <charconv>

namespace prismopt {

std::string objective_column(const std::string& objective) { return "objective_" + objective; }

std::optional<std::vector<std::int32_t>> numeric_labels(const Axis& axis)
{
    if (!axis.ordered) {
        return std::nullopt;
    }
    std::vector<std::int32_t> numbers;
    for (const std::string& label : axis.labels) {
        std::int32_t number = 0;
        const char* last = label.data() + label.size();
        const auto [end, error] = std::from_chars(label.data(), last, number);
        if (error != std::errc() || end != last ||
            std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
            return std::nullopt;
        }
        numbers.push_back(number);
    }
    return numbers;
}

}  // namespace prismopt

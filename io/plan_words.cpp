#include "io/plan_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace prismopt {

namespace {

std::optional<std::string> label(const Results& results, const Point& point, std::string_view axis)
{
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        if (results.axes[a].name == axis) {
            return results.axes[a].labels.at(static_cast<std::size_t>(point.at(a)));
        }
    }
    return std::nullopt;
}

int degree(const Results& results, const FrontPoint& point, std::string_view axis)
{
    const std::string text = label(results, point.point, axis).value_or("1");
    int number = 1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return std::max(number, 1);
}

int data_parallel(const Results& results, const FrontPoint& point)
{
    return point.prediction.gpus / (degree(results, point, "tp") * degree(results, point, "cp") * degree(results, point, "pp"));
}

}  // namespace

std::string plan_words(const Results& results, const FrontPoint& point)
{
    std::string text = fmt::format("tp {} pp {} dp {}", degree(results, point, "tp"), degree(results, point, "pp"),
                                   data_parallel(results, point));
    for (const auto& [axis, word] : {std::pair{"v", " v "}, std::pair{"microbatch", " mb "}, std::pair{"schedule", " "}}) {
        if (const auto found = label(results, point.point, axis)) {
            text += word + *found;
        }
    }
    constexpr std::array<std::string_view, 6> told{"gpus", "tp", "pp", "v", "microbatch", "schedule"};
    for (const Axis& axis : results.axes) {
        if (axis.labels.size() > 1 && std::find(told.begin(), told.end(), axis.name) == told.end()) {
            text += fmt::format(" {} {}", axis.name, *label(results, point.point, axis.name));
        }
    }
    return text;
}

}  // namespace prismopt

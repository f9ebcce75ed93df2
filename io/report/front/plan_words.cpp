#include "io/report/front/plan_words.hpp"

#include "model/plan/plan.hpp"
#include "model/schedule/schedule.hpp"

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

/// In the first phase: a later one may have more GPUs.
int data_parallel(const Results& results, const FrontPoint& point)
{
    const int gpus = label(results, point.point, "gpus") ? degree(results, point, "gpus") : point.prediction.gpus;
    return gpus / (degree(results, point, "tp") * degree(results, point, "cp") * degree(results, point, "pp"));
}

/// Whether the axis has an effect on the plan; its label means nothing where it has none.
bool has_effect(const Results& results, const FrontPoint& point, std::string_view axis)
{
    const std::optional<Schedule> schedule = parse<Schedule>(label(results, point.point, "schedule").value_or("1f1b"));
    if (axis == "group") {
        return schedule == Schedule::interleaved;
    }
    if (axis == "post_validation") {
        return degree(results, point, "pp") > 1 && schedule && splits_backward(*schedule);
    }
    return true;
}

}  // namespace

std::optional<std::string> axis_label(const Results& results, const FrontPoint& point, std::string_view axis)
{
    return label(results, point.point, axis);
}

std::string plan_words(const Results& results, const FrontPoint& point, std::string_view except)
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
        if (axis.labels.size() > 1 && axis.name != except && has_effect(results, point, axis.name) &&
            std::find(told.begin(), told.end(), axis.name) == told.end()) {
            // The label of hardware names its parameters.
            text +=
                fmt::format(" {}{}", axis.name == hardware_axis ? "" : axis.name + " ", *label(results, point.point, axis.name));
        }
    }
    return text;
}

std::string axis_of_word(const std::string& word) { return word == "mb" ? "microbatch" : word; }

}  // namespace prismopt

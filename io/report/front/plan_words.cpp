#include "io/report/front/plan_words.hpp"

#include "model/plan/plan.hpp"
#include "model/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace prismopt {

namespace {

int degree(const Results& results, const FrontPoint& point, std::string_view axis)
{
    const std::string text = axis_label(results, point.point, axis).value_or("1");
    int number = 1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return std::max(number, 1);
}

/// In the first phase: a later one may have more GPUs.
int data_parallel(const Results& results, const FrontPoint& point)
{
    const int gpus =
        axis_label(results, point.point, "gpus") ? degree(results, point, "gpus") : point.prediction.gpus;
    return gpus /
           (degree(results, point, "tp") * degree(results, point, "cp") * degree(results, point, "pp"));
}

/// Whether the axis has an effect on the plan; its label means nothing where it has none.
bool has_effect(const Results& results, const FrontPoint& point, std::string_view axis)
{
    const std::optional<Schedule> schedule =
        parse<Schedule>(axis_label(results, point.point, "schedule").value_or("1f1b"));
    if (axis == "group") {
        return schedule && facts_of(*schedule).groups;
    }
    if (axis == "post_validation") {
        return degree(results, point, "pp") > 1 && schedule && splits_backward(*schedule);
    }
    const std::optional<std::string> recompute = axis_label(results, point.point, "recompute");
    if (axis == "recompute_modules") {
        return !recompute || *recompute == name(Recompute::selective);
    }
    if (axis == "recomputed_layers") {
        return !recompute || *recompute == name(Recompute::full);
    }
    return true;
}

}  // namespace

std::optional<std::string> axis_label(const Results& results, const Point& point, std::string_view axis)
{
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        if (results.axes[a].name == axis) {
            return results.axes[a].labels.at(static_cast<std::size_t>(point.at(a)));
        }
    }
    return std::nullopt;
}

std::string plan_words(const Results& results, const FrontPoint& point, std::string_view except)
{
    std::string text = fmt::format("tp {} pp {} dp {}", degree(results, point, "tp"),
                                   degree(results, point, "pp"), data_parallel(results, point));
    for (const auto& [axis, word] :
         {std::pair{"v", " v "}, std::pair{"microbatch", " mb "}, std::pair{"schedule", " "}}) {
        if (const auto found = axis_label(results, point.point, axis)) {
            text += word + *found;
        }
    }
    constexpr std::array<std::string_view, 6> shown{"gpus", "tp", "pp", "v", "microbatch", "schedule"};
    for (const Axis& axis : results.axes) {
        if (axis.labels.size() > 1 && axis.name != except && has_effect(results, point, axis.name) &&
            std::find(shown.begin(), shown.end(), axis.name) == shown.end()) {
            // The label of hardware names its parameters.
            text += fmt::format(" {}{}", axis.name == variant_axis ? "" : axis.name + " ",
                                *axis_label(results, point.point, axis.name));
        }
    }
    return text;
}

std::vector<VariantChoice> variant_choices(const Results& results)
{
    std::vector<VariantChoice> choices;
    const auto axis = std::find_if(results.axes.begin(), results.axes.end(),
                                   [](const Axis& one) { return one.name == variant_axis; });
    if (axis == results.axes.end()) {
        return choices;
    }
    for (std::size_t variant = 0; variant < axis->labels.size(); ++variant) {
        std::istringstream words(axis->labels[variant]);
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            const std::string name = word.substr(0, equals);
            auto choice = std::find_if(choices.begin(), choices.end(),
                                       [&name](const VariantChoice& one) { return one.name == name; });
            if (choice == choices.end()) {
                choice = choices.insert(choice, {name, std::vector<std::string>(axis->labels.size()),
                                                 static_cast<std::size_t>(axis - results.axes.begin())});
            }
            choice->of_variant[variant] = equals == std::string::npos ? "" : word.substr(equals + 1);
        }
    }
    return choices;
}

std::string axis_of_word(const std::string& word) { return word == "mb" ? "microbatch" : word; }

}  // namespace prismopt

#include "io/logs/structured_lines.hpp"

#include "io/base/csv_stream.hpp"
#include "model/base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {

namespace {

using nlohmann::json;

constexpr double day_s = 86400.0;
constexpr double most_steps = 1e9;

std::optional<double> whole_number(std::string_view text)
{
    const double value = number_in(trimmed(text));
    return value >= 0.0 && value <= most_steps && value == std::floor(value) ? std::optional(value)
                                                                             : std::nullopt;
}

/// "01:23", "1:02:03", "1 day, 2:03:04" in seconds.
std::optional<double> clock_seconds(std::string_view text)
{
    double days = 0.0;
    if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
        const std::optional<double> number = whole_number(text.substr(0, text.find(" day")));
        if (!number) {
            return std::nullopt;
        }
        days = *number;
        text = trimmed(text.substr(comma + 1));
    }
    double seconds = 0.0;
    int fields = 0;
    while (true) {
        const std::size_t end = text.find(':');
        const std::optional<double> field = whole_number(text.substr(0, end));
        if (!field) {
            return std::nullopt;
        }
        seconds = 60.0 * seconds + *field;
        ++fields;
        if (end == std::string_view::npos) {
            break;
        }
        text.remove_prefix(end + 1);
    }
    return fields == 2 || fields == 3 ? std::optional(days * day_s + seconds) : std::nullopt;
}

/// The object that begins at `begin`; discarded where it is none.
json object_at(std::string_view line, std::size_t begin)
{
    constexpr std::size_t longest = 65536;  // such lines have some hundred bytes
    if (begin == std::string_view::npos || line.size() - begin > longest) {
        return json(json::value_t::discarded);
    }
    json object = json::parse(line.substr(begin), nullptr, false);
    return object.is_object() ? object : json(json::value_t::discarded);
}

std::optional<double> number_of(const json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

constexpr std::string_view mllog_mark = ":::MLLOG ";

json mllog_event(std::string_view line, std::string_view key)
{
    const std::size_t mark = line.find(mllog_mark);
    if (mark == std::string_view::npos || line.find(key) == std::string_view::npos) {
        return json(json::value_t::discarded);
    }
    json event = object_at(line, mark + mllog_mark.size());
    const bool asked = event.is_object() && event.contains("key") && event["key"] == key;
    return asked ? event : json(json::value_t::discarded);
}

}  // namespace

std::optional<StatedStep> parse_progress_bar(std::string_view line)
{
    const std::size_t percent = line.find("%|");
    if (percent == std::string_view::npos || !whole_number(line.substr(0, percent))) {
        return std::nullopt;
    }
    const std::size_t bar_end = line.find('|', percent + 2);
    const std::size_t bracket = line.find('[', bar_end == std::string_view::npos ? line.size() : bar_end);
    if (bracket == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view counts = line.substr(bar_end + 1, bracket - bar_end - 1);
    const std::size_t slash = counts.find('/');
    const std::size_t remaining = line.find('<', bracket);
    if (slash == std::string_view::npos || remaining == std::string_view::npos) {
        return std::nullopt;
    }
    const auto step = whole_number(counts.substr(0, slash));
    const auto total = whole_number(counts.substr(slash + 1));
    const auto elapsed = clock_seconds(line.substr(bracket + 1, remaining - bracket - 1));
    if (!step || *step < 1.0 || !total || *total < *step || !elapsed) {
        return std::nullopt;
    }
    return StatedStep{.step = step, .quantity = *elapsed, .total = static_cast<int>(*total)};
}

std::optional<StatedStep> parse_llama_factory_line(std::string_view line)
{
    if (line.find("\"current_steps\"") == std::string_view::npos) {
        return std::nullopt;
    }
    const json object = object_at(line, line.find('{'));
    if (object.is_discarded() || !object.contains("elapsed_time") || !object["elapsed_time"].is_string()) {
        return std::nullopt;
    }
    const auto step = number_of(object, "current_steps");
    const auto elapsed = clock_seconds(object["elapsed_time"].get_ref<const std::string&>());
    if (!step || !(*step >= 1.0 && *step <= most_steps) || !elapsed) {
        return std::nullopt;
    }
    return StatedStep{.step = step, .quantity = *elapsed};
}

std::optional<StatedStep> parse_verl_line(std::string_view line)
{
    const auto metric = [line](std::string_view key) -> std::optional<double> {
        for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
            if (at == 0 || line[at - 1] == ' ') {
                const std::string_view rest = line.substr(at + key.size());
                const double value = number_in(trimmed(rest.substr(0, rest.find(" - "))));
                return std::isfinite(value) ? std::optional(value) : std::nullopt;
            }
        }
        return std::nullopt;
    };
    const auto step = metric("step:");
    const auto whole = metric("timing_s/step:");
    const auto seconds = whole ? whole : metric("perf/time_per_step:");
    if (!step || !(*step >= 0.0 && *step <= most_steps) || !seconds || !(*seconds > 0.0)) {
        return std::nullopt;
    }
    return StatedStep{.step = step, .quantity = *seconds};
}

std::optional<StatedStep> parse_mllog_line(std::string_view line)
{
    const json event = mllog_event(line, "tracked_stats");
    if (event.is_discarded() || !event.contains("value") || !event["value"].is_object()) {
        return std::nullopt;
    }
    std::optional<double> seconds;
    for (const char* key : {"train_step_time", "train_step_timing", "train_step_timing in s"}) {
        if (!seconds) {
            seconds = number_of(event["value"], key);
        }
    }
    if (!seconds || !(*seconds > 0.0)) {
        return std::nullopt;
    }
    StatedStep stated{.step = std::nullopt, .quantity = *seconds};
    if (event.contains("metadata") && event["metadata"].is_object()) {
        const auto samples = number_of(event["metadata"], "samples_count");
        stated.step = samples ? samples : number_of(event["metadata"], "step");
    }
    if (stated.step && !(*stated.step >= 0.0 && *stated.step <= 1e15)) {
        return std::nullopt;
    }
    return stated;
}

std::optional<double> mllog_batch(std::string_view line)
{
    const json event = mllog_event(line, "global_batch_size");
    const auto batch = event.is_discarded() ? std::nullopt : number_of(event, "value");
    return batch && *batch >= 1.0 && *batch <= most_steps ? batch : std::nullopt;
}

}  // namespace prismopt

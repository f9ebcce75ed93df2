#include "io/plots/timeline_file.hpp"

#include "io/base/input_error.hpp"
#include "io/plots/svg.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace prismopt {

namespace {

struct Style {
    const char* name;
    const char* colour;
};
/// By Activity. Colours: Okabe and Ito's, which colour-blind readers distinguish.
constexpr std::array<Style, 10> styles{{{"F", "#56b4e9"},
                                        {"B+W", "#009e73"},
                                        {"B", "#009e73"},
                                        {"W", "#f0e442"},
                                        {"F&B", "#0072b2"},
                                        {"bubble", "#eeeeee"},
                                        {"transfer", "#d55e00"},
                                        {"all-gather", "#cc79a7"},
                                        {"reduce-scatter", "#e69f00"},
                                        {"optimizer", "#555555"}}};
constexpr std::array streams{"compute", "receive activations", "receive gradients",
                             "exchange between replicas"};
constexpr int threads_of_stream = 1000;  // numbers of threads that a stream may take

const Style& style_of(Activity activity) { return styles.at(static_cast<std::size_t>(activity)); }
const Style& style_of(const TimelineEvent& event) { return style_of(event.activity); }

std::string label(const TimelineEvent& event)
{
    return event.microbatch < 0 ? style_of(event).name
                                : fmt::format("{} {}", style_of(event).name, event.microbatch);
}

nlohmann::json metadata(const char* kind, int stage, int thread, const std::string& name)
{
    return {{"ph", "M"}, {"name", kind}, {"pid", stage}, {"tid", thread}, {"args", {{"name", name}}}};
}

double end_of_timeline(const std::vector<TimelineEvent>& events)
{
    double end = 0.0;
    for (const TimelineEvent& event : events) {
        end = std::max(end, event.end_s);
    }
    return end;
}

std::string rectangle(double x, double y, double width, double height, const TimelineEvent& event)
{
    return fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\" stroke=\"#ffffff\" "
        "stroke-width=\"0.3\"><title>stage {}: {}, {:.3f} .. {:.3f} ms</title></rect>\n",
        x, y, width, height, style_of(event).colour, event.stage, escaped(label(event)), 1e3 * event.start_s,
        1e3 * event.end_s);
}

}  // namespace

std::string_view activity_name(Activity activity) { return style_of(activity).name; }
std::string_view stream_name(TimelineStream stream) { return streams.at(static_cast<std::size_t>(stream)); }

std::string timeline_json(const std::vector<TimelineEvent>& events)
{
    nlohmann::json list = nlohmann::json::array();
    // by stage and stream: when its threads are free again
    std::map<std::pair<int, TimelineStream>, std::vector<double>> free;
    for (const TimelineEvent& event : events) {
        if (std::none_of(free.begin(), free.end(),
                         [&](const auto& row) { return row.first.first == event.stage; })) {
            list.push_back(metadata("process_name", event.stage, 0, fmt::format("stage {}", event.stage)));
        }
        auto& threads = free[{event.stage, event.stream}];
        const auto at =
            std::find_if(threads.begin(), threads.end(), [&](double end) { return end <= event.start_s; });
        const auto number = at - threads.begin();
        const int thread = static_cast<int>(event.stream) * threads_of_stream + static_cast<int>(number);
        if (at == threads.end()) {
            threads.push_back(event.end_s);
            list.push_back(
                metadata("thread_name", event.stage, thread, std::string(stream_name(event.stream))));
        } else {
            *at = event.end_s;
        }
        nlohmann::json entry{{"ph", "X"},
                             {"name", label(event)},
                             {"cat", style_of(event).name},
                             {"pid", event.stage},
                             {"tid", thread},
                             {"ts", 1e6 * event.start_s},
                             {"dur", 1e6 * (event.end_s - event.start_s)}};
        if (event.chunk >= 0) {
            entry["args"]["chunk"] = event.chunk;
        }
        if (event.microbatch >= 0) {
            entry["args"]["microbatch"] = event.microbatch;
        }
        list.push_back(std::move(entry));
    }
    return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(list)}}.dump();
}

std::string timeline_svg(const std::vector<TimelineEvent>& events)
{
    constexpr double left = 70.0;
    constexpr double width = 1200.0;
    constexpr double row = 26.0;
    constexpr double top = 30.0;
    const double scale = width / std::max(end_of_timeline(events), 1e-12);
    const int stages = events.empty() ? 0 : events.back().stage + 1;
    std::string text;
    double legend = left;
    for (const Style& entry : styles) {
        text += fmt::format(
            "<rect x=\"{0:.0f}\" y=\"6\" width=\"12\" height=\"12\" fill=\"{1}\"/><text x=\"{2:.0f}\" "
            "y=\"16\">{3}</text>\n",
            legend, entry.colour, legend + 16.0, escaped(entry.name));
        legend += 115.0;
    }
    for (int stage = 0; stage < stages; ++stage) {
        text += fmt::format("<text x=\"4\" y=\"{:.0f}\">stage {}</text>\n", top + row * stage + 13.0, stage);
    }
    for (const TimelineEvent& event : events) {
        const bool computes = event.stream == TimelineStream::compute;
        const double y =
            top + row * event.stage + (computes ? 0.0 : 16.0 + 2.0 * static_cast<double>(event.stream));
        text += rectangle(left + scale * event.start_s, y, scale * (event.end_s - event.start_s),
                          computes ? 17.0 : 2.0, event);
    }
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">0 .. {:.2f} ms</text>\n", left,
                        top + row * stages + 16.0, 1e3 * end_of_timeline(events));
    return svg_document(left + width + 10.0, top + row * stages + 24.0, text);
}

std::string timeline_text(const std::string& path, const std::vector<TimelineEvent>& events)
{
    const auto ends_with = [&path](std::string_view ending) {
        return std::string_view(path).ends_with(ending);
    };
    if (!ends_with(".json") && !ends_with(".svg")) {
        throw InputError("--timeline " + path +
                         " ends neither in .json (for Perfetto) nor in .svg; use one of the two");
    }
    return ends_with(".json") ? timeline_json(events) : timeline_svg(events);
}

}  // namespace prismopt

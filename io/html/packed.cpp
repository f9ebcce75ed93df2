#include "io/html/packed.hpp"

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace prismopt {

namespace {

constexpr std::uint16_t no_value = std::numeric_limits<std::uint16_t>::max();
constexpr double last_step = no_value - 1;

std::string base64_of(const std::string& bytes)
{
    using namespace boost::archive::iterators;
    using Encoder = base64_from_binary<transform_width<std::string::const_iterator, 6, 8>>;
    std::string text(Encoder(bytes.begin()), Encoder(bytes.end()));
    text.append((3 - bytes.size() % 3) % 3, '=');
    return text;
}

template <class Number>
std::string little_endian(std::span<const Number> numbers)
{
    std::string bytes;
    bytes.reserve(numbers.size() * sizeof(Number));
    for (const Number number : numbers) {
        for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
            bytes.push_back(static_cast<char>(number >> (8 * byte) & 0xff));
        }
    }
    return base64_of(bytes);
}

/// Positions in the list of `count` things of which only `most` may be kept.
std::vector<std::size_t> evenly(std::size_t count, std::size_t most)
{
    std::vector<std::size_t> kept;
    const std::size_t number = std::min(count, most);
    for (std::size_t i = 0; i < number; ++i) {
        kept.push_back(i * count / number);
    }
    return kept;
}

/// Evaluations that are not on the front, drawn ones and those that were only bounded.
struct OffFront {
    std::vector<const EvaluatedPoint*> drawn;
    std::vector<const EvaluatedPoint*> bounded;
};

OffFront off_front(const Results& results)
{
    std::set<std::uint64_t> front;
    for (const FrontPoint& point : results.front) {
        front.insert(point.index);
    }
    OffFront off;
    for (const EvaluatedPoint& point : results.evaluations) {
        if (!front.contains(point.index)) {
            auto& points = point.rung > 0 ? off.drawn : off.bounded;
            points.push_back(&point);
        }
    }
    return off;
}

double value_of(const EvaluatedPoint& point, std::size_t objective)
{
    return point.rung > 0 ? point.objectives[objective].value : point.bounds[objective];
}

}  // namespace

std::string base64(std::span<const std::uint16_t> numbers) { return little_endian(numbers); }
std::string base64(std::span<const std::uint32_t> numbers) { return little_endian(numbers); }

Steps steps_of(std::span<const double> values)
{
    Steps packed{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), true, {}};
    for (const double value : values) {
        if (std::isfinite(value)) {
            packed.low = std::min(packed.low, value);
            packed.high = std::max(packed.high, value);
        }
    }
    if (packed.low > packed.high) {
        packed.low = packed.high = 1.0;
    }
    packed.logarithmic = packed.low > 0.0;
    const auto scaled = [&packed](double value) { return packed.logarithmic ? std::log(value) : value; };
    const double range = scaled(packed.high) - scaled(packed.low);
    for (const double value : values) {
        const double share = range > 0.0 ? (scaled(value) - scaled(packed.low)) / range : 0.0;
        packed.steps.push_back(
            std::isfinite(value) ? static_cast<std::uint16_t>(std::lround(last_step * share)) : no_value);
    }
    return packed;
}

nlohmann::json packed_cloud(const Results& results, std::size_t most_bytes)
{
    const OffFront off = off_front(results);
    const bool wide = !results.evaluations.empty() &&
                      results.evaluations.back().index > std::numeric_limits<std::uint32_t>::max();
    const std::size_t bytes = (wide ? 8 : 4) + 2 * results.objectives.size();  // of a plan, before base64
    const std::size_t most = most_bytes * 3 / 4 / bytes;
    std::vector<const EvaluatedPoint*> kept;
    for (const std::size_t i : evenly(off.drawn.size(), most)) {
        kept.push_back(off.drawn[i]);
    }
    const std::size_t drawn = kept.size();
    for (const std::size_t i : evenly(off.bounded.size(), most - drawn)) {
        kept.push_back(off.bounded[i]);
    }
    std::vector<std::uint32_t> lower;
    std::vector<std::uint32_t> upper;
    for (const EvaluatedPoint* point : kept) {
        lower.push_back(static_cast<std::uint32_t>(point->index));
        upper.push_back(static_cast<std::uint32_t>(point->index >> 32));
    }
    nlohmann::json json{
        {"total", off.drawn.size() + off.bounded.size()}, {"drawn", drawn}, {"index", base64(lower)}};
    json["upper"] = wide ? nlohmann::json(base64(upper)) : nlohmann::json();
    json["objectives"] = nlohmann::json::array();
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        std::vector<double> values;
        for (const EvaluatedPoint* point : kept) {
            values.push_back(value_of(*point, k));
        }
        const Steps packed = steps_of(values);
        json["objectives"].push_back({{"low", packed.low},
                                      {"high", packed.high},
                                      {"log", packed.logarithmic},
                                      {"values", base64(packed.steps)}});
    }
    return json;
}

std::string packed_timeline(const std::vector<TimelineEvent>& events, double step_s)
{
    const auto place = [step_s](double time) {
        return static_cast<std::uint16_t>(
            std::lround(std::clamp(time / step_s, 0.0, 1.0) * std::numeric_limits<std::uint16_t>::max()));
    };
    std::vector<std::uint16_t> numbers;
    for (const TimelineEvent& event : events) {
        const bool shown =
            event.stream == TimelineStream::compute || event.stream == TimelineStream::exchange;
        if (shown && event.activity != Activity::bubble) {  // a bubble is where nothing is
            numbers.insert(numbers.end(), {static_cast<std::uint16_t>(event.stage),
                                           static_cast<std::uint16_t>(event.activity),
                                           static_cast<std::uint16_t>(event.chunk),
                                           static_cast<std::uint16_t>(event.microbatch), place(event.start_s),
                                           place(event.end_s)});
        }
    }
    return base64(numbers);
}

}  // namespace prismopt

#include "io/traces/json_events.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <istream>
#include <streambuf>

namespace prismopt {

namespace {

using nlohmann::json;

/// What the parser reads from: the stream's buffers, one after the other.
class StreamBuffer : public std::streambuf {
public:
    explicit StreamBuffer(TraceStream& stream) : stream_(stream) {}

private:
    int_type underflow() override
    {
        const std::string_view bytes = stream_.next();
        if (bytes.empty()) {
            return traits_type::eof();
        }
        auto* begin = const_cast<char*>(
            bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): never written through
        setg(begin, begin, begin + bytes.size());
        return traits_type::to_int_type(*begin);
    }
    TraceStream& stream_;
};

/// Gets one document as it comes; a class, since nlohmann's SAX interface is one. Depth of an event: 1 in a
/// document of its own, 2 in a list alone, 3 in a list of a document.
class EventSax : public json::json_sax_t {
public:
    EventSax(std::string place, JsonTraceHead& head, const std::function<void(JsonEvent&)>& report)
        : place_(std::move(place)), head_(head), report_(report)
    {
    }

    bool null() override { return true; }
    bool boolean(bool value) override
    {
        if (in_event() && attribute_ == "is_cpu_op" && is_value()) {
            event_.on_cpu = value;
        }
        return true;
    }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t& /*unused*/) override { return number(value); }
    bool string(string_t& value) override
    {
        if (!in_event()) {
            return true;
        }
        // The JSON form of protocol buffers writes integers of 64 bits as text.
        // Other programs write times and correlations as text, too.
        constexpr std::array numeric{"durationMicros", "startTimeMicros", "ts", "dur", "correlation"};
        const bool counts = std::find(numeric.begin(), numeric.end(), key_) != numeric.end() ||
                            (is_value() && attribute_ != "pg_name");
        if (const double parsed = counts ? number_in(value) : std::nan(""); std::isfinite(parsed)) {
            return number(parsed);
        }
        set_text(value);
        return true;
    }
    bool binary(binary_t& /*unused*/) override { return true; }
    bool start_object(std::size_t /*unused*/) override
    {
        ++depth_;
        if (in_event() && depth_ == event_depth_) {
            event_ = {};
            event_.list = list_;
            attribute_.clear();
        }
        return true;
    }
    bool key(string_t& value) override
    {
        key_ = value;
        if (depth_ == 1) {
            top_key_ = value;
        }
        return true;
    }
    bool end_object() override
    {
        if (in_event() && depth_ == event_depth_ && !event_.name.empty()) {
            head_.has_list = head_.has_list || std::isfinite(event_.duration_us);
            report_(event_);
        }
        --depth_;
        return true;
    }
    bool start_array(std::size_t /*unused*/) override
    {
        ++depth_;
        if (depth_ == 1) {
            begin_list(JsonList::trace_events, 2);  // the list alone, as Chrome's trace viewer takes it
        } else if (depth_ == 2 && event_depth_ != 2 && (top_key_ == "traceEvents" || top_key_ == "nodes")) {
            begin_list(top_key_ == "nodes" ? JsonList::nodes : JsonList::trace_events, 3);
        }
        return true;
    }
    bool end_array() override
    {
        in_list_ = in_list_ && (list_ == JsonList::documents || depth_ != event_depth_ - 1);
        --depth_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string& /*unused*/,
                     const json::exception& error) override
    {
        throw InputError(fmt::format("{} is not valid JSON from byte {} on ({}); is it truncated?", place_,
                                     position, printable(error.what(), 120)));
    }

private:
    bool in_event() const { return in_list_ && depth_ >= event_depth_; }
    void begin_list(JsonList list, int depth)
    {
        list_ = list;
        event_depth_ = depth;
        in_list_ = true;
        head_.has_list = true;
    }

    /// The value of a Chakra attribute: {"name": "comm_size", "int64_val": 4096}, "int64Val" in the
    /// JSON form of protocol buffers.
    bool is_value() const
    {
        return depth_ > event_depth_ && (key_ == "value" || key_.ends_with("_val") || key_.ends_with("Val"));
    }

    bool number(double value)
    {
        if (depth_ == 2 && top_key_ == "distributedInfo" && key_ == "rank") {
            head_.rank = value >= 0.0 && value <= 1e6 ? static_cast<int>(value) : 0;
        }
        if (in_event()) {
            if (depth_ == event_depth_) {
                set_own(value);
            } else {
                set_inner(value);
            }
        }
        return true;
    }

    void set_own(double value)
    {
        if (key_ == "ts" || key_ == "start_time_micros" || key_ == "startTimeMicros") {
            event_.start_us = value;
        } else if (key_ == "dur" || key_ == "duration_micros" || key_ == "durationMicros") {
            event_.duration_us = value;
        } else if (key_ == "exclusive_dur") {
            event_.duration_us = value;
            event_.linked = true;
        } else if (key_ == "type") {
            event_.category = fmt::format("{}", value);
        } else if (key_ == "pid") {
            event_.process = fmt::format("{}", value);
        } else if (key_ == "tid") {
            event_.thread = fmt::format("{}", value);
        } else {
            set_inner(value);
        }
    }

    void set_inner(double value)
    {
        const std::string& what = is_value() ? attribute_ : key_;
        if (what == "stream") {
            event_.stream = fmt::format("{}", value);
        } else if (what == "grid") {
            event_.grid += fmt::format("{}{}", event_.grid.empty() ? "" : "x", value);
        } else if (what == "Group size") {
            event_.group_size = fmt::format("{}", value);
        } else if (what == "In msg nelems" || what == "comm_size") {
            event_.elements = fmt::format("{}", value);
        } else if (what == "comm_type") {
            event_.collective_type = value;
        } else if (what == "correlation") {
            // integers are exact in a double; CUPTI counts from 1, and 0 stands for none
            constexpr double most = 9e15;
            event_.correlation =
                value > 0.0 && value < most ? static_cast<std::int64_t>(value) : no_correlation;
        }
    }

    void set_text(const std::string& value)
    {
        if (depth_ == event_depth_) {
            if (key_ == "name") {
                event_.name = value;
            } else if (key_ == "cat" || key_ == "type") {
                event_.category = value;
            } else if (key_ == "ph") {
                event_.phase = value;
            } else if (key_ == "pid") {
                event_.process = value;
            } else if (key_ == "tid") {
                event_.thread = value;
            }
        } else if (key_ == "name") {
            attribute_ = value;
            event_.label = value;
        } else if (key_ == "Collective name") {
            event_.collective = value;
        } else if (key_ == "Process Group Description") {
            event_.group = value;
        } else if (key_ == "hlo_category") {
            event_.hlo_category = value;
        }
    }

    const std::string place_;
    JsonTraceHead& head_;
    const std::function<void(JsonEvent&)>& report_;
    int depth_ = 0;
    int event_depth_ = 1;
    JsonList list_ = JsonList::documents;
    bool in_list_ = true;
    std::string key_, top_key_, attribute_;
    JsonEvent event_;
};

}  // namespace

JsonTraceHead read_json_events(TraceStream& stream, const std::string& path,
                               const std::function<void(JsonEvent&)>& event)
{
    StreamBuffer buffer(stream);
    std::istream input(&buffer);
    input.exceptions(std::ios::badbit);  // a damaged gzip file throws through the stream
    JsonTraceHead head;
    for (std::size_t document = 1; !(input >> std::ws).eof(); ++document) {
        EventSax sax(path + (document == 1 ? ":" : fmt::format(": document {}", document)), head, event);
        json::sax_parse(input, &sax, json::input_format_t::json, false);
    }
    return head;
}

}  // namespace prismopt

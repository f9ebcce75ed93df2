#include "io/traces/json_trace.hpp"

#include "io/base/utf8.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <istream>
#include <map>
#include <optional>
#include <streambuf>
#include <tuple>
#include <unordered_map>

namespace prismopt {

namespace {

using nlohmann::json;

constexpr double microsecond_s = 1e-6;
constexpr std::int64_t no_correlation = -1;

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
        auto* begin = const_cast<char*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): never written through
        setg(begin, begin, begin + bytes.size());
        return traits_type::to_int_type(*begin);
    }
    TraceStream& stream_;
};

/// Whose a process group is, by its description: "TENSOR_MODEL_PARALLEL_GROUP" (Megatron-LM), "mesh_tp" (torch.distributed's
/// device meshes), in words that op_kind() knows; empty where it does not say.
std::string group_role(const std::string& description)
{
    struct Meaning {
        const char* word;
        const char* role;
    };
    // Groups that are several at once ("DATA_PARALLEL_GROUP_WITH_CP") are what the step's end has: replicas come first.
    constexpr const char* data = "of a data-parallel group";
    constexpr const char* tensor = "of a tensor-parallel group";
    constexpr const char* context = "of a context-parallel group";
    constexpr const char* expert = "of an expert-parallel group";
    constexpr std::array meanings{Meaning{"data", data},     Meaning{"dp", data},         Meaning{"fsdp", data},
                                  Meaning{"hsdp", data},     Meaning{"ddp", data},        Meaning{"tensor", tensor},
                                  Meaning{"tp", tensor},     Meaning{"context", context}, Meaning{"cp", context},
                                  Meaning{"expert", expert}, Meaning{"ep", expert},       Meaning{"sequence", context},
                                  Meaning{"sp", context}};
    std::vector<std::string> words(1);
    for (const char c : description) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    for (const Meaning& meaning : meanings) {
        if (std::find(words.begin(), words.end(), meaning.word) != words.end()) {
            return meaning.role;
        }
    }
    return "";
}

struct Event {
    std::string name, category, grid, stream, track, collective, elements, group, role;
    double start_us = std::nan("");
    double duration_us = std::nan("");
    std::int64_t correlation = no_correlation;
};

/// A kernel, its stream, and the number that it shares with its launch.
struct Kernel {
    TraceOp op;
    std::size_t track;
    std::int64_t correlation;
};

/// Where a step begins and ends.
struct StepMark {
    double start_s, end_s;
    std::int32_t step;
};
using StepMarks = std::vector<StepMark>;

void sort_by_time(StepMarks& marks)
{
    std::sort(marks.begin(), marks.end(), [](const StepMark& a, const StepMark& b) { return a.start_s < b.start_s; });
}

std::optional<StepMark> last_before(const StepMarks& by_time, double start_s)
{
    const auto after = std::upper_bound(by_time.begin(), by_time.end(), start_s,
                                        [](double t, const StepMark& mark) { return t < mark.start_s; });
    return after == by_time.begin() ? std::nullopt : std::optional(*(after - 1));
}

/// Each step's first mark of all streams.
StepMarks first_marks(const std::map<std::size_t, StepMarks>& of_streams)
{
    std::map<std::int32_t, StepMark> first;
    for (const auto& [stream, marks] : of_streams) {
        for (const StepMark& mark : marks) {
            StepMark& earliest = first.emplace(mark.step, mark).first->second;
            earliest = mark.start_s < earliest.start_s ? mark : earliest;
        }
    }
    StepMarks result;
    for (const auto& [step, mark] : first) {
        result.push_back(mark);
    }
    return result;
}

/// Gets the parts of the document as they come.
class EventSax : public json::json_sax_t {
public:
    EventSax(const std::string& path, const KernelNames& names, Trace& trace) : path_(path), names_(names), trace_(trace) {}

    bool null() override { return true; }
    bool boolean(bool /*unused*/) override { return true; }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t& /*unused*/) override { return number(value); }
    bool string(string_t& value) override
    {
        if (depth_ >= event_depth_ && in_events_) {
            set_text(value);
        }
        return true;
    }
    bool binary(binary_t& /*unused*/) override { return true; }
    bool start_object(std::size_t /*unused*/) override
    {
        ++depth_;
        if (depth_ == event_depth_ && in_events_) {
            event_ = {};
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
        if (depth_ == event_depth_ && in_events_) {
            end_event();
        }
        --depth_;
        return true;
    }
    bool start_array(std::size_t /*unused*/) override
    {
        ++depth_;
        if (depth_ == 1) {
            event_depth_ = 2;  // the list alone, as Chrome's trace viewer takes it
            in_events_ = true;
            kineto_ = true;
            found_ = true;
        } else if (depth_ == 2 && event_depth_ == 3 && (top_key_ == "traceEvents" || top_key_ == "nodes")) {
            in_events_ = true;
            kineto_ = top_key_ == "traceEvents";
            found_ = true;
        }
        return true;
    }
    bool end_array() override
    {
        in_events_ = in_events_ && depth_ != event_depth_ - 1;
        --depth_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string& /*unused*/, const json::exception& error) override
    {
        throw InputError(fmt::format("{}: is not valid JSON from byte {} on ({}); is it truncated?", path_, position,
                                     printable(error.what(), 120)));
    }

    /// Events get their steps, and numbers within them, when all is read.
    void finish()
    {
        if (!found_) {
            throw InputError(path_ + ": has neither traceEvents nor nodes; give a Kineto or Chakra trace");
        }
        if (kernels_.empty()) {
            throw InputError(path_ + ": has no kernel with a duration; record the activity of the GPUs, too");
        }
        sort_by_time(cpu_marks_);
        marks_ = gpu_marks_.empty() ? cpu_marks_ : first_marks(gpu_marks_);
        sort_by_time(marks_);
        for (auto& [stream, marks] : gpu_marks_) {
            sort_by_time(marks);
        }
        std::stable_sort(kernels_.begin(), kernels_.end(),
                         [](const Kernel& a, const Kernel& b) { return a.op.start_s < b.op.start_s; });
        const std::int32_t worker = trace_.worker_index({rank_.value_or(static_cast<int>(trace_.workers.size())), 0});
        std::map<std::pair<std::int32_t, std::uint16_t>, std::int32_t> counts;
        for (Kernel& kernel : kernels_) {
            TraceOp& op = kernel.op;
            const std::optional<std::int32_t> step = step_of(kernel);
            if (!step) {
                trace_.fault("a kernel before the first step", op.line);
                continue;
            }
            op.step = *step;
            op.worker = worker;
            op.sequence = counts[{op.step, op.kind}]++;
            trace_.ops.push_back(op);
        }
    }

private:
    bool number(double value)
    {
        if (depth_ == 2 && top_key_ == "distributedInfo" && key_ == "rank") {
            rank_ = whole(value);
        }
        if (!in_events_ || depth_ < event_depth_) {
            return true;
        }
        if (depth_ == event_depth_) {
            if (key_ == "ts" || key_ == "start_time_micros") {
                event_.start_us = value;
            } else if (key_ == "dur" || key_ == "duration_micros") {
                event_.duration_us = value;
            } else if (key_ == "type") {
                event_.category = fmt::format("{}", value);
            } else if (key_ == "tid") {
                event_.track = fmt::format("{}", value);
            }
        }
        if (key_ == "stream") {
            event_.stream = fmt::format("{}", value);
        } else if (key_ == "grid") {
            event_.grid += fmt::format("{}{}", event_.grid.empty() ? "" : "x", value);
        } else if (key_ == "correlation") {
            event_.correlation = value >= 0.0 && value < 9e15 ? static_cast<std::int64_t>(value) : no_correlation;
        } else if (key_ == "Group size") {
            event_.group = fmt::format("{}", value);
        } else if (names_elements()) {
            event_.elements = fmt::format("{}", value);
        }
        return true;
    }

    /// Kineto's keys, and Chakra's attribute whatever the key of its value.
    bool names_elements() const
    {
        const bool value = key_ == "int64_val" || key_ == "uint64_val" || key_ == "value";
        return key_ == "In msg nelems" || key_ == "comm_size" || (value && attribute_ == "comm_size");
    }

    static int whole(double value) { return value >= 0.0 && value <= 1e6 ? static_cast<int>(value) : 0; }

    void set_text(const std::string& value)
    {
        if (depth_ == event_depth_) {
            if (key_ == "name") {
                event_.name = value;
            } else if (key_ == "cat" || key_ == "type") {
                event_.category = value;
            } else if (key_ == "tid") {
                event_.track = value;
            }
        } else if (key_ == "Collective name") {
            event_.collective = value;
        } else if (key_ == "Process Group Description") {
            event_.role = group_role(value);
        } else if (key_ == "name") {
            attribute_ = value;
        }
    }

    void end_event()
    {
        constexpr std::string_view step_mark = "ProfilerStep#";
        if (kineto_ && event_.name.starts_with(step_mark)) {
            const std::string number = event_.name.substr(step_mark.size(), 9);
            if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
                std::isfinite(event_.start_us)) {
                StepMarks& marks = event_.category == "gpu_user_annotation" ? gpu_marks_[track()] : cpu_marks_;
                marks.push_back(
                    {event_.start_us * microsecond_s, (event_.start_us + event_.duration_us) * microsecond_s, std::stoi(number)});
            }
            return;
        }
        if (kineto_ && is_launch() && std::isfinite(event_.start_us)) {
            launches_s_[event_.correlation] = event_.start_us * microsecond_s;
        }
        if ((kineto_ && event_.category != "kernel") || event_.name.empty() || !std::isfinite(event_.duration_us)) {
            return;
        }
        ++number_;
        if (!kineto_ && !std::isfinite(event_.start_us)) {
            event_.start_us = 0.0;
        }
        if (const char* reason = impossible_duration(event_.duration_us * microsecond_s)) {
            return trace_.fault(reason, number_);
        }
        if (!std::isfinite(event_.start_us)) {
            return trace_.fault("no start", number_);
        }
        TraceOp op;
        op.start_s = event_.start_us * microsecond_s;
        op.duration_s = static_cast<float>(event_.duration_us * microsecond_s);
        op.kind = kind();
        op.line = number_;
        kernels_.push_back({op, track(), event_.correlation});
    }

    /// A call of the runtime or the driver: "cuda_runtime" (also of HIP), "cuda_driver", "xpu_runtime"; "Runtime" before PyTorch 1.13.
    /// Source: pytorch/kineto, libkineto/src/ActivityType.cpp; launches and kernels share `correlation`, output_json.cpp.
    bool is_launch() const
    {
        const std::string& category = event_.category;
        return event_.correlation != no_correlation &&
               (category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime");
    }

    /// Place of the event's stream among those met.
    std::size_t track() { return tracks_.emplace(event_.track, tracks_.size()).first->second; }

    std::uint16_t kind()
    {
        constexpr std::size_t most_name = 100;  // of templates; the rest is parameters of the tile
        std::string name = event_.collective.empty() ? valid_utf8(std::string_view(event_.name).substr(0, most_name))
                                                     : "nccl " + event_.collective;
        name += event_.role.empty() ? "" : " " + event_.role;
        name += event_.elements.empty() ? "" : ", " + event_.elements + " elements";
        name += event_.group.empty() ? "" : ", group of " + event_.group;
        name += event_.grid.empty() ? "" : ", grid " + event_.grid;
        name += event_.stream.empty() ? "" : ", stream " + event_.stream;
        constexpr std::size_t most_kinds = 60'000;
        if (trace_.kinds.size() >= most_kinds) {
            throw InputError(
                fmt::format("{}: has more than {} kinds of kernels; is it the trace of a single job?", path_, most_kinds));
        }
        return trace_.kind_index(name, names_);
    }

    /// All is one step where the trace marks none. A kernel belongs to the step of its launch: the CPU runs ahead of the GPU, so a
    /// kernel may start while the CPU is in a later step. Without a launch it is the mark that the kernel lies in on its own stream,
    /// where the trace marks steps there, or else the last step that started before.
    std::optional<std::int32_t> step_of(const Kernel& kernel) const
    {
        if (marks_.empty()) {
            return 0;
        }
        const auto launch = launches_s_.find(kernel.correlation);
        if (launch != launches_s_.end() && !cpu_marks_.empty()) {
            const std::optional<StepMark> mark = last_before(cpu_marks_, launch->second);
            return mark ? std::optional(mark->step) : std::nullopt;
        }
        const double start_s = kernel.op.start_s;
        if (const auto own = gpu_marks_.find(kernel.track); own != gpu_marks_.end()) {
            const std::optional<StepMark> mark = last_before(own->second, start_s);
            if (mark && start_s <= mark->end_s) {
                return mark->step;
            }
        }
        const std::optional<StepMark> mark = last_before(marks_, start_s);
        return mark ? std::optional(mark->step) : std::nullopt;
    }

    const std::string& path_;
    const KernelNames& names_;
    Trace& trace_;
    int depth_ = 0;
    int event_depth_ = 3;  // document, list, event
    bool in_events_ = false;
    bool kineto_ = false;
    bool found_ = false;
    std::string key_, top_key_, attribute_;
    Event event_;
    std::uint32_t number_ = 0;  // of the kernel, in place of a line
    std::optional<int> rank_;
    std::vector<Kernel> kernels_;
    std::unordered_map<std::int64_t, double> launches_s_;  // by correlation
    StepMarks cpu_marks_;
    StepMarks marks_;                             // those of the CPU; where the GPU has marks, the first of each step there
    std::map<std::size_t, StepMarks> gpu_marks_;  // by stream
    std::map<std::string, std::size_t> tracks_;
};

}  // namespace

void read_json_trace(TraceStream& stream, const std::string& path, const KernelNames& names, Trace& trace)
{
    StreamBuffer buffer(stream);
    std::istream input(&buffer);
    input.exceptions(std::ios::badbit);  // a damaged gzip file throws through the stream
    EventSax sax(path, names, trace);
    json::sax_parse(input, &sax);
    sax.finish();
    trace.source += (trace.source.empty() ? "" : ", ") + path.substr(path.find_last_of('/') + 1);
    trace.rows = "kernel";
}

}  // namespace prismopt

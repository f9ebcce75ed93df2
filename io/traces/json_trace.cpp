#include "io/traces/json_trace.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/toml.hpp"
#include "io/traces/json_events.hpp"
#include "io/traces/kernel_kinds.hpp"
#include "io/traces/known_forms.hpp"
#include "io/traces/process_group.hpp"
#include "io/traces/step_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace prismopt {

namespace {

constexpr double microsecond_s = 1e-6;

bool is_number(const std::string& text)
{
    constexpr std::size_t most_digits = 9;
    return !text.empty() && text.size() <= most_digits &&
           text.find_first_not_of("0123456789") == std::string::npos;
}

/// Processes and tracks of JAX's profiler, by the names that come before their events.
class JaxTracks {
public:
    void name(const JsonEvent& event)
    {
        if (event.name == "process_name" && event.label.starts_with("/device:")) {
            devices_.insert(event.process);
        } else if (event.name == "thread_name") {
            tracks_[{event.process, event.thread}] = event.label;
            if (event.label.starts_with(stream)) {
                with_streams_.insert(event.process);
            }
        }
    }
    bool any() const { return !devices_.empty(); }
    bool is_step(const JsonEvent& event) const { return on(event) == "Steps" && is_number(event.name); }
    /// The derived track "XLA Ops" of a GPU repeats its streams.
    bool is_kernel(const JsonEvent& event) const
    {
        const bool of_streams = with_streams_.contains(event.process);
        return of_streams ? on(event).starts_with(stream) : on(event) == "XLA Ops";
    }

private:
    static constexpr std::string_view stream = "Stream #";
    std::string_view on(const JsonEvent& event) const
    {
        const auto track = tracks_.find({event.process, event.thread});
        return track == tracks_.end() || !devices_.contains(event.process) ? std::string_view()
                                                                           : track->second;
    }

    std::set<std::string> devices_, with_streams_;
    std::map<std::pair<std::string, std::string>, std::string> tracks_;
};

/// Whether a node ran on a GPU: the linker gives such nodes Kineto's category,
/// the converter marks all others.
bool on_gpu(const JsonEvent& node)
{
    constexpr std::array host_names{
        "aten::", "c10d::", "autograd::", "nccl:", "[pytorch|", "record_param_comms", "ProfilerStep#"};
    const auto is_prefix = [&](const char* prefix) { return node.name.starts_with(prefix); };
    if (node.on_cpu) {
        return !*node.on_cpu;
    }
    return std::none_of(host_names.begin(), host_names.end(), is_prefix);
}

/// Names of CollectiveCommType, in order.
std::string collective_name(double type)
{
    constexpr std::array names{"all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
                               "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};
    return type >= 0.0 && type < static_cast<double>(names.size()) ? names[static_cast<std::size_t>(type)]
                                                                   : "";
}

/// A kernel, with its device and stream, and the number that it shares with its launch.
struct Kernel {
    TraceOp op;
    std::size_t device, track;
    std::int64_t correlation;
};

/// Collects kernels, launches and marks of steps as they come.
class TraceCollector {
public:
    TraceCollector(const std::string& path, const KernelNames& names, Trace& trace)
        : path_(path), names_(names), trace_(trace)
    {
    }

    void add(JsonEvent& event)
    {
        if (event.list != JsonList::trace_events) {
            return add_node(event);
        }
        if (event.phase == "M") {
            return jax_.name(event);
        }
        if (event.category.empty() && jax_.any()) {
            return add_jax(event);
        }
        ++categories_[event.category];
        if (add_mark(event)) {
            return;
        }
        if (is_launch(event)) {
            steps_.add_launch(event.correlation, event.start_us * microsecond_s);
        }
        if (event.category == "kernel" || event.category == "Kernel") {  // the second before PyTorch 1.13
            add_kernel(event, "");
        }
    }

    /// Events get their steps, and numbers within them, when all is read. Returns a
    /// note on kernels without a launch.
    std::string finish(const JsonTraceHead& head)
    {
        if (!head.has_list) {
            throw InputError(path_ + ": is JSON of an unknown form; " + known_forms());
        }
        if (kernels_.empty()) {
            refuse_without_kernels();
        }
        steps_.sort();
        std::stable_sort(kernels_.begin(), kernels_.end(),
                         [](const Kernel& a, const Kernel& b) { return a.op.start_s < b.op.start_s; });
        const int rank = head.rank.value_or(static_cast<int>(trace_.workers.size()));
        std::map<std::tuple<std::size_t, std::int32_t, std::uint16_t>, std::int32_t> counts;
        std::size_t without_launch = 0;
        for (Kernel& kernel : kernels_) {
            TraceOp& op = kernel.op;
            const PlacedKernel placed{op.start_s, kernel.correlation, kernel.track};
            without_launch += steps_.only_on_cpu() && !steps_.has_launch(placed) ? 1 : 0;
            const std::optional<std::int32_t> step = steps_.step_of(placed);
            if (!step) {
                trace_.fault(FaultReason::before_the_first_step, op.line);
                continue;
            }
            op.step = *step;
            op.worker = trace_.worker_index({rank + static_cast<int>(kernel.device), 0});
            op.sequence = counts[{kernel.device, op.step, op.kind}]++;
            trace_.ops.push_back(op);
        }
        return without_launch == 0 || nodes_ > 0  // nodes of Chakra carry the time of their launch
                   ? ""
                   : fmt::format(
                         "{}: {} of {} kernels have no launch in the trace (correlation), and count to the "
                         "step of the CPU in "
                         "which they start; the GPU may run behind by more than a step",
                         file_name(path_), without_launch, kernels_.size());
    }

private:
    /// A call of the runtime or the driver: "cuda_runtime" (also of HIP), "cuda_driver", "xpu_runtime";
    /// "Runtime" before PyTorch 1.13. Source: pytorch/kineto, libkineto/src/ActivityType.cpp; launches and
    /// kernels share `correlation`, output_json.cpp.
    static bool is_launch(const JsonEvent& event)
    {
        const std::string& category = event.category;
        const bool runtime =
            category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime";
        return runtime && event.correlation != no_correlation && std::isfinite(event.start_us);
    }

    /// "ProfilerStep#5" of the CPU, or of a stream of the GPU.
    bool add_mark(const JsonEvent& event)
    {
        constexpr std::string_view step_mark = "ProfilerStep#";
        if (!event.name.starts_with(step_mark)) {
            return false;
        }
        const std::string number = event.name.substr(step_mark.size());
        if (is_number(number) && std::isfinite(event.start_us)) {
            const StepMark mark{event.start_us * microsecond_s,
                                (event.start_us + event.duration_us) * microsecond_s, std::stoi(number)};
            if (event.category == "gpu_user_annotation") {
                steps_.add_gpu(track(event.thread), mark);
            } else {
                steps_.add_cpu(mark);
            }
        }
        return true;
    }

    void add_jax(JsonEvent& event)
    {
        // steps are those of the device, whatever the stream
        const std::string device_track = event.process + '/';
        if (jax_.is_step(event) && std::isfinite(event.start_us)) {
            steps_.add_gpu(track(device_track),
                           {event.start_us * microsecond_s,
                            (event.start_us + event.duration_us) * microsecond_s, std::stoi(event.name)});
        } else if (jax_.is_kernel(event)) {
            if (!event.hlo_category.empty()) {
                event.name = "hlo " + event.hlo_category + ' ' + event.name;
            }
            event.thread = device_track;
            add_kernel(event, event.process);
        }
    }

    /// The linker's nodes of the GPU carry the time of their launch; the converter's have no start.
    void add_node(JsonEvent& node)
    {
        ++nodes_;
        if (!std::isfinite(node.duration_us)) {
            return;
        }
        ++timed_nodes_;
        if (node.name.starts_with("ProfilerStep#")) {
            add_mark(node);
        } else if (node.linked ? node.category == "kernel" : on_gpu(node)) {
            if (node.collective_type) {
                node.collective = collective_name(*node.collective_type);
            }
            if (!std::isfinite(node.start_us)) {
                node.start_us = 0.0;
            }
            add_kernel(node, "");
        }
    }

    void add_kernel(const JsonEvent& event, const std::string& device)
    {
        if (event.name.empty() || !std::isfinite(event.duration_us)) {
            return;
        }
        ++number_;
        if (const auto reason = impossible_duration(event.duration_us * microsecond_s)) {
            return trace_.fault(*reason, number_);
        }
        if (!std::isfinite(event.start_us)) {
            return trace_.fault(FaultReason::no_start, number_);
        }
        TraceOp op;
        op.start_s = event.start_us * microsecond_s;
        op.duration_s = static_cast<float>(event.duration_us * microsecond_s);
        op.kind = kind(event);
        op.line = number_;
        const std::size_t place = devices_.emplace(device, devices_.size()).first->second;
        kernels_.push_back({op, place, track(event.thread), event.correlation});
    }

    /// Place of a stream among those met.
    std::size_t track(const std::string& thread)
    {
        return tracks_.emplace(thread, tracks_.size()).first->second;
    }

    std::uint16_t kind(const JsonEvent& event)
    {
        std::string name = event.collective.empty() ? kernel_text(event.name) : "nccl " + event.collective;
        const std::string group = process_group_words(event.group);
        name += group.empty() ? "" : " " + group;
        name += event.elements.empty() ? "" : ", " + event.elements + " elements";
        name += event.group_size.empty() ? "" : ", group of " + event.group_size;
        name += event.grid.empty() ? "" : ", grid " + event.grid;
        name += event.stream.empty() ? "" : ", stream " + event.stream;
        return kernel_kind(name, names_, trace_, path_);
    }

    [[noreturn]] void refuse_without_kernels() const
    {
        if (nodes_ > 0 && timed_nodes_ == 0) {
            throw InputError(fmt::format(
                "{}: is an execution trace of the host: its {} nodes are operators without durations, which "
                "such "
                "traces never hold; give the Kineto trace of the same run (torch.profiler), or the output of "
                "Chakra's chakra_trace_link, which joins both",
                path_, nodes_));
        }
        if (nodes_ > 0) {
            throw InputError(
                fmt::format("{}: none of its {} nodes with a duration ran on a GPU; record the activity of "
                            "the GPUs, too, and "
                            "link that Kineto trace (chakra_trace_link)",
                            path_, timed_nodes_));
        }
        if (number_ > 0) {
            throw InputError(path_ + ": no kernel has a valid duration; correct the times");
        }
        std::vector<std::string> found;
        for (const auto& [category, count] : categories_) {
            found.push_back(fmt::format("{} {}", count,
                                        category.empty() ? "without a category" : printable(category, 40)));
        }
        constexpr std::size_t most = 8;
        found.resize(std::min(most, found.size()));
        throw InputError(fmt::format(
            "{}: has no kernel with a duration (events: {}); record the activity of the GPUs, too", path_,
            found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "))));
    }

    const std::string& path_;
    const KernelNames& names_;
    Trace& trace_;
    std::uint32_t number_ = 0;  // of the kernel, in place of a line
    std::size_t nodes_ = 0;
    std::size_t timed_nodes_ = 0;
    std::map<std::string, std::size_t> categories_;  // of events, with their number
    JaxTracks jax_;
    StepMarks steps_;
    std::vector<Kernel> kernels_;
    std::map<std::string, std::size_t> devices_, tracks_;
};

}  // namespace

std::string read_json_trace(TraceStream& stream, const std::string& path, const KernelNames& names,
                            Trace& trace)
{
    TraceCollector collector(path, names, trace);
    const JsonTraceHead head =
        read_json_events(stream, path, [&](JsonEvent& event) { collector.add(event); });
    std::string note = collector.finish(head);
    trace.source += (trace.source.empty() ? "" : ", ") + file_name(path);
    trace.rows = "kernel";
    return note;
}

}  // namespace prismopt

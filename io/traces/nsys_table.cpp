#include "io/traces/nsys_table.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/traces/kernel_kinds.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

namespace prismopt {

namespace {

/// A column of times, "Start (ns)"; the unit is that of nsys stats --timeunit.
struct NsysTime {
    int place = -1;
    double unit_s = 0.0;
};
NsysTime nsys_time(const std::vector<std::string>& header, const std::string& name)
{
    struct Unit {
        const char* suffix;
        double seconds;
    };
    for (const Unit& unit :
         std::array{Unit{" (ns)", 1e-9}, Unit{" (us)", 1e-6}, Unit{" (ms)", 1e-3}, Unit{" (s)", 1.0}}) {
        if (const int place = column(header, {name + unit.suffix}); place >= 0) {
            return {place, unit.seconds};
        }
    }
    return {};
}

class NsysTrace {
public:
    NsysTrace(const std::string& path, const KernelNames& names, Trace& trace)
        : path_(path), names_(names), trace_(trace)
    {
    }

    void start(const std::vector<std::string>& header)
    {
        start_ = nsys_time(header, "Start");
        duration_ = nsys_time(header, "Duration");
        name_ = column(header, {"Name"});
        device_ = column(header, {"Device"});
        stream_ = column(header, {"Strm"});
        grid_ = {column(header, {"GrdX"}), column(header, {"GrdY"}), column(header, {"GrdZ"})};
    }

    void line(const TableLine& line)
    {
        const std::string_view name = field(line, name_);
        if (name.empty() || name.starts_with("[CUDA mem")) {
            return;  // "[CUDA memcpy Host-to-Device]", "[CUDA memset]"
        }
        TraceOp op;
        op.line = line.number;
        op.start_s = time(line, start_, "Start");
        const double duration_s = time(line, duration_, "Duration");
        if (const auto reason = impossible_duration(duration_s)) {
            return trace_.fault(*reason, line.number);
        }
        op.duration_s = static_cast<float>(duration_s);
        op.worker = worker(std::string(field(line, device_)));
        op.kind = kind(line, name);
        op.sequence = counts_[{op.worker, op.kind}]++;
        trace_.ops.push_back(op);
    }

private:
    static std::string_view field(const TableLine& line, int place)
    {
        return place < 0 ? std::string_view() : line.fields[static_cast<std::size_t>(place)];
    }

    double time(const TableLine& line, const NsysTime& column, const char* name) const
    {
        const double value = number_in(field(line, column.place));
        if (!std::isfinite(value)) {
            throw InputError(fmt::format("{}:{}: {} = \"{}\" is not a number; correct or remove the line",
                                         path_, line.number, name,
                                         plain_text(field(line, column.place).substr(0, 40))));
        }
        return value * column.unit_s;
    }

    std::int32_t worker(const std::string& device)
    {
        const auto known = workers_.find(device);
        if (known != workers_.end()) {
            return known->second;
        }
        const std::int32_t index = trace_.worker_index({static_cast<int>(trace_.workers.size()), 0});
        return workers_.emplace(device, index).first->second;
    }

    std::uint16_t kind(const TableLine& line, std::string_view name)
    {
        std::string text = kernel_text(name);
        if (!field(line, grid_[0]).empty()) {
            text += fmt::format(", grid {}x{}x{}", field(line, grid_[0]), field(line, grid_[1]),
                                field(line, grid_[2]));
        }
        if (!field(line, stream_).empty()) {
            text += fmt::format(", stream {}", field(line, stream_));
        }
        return kernel_kind(text, names_, trace_, path_);
    }

    const std::string& path_;
    const KernelNames& names_;
    Trace& trace_;
    NsysTime start_, duration_;
    int name_ = -1, device_ = -1, stream_ = -1;
    std::array<int, 3> grid_{-1, -1, -1};
    std::map<std::string, std::int32_t> workers_;
    std::map<std::pair<std::int32_t, std::uint16_t>, std::int32_t> counts_;
};

}  // namespace

bool is_nsys_trace(const std::vector<std::string>& header)
{
    return nsys_time(header, "Start").place >= 0 && nsys_time(header, "Duration").place >= 0 &&
           column(header, {"Name"}) >= 0;
}

void read_nsys_trace(TraceStream& stream, const std::string& path, char separator, const KernelNames& names,
                     Trace& trace)
{
    NsysTrace table(path, names, trace);
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) { table.start(header); },
                [&](const TableLine& line) { table.line(line); }, separator});
    trace.source += (trace.source.empty() ? "" : ", ") + file_name(path);
}

bool is_nsys_summary(const std::vector<std::string>& header)
{
    return nsys_time(header, "Total Time").place >= 0 && column(header, {"Instances"}) >= 0;
}

}  // namespace prismopt

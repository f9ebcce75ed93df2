#include "io/traces/operation_table.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace prismopt {

namespace {

struct TimeUnit {
    const char* suffix;
    double seconds;
};
constexpr std::array units{TimeUnit{"_s", 1.0}, TimeUnit{"_ms", 1e-3}, TimeUnit{"_us", 1e-6},
                           TimeUnit{"_ns", 1e-9}};

/// A column of times, by a name that ends with its unit.
struct TimeColumn {
    int place = -1;
    double unit_s = 0.0;
};
TimeColumn time_column(const std::vector<std::string>& header, const std::vector<std::string>& names)
{
    for (const TimeUnit& unit : units) {
        for (const std::string& name : names) {
            const int place = column(header, {name + unit.suffix});
            if (place >= 0) {
                return {place, unit.seconds};
            }
        }
    }
    return {};
}

struct Columns {
    int step, dp, stage, op, sequence, microbatch;
    TimeColumn start, duration;
};
Columns columns_of(const std::vector<std::string>& header)
{
    return {column(header, {"step"}),
            column(header, {"dp", "dp_rank"}),
            column(header, {"stage", "pp_rank"}),
            column(header, {"op", "kind", "name"}),
            column(header, {"seq_id", "sequence"}),
            column(header, {"mb_id", "microbatch", "mb"}),
            time_column(header, {"start"}),
            time_column(header, {"dur", "duration"})};
}

class OperationTable {
public:
    OperationTable(const std::string& path, const KernelNames& names, Trace& trace)
        : path_(path), names_(names), trace_(trace)
    {
    }

    void start(const std::vector<std::string>& header)
    {
        columns_ = columns_of(header);
        const std::pair<const char*, int> needed[] = {{"step", columns_.step},
                                                      {"dp", columns_.dp},
                                                      {"stage", columns_.stage},
                                                      {"op", columns_.op},
                                                      {"start_us (or _s, _ms, _ns)", columns_.start.place},
                                                      {"dur_us (or _s, _ms, _ns)", columns_.duration.place}};
        std::vector<std::string> missing;
        for (const auto& [name, place] : needed) {
            if (place < 0) {
                missing.emplace_back(name);
            }
        }
        if (!missing.empty()) {
            throw InputError(
                fmt::format("{}:1: an operation table without {} (header: {}); rename or add columns", path_,
                            fmt::join(missing, ", "), fmt::join(header, ", ")));
        }
    }

    void line(const TableLine& line)
    {
        TraceOp op;
        op.line = line.number;
        op.step = whole<std::int32_t>(line, columns_.step, "step");
        op.worker = worker({whole<std::int32_t>(line, columns_.dp, "dp"),
                            whole<std::int32_t>(line, columns_.stage, "stage")});
        op.kind = kind(line);
        op.microbatch = of_a_microbatch(line) ? whole<std::int16_t>(line, columns_.microbatch, "microbatch")
                                              : std::int16_t{-1};
        op.start_s = time(line, columns_.start, "start");
        const double duration = time(line, columns_.duration, "duration");
        if (const auto reason = impossible_duration(duration)) {
            return trace_.fault(*reason, line.number);
        }
        op.duration_s = static_cast<float>(duration);
        op.sequence = columns_.sequence >= 0 ? whole<std::int32_t>(line, columns_.sequence, "sequence")
                                             : count_of_kind(op);
        trace_.ops.push_back(op);
    }

private:
    [[noreturn]] void refuse(const TableLine& line, int place, const char* name, const std::string& why) const
    {
        const std::string shown = plain_text(line.fields[static_cast<std::size_t>(place)].substr(0, 40));
        throw InputError(fmt::format("{}:{}: {} = \"{}\" is not {}; correct or remove the line", path_,
                                     line.number, name, shown, why));
    }

    template <class Whole>
    Whole whole(const TableLine& line, int place, const char* name) const
    {
        constexpr double largest = 1e9;  // sums and differences of two stay in 32 bits
        constexpr double most = std::min(largest, static_cast<double>(std::numeric_limits<Whole>::max()));
        const double value = number_in(line.fields[static_cast<std::size_t>(place)]);
        if (!(value >= -1.0 && value <= most && value == std::floor(value))) {
            refuse(line, place, name, fmt::format("an integer from -1 to {:.0f}", most));
        }
        return static_cast<Whole>(value);
    }

    /// What belongs to a whole step has an empty field.
    bool of_a_microbatch(const TableLine& line) const
    {
        return columns_.microbatch >= 0 &&
               !line.fields[static_cast<std::size_t>(columns_.microbatch)].empty();
    }

    double time(const TableLine& line, const TimeColumn& column, const char* name) const
    {
        const double value = number_in(line.fields[static_cast<std::size_t>(column.place)]);
        if (!std::isfinite(value)) {
            refuse(line, column.place, name, "a number");
        }
        return value * column.unit_s;
    }

    /// Neighbouring lines mostly have the same worker and few kinds: the last ones are looked at first.
    std::int32_t worker(TraceWorker worker)
    {
        if (last_worker_ < 0 || trace_.workers[static_cast<std::size_t>(last_worker_)] != worker) {
            last_worker_ = trace_.worker_index(worker);
        }
        return last_worker_;
    }
    std::uint16_t kind(const TableLine& line)
    {
        const std::string_view name = line.fields[static_cast<std::size_t>(columns_.op)];
        const auto known = kinds_.find(name);
        if (known != kinds_.end()) {
            return known->second;
        }
        constexpr std::size_t most_kinds = 10'000;
        if (name.empty() || trace_.kinds.size() >= most_kinds) {
            refuse(line, columns_.op, "op", name.empty() ? "a name" : "one of at most 10,000 kinds");
        }
        return kinds_.emplace(name, trace_.kind_index(plain_text(name), names_)).first->second;
    }

    /// The number of such operations before it, in the order of the lines.
    std::int32_t count_of_kind(const TraceOp& op) { return counts_[{op.step, op.worker, op.kind}]++; }

    const std::string& path_;
    const KernelNames& names_;
    Trace& trace_;
    Columns columns_{};
    std::int32_t last_worker_ = -1;
    std::map<std::string, std::uint16_t, std::less<>> kinds_;
    std::map<std::array<std::int32_t, 3>, std::int32_t> counts_;
};

}  // namespace

bool is_operation_table(const std::vector<std::string>& header)
{
    const Columns columns = columns_of(header);
    return columns.step >= 0 && columns.op >= 0;
}

void read_operation_table(TraceStream& stream, const std::string& path, char separator,
                          const KernelNames& names, Trace& trace)
{
    OperationTable table(path, names, trace);
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) { table.start(header); },
                [&](const TableLine& line) { table.line(line); }, separator});
    trace.source += (trace.source.empty() ? "" : ", ") + file_name(path);
}

}  // namespace prismopt

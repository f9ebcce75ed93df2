#include "io/traces/sample_tables.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace prismopt {

namespace {

int column_of_times(const std::vector<std::string>& header)
{
    return column(header, {"perf", "time_ms", "time_us", "time", "seconds"});
}
/// Milliseconds unless the column says otherwise.
double time_unit_s(const std::string& name)
{
    if (name == "seconds") {
        return 1.0;
    }
    return name == "time_us" ? 1e-6 : 1e-3;
}
/// More is faster.
int throughput_column(const std::vector<std::string>& header)
{
    return column(header, {"throughput", "tflops", "gflops", "gb_per_s", "tokens_per_s", "samples_per_s"});
}
/// Columns of what nodes are in, whose numbers may begin anew in each: innermost first.
std::vector<int> columns_around_nodes(const std::vector<std::string>& header)
{
    std::vector<int> places;
    for (const char* name : {"chassis", "rack", "cabinet", "row"}) {
        if (const int place = column(header, {name}); place >= 0) {
            places.push_back(place);
        }
    }
    return places;
}
int latency_column(const std::vector<std::string>& header) { return column(header, {"lat_us", "time_us"}); }
int size_column(const std::vector<std::string>& header) { return column(header, {"bytes", "size"}); }

/// A column that the kind of the table was recognised by: a first look does not part names
/// as the reader of the table does.
int present(int place, const std::string& path, const char* name, const std::vector<std::string>& header)
{
    if (place < 0) {
        throw InputError(
            fmt::format("{}:1: no column {} (header: {}); correct quotes and separators of the header", path,
                        name, fmt::join(header, ", ")));
    }
    return place;
}

/// Above zero, or negative, which is reported.
double measured_in(const TableLine& line, int place, const std::string& path, const char* name)
{
    const std::string_view field = line.fields[static_cast<std::size_t>(place)];
    const double value = number_in(field);
    if (value == 0.0 || !std::isfinite(value)) {
        throw InputError(
            fmt::format("{}:{}: {} = \"{}\" is not a positive number; correct or remove the line", path,
                        line.number, name, plain_text(field.substr(0, 40))));
    }
    return value;
}

/// "12 of cabinet c006": nodes of two cabinets may have one number. -1 and an empty field: not known.
std::string node_label(const TableLine& line, int node, const std::vector<int>& around,
                       const std::vector<std::string>& header)
{
    std::string label = node < 0 ? std::string() : plain_text(line.fields[static_cast<std::size_t>(node)]);
    for (const int place : around) {
        const std::string in = plain_text(line.fields[static_cast<std::size_t>(place)]);
        if (is_known_place(label) && is_known_place(in)) {
            label += fmt::format(" of {} {}", header[static_cast<std::size_t>(place)], in);
        }
    }
    return label;
}

/// A size is part of the name of a series: it is kept as it is written, "1 MiB" too.
void refuse_size(const TableLine& line, int place, const std::string& path, const std::string& name)
{
    const std::string_view field = line.fields[static_cast<std::size_t>(place)];
    if (field.empty() || field.front() == '-') {
        throw InputError(fmt::format("{}:{}: {} = \"{}\" is not a message size; correct or remove the line",
                                     path, line.number, name, plain_text(field.substr(0, 40))));
    }
}

}  // namespace

bool is_gpu_table(const std::vector<std::string>& header)
{
    return column(header, {"gpu"}) >= 0 && (column_of_times(header) >= 0 || throughput_column(header) >= 0);
}

void read_gpu_table(TraceStream& stream, const std::string& path, char separator, std::vector<GpuRun>& runs,
                    std::vector<Fault>& faults)
{
    int gpu = -1;
    int time = -1;
    std::string name;
    double unit_s = 1.0;
    bool inverse = false;
    int benchmark = -1;
    int node = -1;
    std::vector<int> around;
    std::vector<std::string> names;
    const auto text = [](const TableLine& line, int place) {
        return place < 0 ? std::string() : plain_text(line.fields[static_cast<std::size_t>(place)]);
    };
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) {
                    gpu = present(column(header, {"gpu"}), path, "gpu", header);
                    inverse = column_of_times(header) < 0;
                    time = present(inverse ? throughput_column(header) : column_of_times(header), path,
                                   "perf", header);
                    name = header[static_cast<std::size_t>(time)];
                    unit_s = time_unit_s(name);
                    benchmark = column(header, {"app", "benchmark"});
                    node = column(header, {"node"});
                    around = columns_around_nodes(header);
                    names = header;
                },
                [&](const TableLine& line) {
                    const double value = measured_in(line, time, path, inverse ? name.c_str() : "time");
                    if (inverse && value < 0.0) {
                        return add_fault(faults, FaultReason::negative_value, line.number, name);
                    }
                    if (const auto reason = impossible_duration(unit_s * value); !inverse && reason) {
                        return add_fault(faults, *reason, line.number);
                    }
                    std::string label = text(line, benchmark);
                    label += inverse ? (label.empty() ? "1/" : " 1/") + name : "";
                    runs.push_back({label, text(line, gpu), node_label(line, node, around, names),
                                    inverse ? 1.0 / value : unit_s * value, line.number});
                },
                separator});
}

bool is_collective_table(const std::vector<std::string>& header)
{
    return latency_column(header) >= 0 && size_column(header) >= 0;
}

void read_collective_table(TraceStream& stream, const std::string& path, char separator,
                           std::vector<CollectiveRun>& times, std::vector<Fault>& faults)
{
    constexpr double microsecond = 1e-6;
    std::vector<std::string> names;
    int latency = -1;
    int size = -1;
    int number = -1;
    int members = -1;
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) {
                    names = header;
                    latency = present(latency_column(header), path, "lat_us", header);
                    size = present(size_column(header), path, "bytes", header);
                    number = column(header, {"i"});
                    members = column(header, {"nodes", "ranks", "gpus", "np"});
                },
                [&](const TableLine& line) {
                    refuse_size(line, size, path, names[static_cast<std::size_t>(size)]);
                    const double seconds =
                        microsecond *
                        measured_in(line, latency, path, names[static_cast<std::size_t>(latency)].c_str());
                    if (const auto reason = impossible_duration(seconds)) {
                        return add_fault(faults, *reason, line.number);
                    }
                    std::string series;
                    for (std::size_t k = 0; k < names.size(); ++k) {
                        if (static_cast<int>(k) != latency && static_cast<int>(k) != number) {
                            series +=
                                fmt::format("{}{} {}", series.empty() ? "" : ", ", names[k], line.fields[k]);
                        }
                    }
                    const double count =
                        members < 0 ? 0.0 : number_in(line.fields[static_cast<std::size_t>(members)]);
                    times.push_back({plain_text(series), seconds, 1, line.number,
                                     count > 0.0 && std::isfinite(count) ? count : 0.0});
                },
                separator});
}

}  // namespace prismopt

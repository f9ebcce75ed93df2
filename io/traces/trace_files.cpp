#include "io/traces/trace_files.hpp"

#include "io/base/csv.hpp"
#include "io/scenario/scenario.hpp"
#include "io/traces/json_trace.hpp"
#include "io/traces/nccl_output.hpp"
#include "io/traces/operation_table.hpp"
#include "io/traces/outage_list.hpp"
#include "io/traces/sample_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace prismopt {

namespace {

/// The header's fields, and what parts them.
struct Header {
    std::vector<std::string> names;
    char separator = ',';
};
Header header_of(std::string_view beginning, const std::string& path)
{
    Header header;
    const std::string line(beginning.substr(0, beginning.find_first_of("\r\n")));
    for (const char separator : {'|', '\t', ';', ','}) {
        if (line.find(separator) != std::string::npos) {
            header.separator = separator;
            break;
        }
    }
    std::string names = line;
    std::replace(names.begin(), names.end(), header.separator, ',');
    const auto fields = csv_fields(names, path);
    header.names = fields.empty() ? std::vector<std::string>{} : fields.front();
    return header;
}

void read_one(const std::string& path, const KernelNames& names, std::uint64_t content_limit, TraceFiles& files)
{
    TraceStream stream(path, content_limit);
    const std::string_view beginning = stream.peek();
    if (beginning.empty()) {
        throw InputError(path + ": is empty; give a table or a trace");
    }
    const auto note = [&path](std::string& source) {
        source += (source.empty() ? "" : ", ") + path.substr(path.find_last_of('/') + 1);
    };
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (beginning[first] == '{' || beginning[first] == '[')) {
        return read_json_trace(stream, path, names, files.trace);
    }
    const Header header = header_of(beginning, path);
    if (is_operation_table(header.names)) {
        read_operation_table(stream, path, header.separator, names, files.trace);
    } else if (is_outage_list(header.names)) {
        read_outage_list(stream, path, header.separator, files.outages);
        note(files.outage_source);
    } else if (is_gpu_table(header.names)) {
        read_gpu_table(stream, path, header.separator, files.gpu_runs, files.gpu_faults);
        note(files.gpu_source);
    } else if (is_collective_table(header.names)) {
        read_collective_table(stream, path, header.separator, files.collectives, files.collective_faults);
        note(files.collective_source);
    } else if (is_plain_outage_list(beginning)) {
        read_plain_outage_list(stream, path, files.outages);
        note(files.outage_source);
    } else if (is_nccl_output(beginning)) {
        read_nccl_output(stream, path, files.collectives, files.collective_faults);
        note(files.collective_source);
    } else {
        throw InputError(path +
                         ":1: unknown file format; give an operation table (step, dp, stage, op, start_us, dur_us), a list of "
                         "outages (node, start_day, end_day; or node and date in each line), or see prismopt calibrate --help");
    }
}

}  // namespace

TraceFiles read_trace_files(const std::vector<std::string>& paths, const KernelNames& names, std::uint64_t content_limit)
{
    TraceFiles files;
    const auto counted = [&] {
        std::size_t sum = files.trace.ops.size() + files.outages.size() + files.gpu_runs.size() + files.collectives.size();
        for (const std::vector<Fault>* faults : {&files.trace.faults, &files.gpu_faults, &files.collective_faults}) {
            for (const Fault& fault : *faults) {
                sum += fault.count;
            }
        }
        return sum;
    };
    for (const std::string& path : paths) {
        const std::size_t before = counted();
        read_one(path, names, content_limit, files);
        if (counted() == before) {
            throw InputError(path + ": has a header but no usable line; give the whole table");
        }
    }
    return files;
}

}  // namespace prismopt

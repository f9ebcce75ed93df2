#include "io/traces/trace_files.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/traces/json_trace.hpp"
#include "io/traces/known_forms.hpp"
#include "io/traces/nsys_table.hpp"
#include "io/traces/operation_table.hpp"
#include "io/traces/outage_list.hpp"
#include "io/traces/outage_text.hpp"
#include "io/traces/sample_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace prismopt {

namespace {

/// A document, or a list of events. Lines of text may begin with a bracket, too: "[1,0]<stdout>:"
/// of mpirun, "[Tue Mar" of dmesg.
bool begins_json(std::string_view beginning)
{
    constexpr const char* blanks = " \t\r\n";
    const std::size_t first = beginning.find_first_not_of(blanks);
    if (first == std::string_view::npos || beginning[first] != '[') {
        return first != std::string_view::npos && beginning[first] == '{';
    }
    const std::size_t inside = beginning.find_first_not_of(blanks, first + 1);
    return inside == std::string_view::npos ||
           std::string_view("{[]\"").find(beginning[inside]) != std::string_view::npos;
}

/// Messages with their lengths before, the first of which has the version of the schema: "\x07\x0a\x05" and
/// "0.0.4". Source: mlcommons/chakra, schema/protobuf/et_def.proto (GlobalMetadata) and
/// src/third_party/utils/protolib.py.
bool is_chakra_protobuf(std::string_view beginning)
{
    constexpr char version_field = 0x0A;
    constexpr std::size_t longest_version = 40;
    if (beginning.size() < 4 || beginning[1] != version_field) {
        return false;
    }
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(beginning[2]));
    const std::string_view version = beginning.substr(3, std::min(length, longest_version));
    const bool dotted = version.find_first_not_of("0123456789.") == std::string_view::npos;
    return length > 0 && length < longest_version && version.size() == length && dotted;
}

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

void read_one(const std::string& path, const KernelNames& names, std::uint64_t content_limit,
              TraceFiles& files)
{
    TraceStream stream(path, content_limit);
    const std::string_view beginning = stream.peek();
    if (beginning.empty()) {
        throw InputError(path + ": is empty; give a table or a trace");
    }
    if (is_chakra_protobuf(beginning)) {
        throw InputError(
            path +
            ": is a Chakra trace in protocol buffers (.et); convert it to JSON with Chakra's own "
            "`chakra_jsonizer --input_filename FILE.et --output_filename FILE.json`, and give that file");
    }
    const auto note = [&path](std::string& source) {
        source += (source.empty() ? "" : ", ") + file_name(path);
    };
    if (begins_json(beginning)) {
        if (const std::string why = read_json_trace(stream, path, names, files.trace); !why.empty()) {
            files.notes.push_back(why);
        }
        return;
    }
    const auto read_outages = [&](const auto& read) {
        OutageRecords records{.outages = std::move(files.outages),
                              .excluded = std::move(files.excluded_events)};
        read(records);
        files.outages = std::move(records.outages);
        files.excluded_events = std::move(records.excluded);
        note(files.outage_source);
    };
    const Header header = header_of(beginning, path);
    if (is_nsys_summary(header.names)) {
        throw InputError(path +
                         ":1: is the kernel summary of Nsight Systems, which has totals and no single "
                         "durations; write the trace of "
                         "the same report: nsys stats --report cuda_gpu_trace --format csv REPORT");
    }
    if (is_nsys_trace(header.names)) {
        read_nsys_trace(stream, path, header.separator, names, files.trace);
    } else if (is_operation_table(header.names)) {
        read_operation_table(stream, path, header.separator, names, files.trace);
    } else if (is_outage_list(header.names)) {
        read_outages(
            [&](OutageRecords& records) { read_outage_list(stream, path, header.separator, records); });
    } else if (is_gpu_table(header.names)) {
        read_gpu_table(stream, path, header.separator, files.gpu_runs, files.gpu_faults);
        note(files.gpu_source);
    } else if (is_collective_table(header.names)) {
        read_collective_table(stream, path, header.separator, files.collectives, files.collective_faults);
        note(files.collective_source);
    } else if (is_plain_outage_list(beginning)) {
        read_outages([&](OutageRecords& records) { read_plain_outage_list(stream, path, records); });
    } else if (is_slurm_table(beginning)) {
        read_outages([&](OutageRecords& records) { read_slurm_table(stream, path, records); });
    } else if (is_xid_journal(beginning)) {
        read_outages([&](OutageRecords& records) { read_xid_journal(stream, path, records); });
    } else if (is_collective_output(beginning)) {
        const std::vector<CollectiveTable> tables =
            read_collective_tables(stream, path, files.collective_faults);
        add_collective_runs(tables, files.collectives, files.collective_faults);
        files.collective_tables.insert(files.collective_tables.end(), tables.begin(), tables.end());
        note(files.collective_source);
    } else {
        throw InputError(path + ":1: unknown file format; " + known_forms());
    }
}

}  // namespace

TraceFiles read_trace_files(const std::vector<std::string>& paths, const KernelNames& names,
                            std::uint64_t content_limit)
{
    TraceFiles files;
    const auto counted = [&] {
        std::size_t sum =
            files.trace.ops.size() + files.outages.size() + files.gpu_runs.size() + files.collectives.size();
        for (const std::vector<Fault>* faults :
             {&files.trace.faults, &files.gpu_faults, &files.collective_faults, &files.excluded_events}) {
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

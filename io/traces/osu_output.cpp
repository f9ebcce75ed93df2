#include "io/traces/osu_output.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/launcher_label.hpp"
#include "io/toml/toml.hpp"
#include "io/traces/text_lines.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace prismopt {

namespace {

constexpr std::string_view title_mark = "# OSU ";

struct OsuProgram {
    const char* title;
    const char* program;  // as nccl-tests call it
    bool per_member;      // sizes are what one member sends: to all (gathers), to each (all-to-alls)
};
constexpr std::array osu_programs{
    OsuProgram{"Allreduce", "all_reduce", false},          OsuProgram{"Allgather", "all_gather", true},
    OsuProgram{"Reduce_scatter", "reduce_scatter", false}, OsuProgram{"Alltoall", "alltoall", true},
    OsuProgram{"Broadcast", "broadcast", false},           OsuProgram{"Reduce", "reduce", false}};

/// "# OSU MPI-CUDA Allreduce Latency Test v7.5"
CollectiveTable table_of(const std::string& title)
{
    CollectiveTable table;
    table.benchmark = "OSU";
    const std::vector<std::string> words = words_of(title);
    for (const OsuProgram& known : osu_programs) {
        if (std::find(words.begin(), words.end(), known.title) != words.end()) {
            table.program = known.program;
            table.per_member = known.per_member;
        }
    }
    return table;
}

/// Columns of "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)
/// Iterations"; negative: not there.
struct OsuColumns {
    int time = -1;
    int iterations = -1;
};
OsuColumns columns_in(const std::vector<std::string>& words)
{
    OsuColumns columns;
    int place = 0;
    for (std::size_t i = 2; i < words.size(); ++i) {  // after "# Size"
        const bool qualified = words[i] == "Avg" || words[i] == "Min" || words[i] == "Max";
        const bool mean = words[i] == "Avg" || words[i].starts_with("Latency");
        i += qualified ? 1 : 0;
        ++place;
        if (mean && columns.time < 0) {
            columns.time = place;
        }
        if (words[std::min(i, words.size() - 1)] == "Iterations") {
            columns.iterations = place;
        }
    }
    return columns;
}

}  // namespace

bool is_osu_output(std::string_view beginning)
{
    return beginning.find(title_mark) != std::string_view::npos;
}

std::vector<CollectiveTable> read_osu_tables(TraceStream& stream, const std::string& path,
                                             std::vector<Fault>& faults)
{
    std::vector<CollectiveTable> tables;
    OsuColumns columns;
    for_each_line(
        stream, path, "output of the OSU benchmarks", [&](const std::string& text, std::uint32_t number) {
            const std::string line = text.substr(launcher_label(text).size());
            const std::vector<std::string> words = words_of(line);
            if (line.find(title_mark) != std::string::npos) {
                tables.push_back(table_of(line));
                columns = {};
            } else if (words.size() > 2 && words[0] == "#" && words[1] == "Size") {
                columns = columns_in(words);
                if (columns.time < 0) {
                    throw InputError(
                        fmt::format("{}:{}: has no column of latencies ({}); give the output of a latency "
                                    "test of the OSU "
                                    "benchmarks, such as osu_allreduce",
                                    path, number, printable(line)));
                }
            } else if (!words.empty() && !tables.empty() && columns.time >= 0 && number_in(words[0]) >= 0.0) {
                const auto field = [&](int place) {
                    return place >= 0 && static_cast<std::size_t>(place) < words.size()
                               ? number_in(words[static_cast<std::size_t>(place)])
                               : std::nan("");
                };
                const double seconds = 1e-6 * field(columns.time);
                if (!std::isfinite(seconds) || seconds == 0.0) {
                    throw InputError(
                        fmt::format("{}:{}: is not a line of the OSU benchmarks (\"{}\"); is it truncated?",
                                    path, number, printable(line)));
                }
                if (const auto reason = impossible_duration(seconds)) {
                    return add_fault(faults, *reason, number);
                }
                const double iterations = field(columns.iterations);
                constexpr double most = 1e9;
                tables.back().iterations =
                    iterations >= 1.0 && iterations < most ? static_cast<int>(iterations) : 1;
                tables.back().rows.push_back({"", words[0], seconds, number});
            }
        });
    std::erase_if(tables, [](const CollectiveTable& table) { return table.rows.empty(); });
    if (tables.empty() && faults.empty()) {
        throw InputError(path +
                         ": no line has a size and a latency; give the whole output of the OSU benchmark");
    }
    return tables;
}

}  // namespace prismopt

#include "io/traces/collective_table.hpp"

#include "io/traces/nccl_output.hpp"
#include "io/traces/osu_output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

bool is_collective_output(std::string_view beginning)
{
    return is_nccl_output(beginning) || is_osu_output(beginning);
}

std::vector<CollectiveTable> read_collective_tables(TraceStream& stream, const std::string& path,
                                                    std::vector<Fault>& faults)
{
    return is_osu_output(stream.peek()) ? read_osu_tables(stream, path, faults)
                                        : read_nccl_tables(stream, path, faults);
}

void add_collective_runs(const std::vector<CollectiveTable>& tables, std::vector<CollectiveRun>& times,
                         std::vector<Fault>& faults)
{
    for (const CollectiveTable& table : tables) {
        const std::string ranks = table.ranks > 1 ? fmt::format(", {} ranks", table.ranks) : "";
        const std::string bus = table.bus > 0.0 ? fmt::format(", busbw {:.2f} algbw", table.bus) : "";
        for (const CollectiveTable::Row& row : table.rows) {
            if (table.single_rank) {
                add_fault(faults, FaultReason::single_rank, row.line);
                continue;
            }
            const std::string program = table.program.empty() ? "" : fmt::format(" {}", table.program);
            const std::string kind = row.kind.empty() ? "" : fmt::format(" {}", row.kind);
            times.push_back(
                {fmt::format("{}{}{}{}{}, {} bytes", table.benchmark, program, kind, ranks, bus, row.size),
                 row.seconds, table.iterations, row.line, static_cast<double>(std::max(0, table.ranks))});
        }
    }
}

}  // namespace prismopt

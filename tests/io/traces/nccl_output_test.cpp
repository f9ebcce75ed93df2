#include "io/traces/nccl_output.hpp"

#include "io/base/input_error.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr const char* printed = R"(# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   4711 on  node-a device  0 [0x0f] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   4712 on  node-b device  0 [0x0f] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        131072     float    none      -1    43.83   23.92   11.96      0    43.90   23.88   11.94      0
     2097152        262144     float    none      -1    61.02   34.37   17.18    N/A    61.10   34.32   17.16    N/A
# Out of bounds values : 0 OK
)";

std::vector<NcclTable> tables_of(const std::string& text)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("nccl.log");
    std::ofstream(path) << text;
    TraceStream stream(path);
    std::vector<Fault> faults;
    return read_nccl_tables(stream, path, faults);
}

TEST(NcclOutput, TellsProgramRanksAndHosts)
{
    const std::vector<NcclTable> tables = tables_of(printed);
    ASSERT_EQ(tables.size(), 1U);
    const NcclTable& table = tables.front();
    EXPECT_EQ(table.program, "all_gather");
    EXPECT_EQ(table.ranks, 2);
    EXPECT_EQ(table.hosts, 2);
    EXPECT_EQ(table.iterations, 20);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].size, "2097152");
    EXPECT_DOUBLE_EQ(table.rows[1].seconds, 61.02e-6);
}

TEST(NcclOutput, KeepsCommandsApart)
{
    const std::vector<NcclTable> tables = tables_of(std::string(printed) + printed);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[1].ranks, 2);
    EXPECT_EQ(tables[1].rows.size(), 2U);
}

TEST(NcclOutput, RefusesWhatHasNoTable) { EXPECT_THROW(tables_of("size,time\n"), InputError); }

}  // namespace
}  // namespace prismopt

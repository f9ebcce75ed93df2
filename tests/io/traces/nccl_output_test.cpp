#include "io/traces/nccl_output.hpp"

#include "io/base/input_error.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
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

std::vector<CollectiveTable> tables_of(const std::string& text)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("nccl.log");
    std::ofstream(path) << text;
    TraceStream stream(path);
    std::vector<Fault> faults;
    return read_nccl_tables(stream, path, faults);
}

TEST(NcclOutput, ReportsProgramRanksAndHosts)
{
    const std::vector<CollectiveTable> tables = tables_of(printed);
    ASSERT_EQ(tables.size(), 1U);
    const CollectiveTable& table = tables.front();
    EXPECT_EQ(table.program, "all_gather");
    EXPECT_EQ(table.ranks, 2);
    EXPECT_EQ(table.hosts, 2);
    EXPECT_EQ(table.iterations, 20);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].size, "2097152");
    EXPECT_DOUBLE_EQ(table.rows[1].seconds, 61.02e-6);
}

TEST(NcclOutput, SeparatesCommands)
{
    std::string twice = printed;
    twice += printed;
    const std::vector<CollectiveTable> tables = tables_of(twice);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[1].ranks, 2);
    EXPECT_EQ(tables[1].rows.size(), 2U);
}

TEST(NcclOutput, RefusesWhatHasNoTable) { EXPECT_THROW(tables_of("size,time\n"), InputError); }

/// Each line after a label, as launchers write them.
std::string labelled(const std::string& text, const std::string& label)
{
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        result += label + line + '\n';
    }
    return result;
}

TEST(NcclOutput, IsTheSameUnderLaunchersThatLabelLines)
{
    for (const char* label : {" 0: ", "[1,0]<stdout>: ", "[1,0]<stdout>:"}) {
        const std::vector<CollectiveTable> tables = tables_of(labelled(printed, label));
        ASSERT_EQ(tables.size(), 1U) << label;
        EXPECT_EQ(tables[0].program, "all_gather");
        EXPECT_EQ(tables[0].ranks, 2);
        ASSERT_EQ(tables[0].rows.size(), 2U);
        EXPECT_DOUBLE_EQ(tables[0].rows[1].seconds, 61.02e-6);
    }
}

TEST(NcclOutput, SeparatesRanksWhoseLinesAlternate)
{
    std::istringstream lines{std::string(printed)};
    std::string both;
    for (std::string line; std::getline(lines, line);) {
        both += "0: " + line + "\n1: " + line + '\n';
    }
    const std::vector<CollectiveTable> tables = tables_of(both);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[0].ranks, 2);
    EXPECT_EQ(tables[1].rows.size(), 2U);
    EXPECT_EQ(tables[1].rows[0].line, 22U);
}

TEST(NcclOutput, MarksRunsOfASingleRank)
{
    EXPECT_FALSE(tables_of(printed)[0].single_rank);
    std::string single = printed;
    const std::size_t second = single.find("#  Rank  1");
    single.erase(second, single.find('\n', second) + 1 - second);
    EXPECT_TRUE(tables_of(single)[0].single_rank);
    const std::string unlisted =
        "# nThread 1 nGpus 1\n#       size         count      type   redop    root     time   algbw   busbw "
        "#wrong\n"
        "     1048576        262144     float     sum      -1    10.00  104.86    0.00      0\n";
    const std::vector<CollectiveTable> tables = tables_of(unlisted);
    EXPECT_TRUE(tables[0].single_rank);
    std::vector<CollectiveRun> times;
    std::vector<Fault> faults;
    add_collective_runs(tables, times, faults);
    EXPECT_TRUE(times.empty());
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].first_line, 3U);
}

constexpr const char* osu = R"(
# OSU MPI Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      11.1             9.8             12.6        1000
1048576               250.5           240.0            270.0         100

# OSU MPI-CUDA Alltoall Latency Test v5.9
# Size       Avg Latency(us)
1024                  30.25
)";

std::vector<CollectiveTable> osu_tables_of(const std::string& text)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("osu.txt");
    std::ofstream(path) << text;
    TraceStream stream(path);
    std::vector<Fault> faults;
    return read_collective_tables(stream, path, faults);
}

TEST(OsuOutput, HasMeanTimesBySize)
{
    for (const std::string& text : {std::string(osu), labelled(osu, "[1,0]<stdout>:")}) {
        const std::vector<CollectiveTable> tables = osu_tables_of(text);
        ASSERT_EQ(tables.size(), 2U);
        EXPECT_EQ(tables[0].program, "all_reduce");
        EXPECT_FALSE(tables[0].per_member);
        EXPECT_EQ(tables[0].iterations, 100);
        ASSERT_EQ(tables[0].rows.size(), 2U);
        EXPECT_DOUBLE_EQ(tables[0].rows[1].seconds, 250.5e-6);
        EXPECT_EQ(tables[0].rows[1].line, 6U);
        EXPECT_EQ(tables[1].program, "alltoall");
        EXPECT_TRUE(tables[1].per_member);
    }
    EXPECT_THROW(osu_tables_of("# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1  2.3\n"),
                 InputError);
    EXPECT_THROW(osu_tables_of("# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n4\n"),
                 InputError);
    EXPECT_THROW(osu_tables_of("# OSU MPI Allreduce Latency Test v7.5\n"), InputError);
}

}  // namespace
}  // namespace prismopt

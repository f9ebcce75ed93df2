#include "io/traces/json_trace.hpp"

#include "io/scenario.hpp"
#include "io/traces/trace_files.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

const std::string kineto = R"({"schemaVersion": 1, "distributedInfo": {"rank": 3}, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "ts": 1000, "dur": 500},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#6", "ts": 1500, "dur": 500},
{"ph": "X", "cat": "kernel", "name": "bf16_gemm", "ts": 1600, "dur": 100.5, "args": {"stream": 7, "grid": [4, 2, 1]}},
{"ph": "X", "cat": "kernel", "name": "bf16_gemm", "ts": 1010, "dur": 100, "args": {"stream": 7, "grid": [4, 2, 1]}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": 1300, "dur": 50,
 "args": {"stream": 13, "Collective name": "_allgather_base", "In msg nelems": 4096, "Group size": 8}},
{"ph": "X", "cat": "kernel", "name": "late", "ts": 1310, "dur": -1},
{"ph": "X", "cat": "kernel", "name": "early", "ts": 10, "dur": 1},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1000, "dur": 5}]})";

class JsonTraceTest : public testing::Test {
protected:
    TraceFiles read(const std::string& text) const
    {
        std::ofstream(folder_.file("trace.json"), std::ios::binary) << text;
        return read_trace_files({folder_.file("trace.json")});
    }
    std::string refusal(const std::string& text) const
    {
        try {
            read(text);
        } catch (const InputError& error) {
            return error.what();
        }
        return "taken";
    }
    TemporaryFolder folder_;
};

TEST_F(JsonTraceTest, reads_kernels_of_kineto)
{
    const Trace trace = read(kineto).trace;
    ASSERT_EQ(trace.ops.size(), 3U);
    EXPECT_EQ(trace.workers[0], (Worker{3, 0}));
    EXPECT_EQ(trace.ops[0].step, 5);
    EXPECT_EQ(trace.ops[2].step, 6);
    EXPECT_EQ(trace.ops[2].sequence, 0);
    EXPECT_NEAR(trace.ops[2].duration_s, 100.5e-6F, 1e-11F);
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "bf16_gemm, grid 4x2x1, stream 7");
    const OpKind& collective = trace.kinds[trace.ops[1].kind];
    EXPECT_EQ(collective.name, "nccl _allgather_base, 4096 elements, group of 8, stream 13");
    EXPECT_EQ(collective.role, OpRole::collective);
    ASSERT_EQ(trace.faults.size(), 2U);
    EXPECT_EQ(trace.faults[0].reason, "negative duration");
    EXPECT_EQ(trace.faults[1].reason, "a kernel before the first step");
}

TEST_F(JsonTraceTest, reads_nodes_of_chakra)
{
    const Trace trace = read(R"({"schema": "1.0.2-chakra", "nodes": [
{"id": 1, "name": "aten::mm", "type": "COMP_NODE", "duration_micros": 30, "start_time_micros": 10},
{"id": 2, "name": "all_reduce", "type": 5, "duration_micros": 40, "start_time_micros": 50, "attr": [{"name": "comm_size", "int64_val": 1024}]},
{"id": 3, "name": "no duration"}]})")
                            .trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    EXPECT_EQ(trace.kinds[trace.ops[1].kind].name, "all_reduce, 1024 elements");
    EXPECT_NEAR(trace.ops[0].start_s, 10e-6, 1e-12);
}

TEST_F(JsonTraceTest, refuses_what_it_cannot_read)
{
    EXPECT_THAT(refusal(kineto.substr(0, 300)), HasSubstr("is no JSON from byte"));
    EXPECT_THAT(refusal("{}"), HasSubstr("neither traceEvents nor nodes"));
    EXPECT_THAT(refusal(R"({"traceEvents": []})"), HasSubstr("no kernel"));
    EXPECT_THAT(refusal("{\"traceEvents\": [\x01\x02"), HasSubstr("is no JSON"));
    std::string deep = "{\"traceEvents\": ";
    deep.append(200'000, '[');
    EXPECT_THAT(refusal(deep), HasSubstr("is no JSON"));
}

TEST_F(JsonTraceTest, reads_benchmarks_and_collectives)
{
    const auto runs = read("app,gpu,node,perf\nsgemm,a,n,2000\nsgemm,b,n,2100\n").gpu_runs;
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].seconds, 2.1);
    EXPECT_EQ(read("gpu,tflops\n0,500\n1,400\n").gpu_runs[1].seconds, 1.0 / 400.0);
    const auto times = read("nodes,algo,bytes,i,lat_us\n4,ring,256,0,46.5\n4,ring,256,1,55\n").collectives;
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].series, "nodes 4, algo ring, bytes 256");
    EXPECT_NEAR(times[1].seconds, 55e-6, 1e-15);
    EXPECT_THAT(refusal("app,gpu,perf\nx,a,0\n"), HasSubstr(":2: time = \"0\" is no time above zero"));
    const std::string nccl =
        "# nThread 1 nGpus 8\n#\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
        "     1048576        262144     float     sum      -1    61.86   16.95   29.66      0\n";
    const auto out = read(nccl).collectives;
    ASSERT_EQ(out.size(), 1U);
    EXPECT_NEAR(out[0].seconds, 61.86e-6, 1e-12);
    EXPECT_THAT(refusal(nccl + "  2097152   524288  float\n"), HasSubstr(":5: is no line of nccl-tests"));
}

}  // namespace
}  // namespace prismopt

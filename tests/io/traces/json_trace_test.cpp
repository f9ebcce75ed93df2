#include "io/traces/json_trace.hpp"

#include "io/traces/trace_files.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

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
        return refusal_of([&] { read(text); });
    }
    TemporaryFolder folder_;
};

TEST_F(JsonTraceTest, ReadsKernelsOfKineto)
{
    const Trace trace = read(kineto).trace;
    ASSERT_EQ(trace.ops.size(), 3U);
    EXPECT_EQ(trace.workers[0], (TraceWorker{3, 0}));
    EXPECT_EQ(trace.ops[0].step, 5);
    EXPECT_EQ(trace.ops[2].step, 6);
    EXPECT_EQ(trace.ops[2].sequence, 0);
    EXPECT_NEAR(trace.ops[2].duration_s, 100.5e-6F, 1e-11F);
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "bf16_gemm, grid 4x2x1, stream 7");
    const OpKind& collective = trace.kinds[trace.ops[1].kind];
    EXPECT_EQ(collective.name, "nccl _allgather_base, 4096 elements, group of 8, stream 13");
    EXPECT_EQ(collective.role, OpRole::collective);
    ASSERT_EQ(trace.faults.size(), 2U);
    EXPECT_EQ(trace.faults[0].reason, FaultReason::negative_duration);
    EXPECT_EQ(trace.faults[1].reason, FaultReason::before_the_first_step);
}

/// 20 steps of 12.3 ms since the epoch, in microseconds with a fraction, as PyTorch writes them; the
/// first kernel begins with its step.
TEST_F(JsonTraceTest, AKernelThatBeginsWithItsStepIsOfThatStep)
{
    std::string text = R"({"traceEvents": [{"ph": "M"})";
    for (int step = 0; step < 20; ++step) {
        const double start_us = 1'731'234'567'890'123.4 + 12'345.678 * step;
        text += fmt::format(R"(,
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "ts": {1:.3f}, "dur": 12000}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "ts": {1:.3f}, "dur": 100}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "ts": {2:.3f}, "dur": 100}})",
                            step, start_us, start_us + 6000.0);
    }
    const Trace trace = read(text + "]}").trace;
    EXPECT_TRUE(trace.faults.empty());
    ASSERT_EQ(trace.ops.size(), 40U);
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
        EXPECT_EQ(trace.ops[i].step, static_cast<int>(i / 2));
    }
}

/// The CPU marks steps 1.5 steps before the GPU begins them. Stream 7 computes; on stream 20
/// a step's exchange, which a thread without marks launched, is followed by a marked one,
/// which ends in the next step's time.
TEST_F(JsonTraceTest, StepsOfTheGpuAreFoundByItsOwnMarks)
{
    std::string text = R"({"traceEvents": [{"ph": "M"})";
    const auto event = [&](const char* category, const std::string& name, int stream, double start_us,
                           double duration_us) {
        text += fmt::format(R"(,
{{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}}})",
                            category, name, stream, start_us, duration_us);
    };
    constexpr int steps = 5;
    for (int step = 0; step < steps; ++step) {
        const double gpu = 100'000.0 + 1000.0 * step;
        const std::string mark = fmt::format("ProfilerStep#{}", step);
        event("user_annotation", mark, 4321, gpu - 1500.0, 1000.0);
        event("gpu_user_annotation", mark, 7, gpu, 900.0);
        event("gpu_user_annotation", mark, 20, gpu + 800.0, 400.0);
        event("kernel", "gemm", 7, gpu, 100.0);
        event("kernel", "gemm", 7, gpu + 800.0, 100.0);
        event("kernel", "reduce", 20, gpu + 500.0, 100.0);
        event("kernel", "gather", 20, gpu + 800.0, 100.0);
        event("kernel", "gather", 20, gpu + 1100.0, 100.0);
    }
    const Trace trace = read(text + "]}").trace;
    EXPECT_TRUE(trace.faults.empty());
    ASSERT_EQ(trace.ops.size(), 5U * steps);
    std::map<int, std::vector<int>> starts_us;  // since the step began
    for (const TraceOp& op : trace.ops) {
        starts_us[op.step].push_back(static_cast<int>(std::lround(1e6 * op.start_s)) - 100'000 -
                                     1000 * op.step);
    }
    for (int step = 0; step < steps; ++step) {
        EXPECT_THAT(starts_us[step], testing::UnorderedElementsAre(0, 800, 500, 800, 1100));
    }
}

/// The GPU lags behind the CPU by 1.5 steps and more, so kernels start in later steps than those that
/// launched them; marks on the GPU begin after a step's first kernels.
TEST_F(JsonTraceTest, AKernelIsOfTheStepThatLaunchedIt)
{
    for (const auto& [runtime, kernel] :
         {std::pair{"cuda_runtime", "kernel"}, {"cuda_driver", "kernel"}, {"Runtime", "Kernel"}}) {
        std::string text = R"({"traceEvents": [{"ph": "M"})";
        constexpr int steps = 5;
        constexpr int kernels = 4;
        for (int step = 0; step < steps; ++step) {
            const double cpu = 1000.0 * step;
            text += fmt::format(R"(,
{{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#{0}", "pid": 0, "tid": 7, "ts": {2}, "dur": 900}},
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 1, "tid": 1, "ts": {1}, "dur": 1000}})",
                                step, cpu, 1800.0 + 1.2 * cpu);
            for (int k = 0; k < kernels; ++k) {
                const int correlation = 1 + kernels * step + k;
                text +=
                    fmt::format(R"(,
{{"ph": "X", "cat": "{4}", "name": "gemm", "pid": 0, "tid": 7, "ts": {3}, "dur": 200, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "{1}", "name": "launch", "pid": 1, "tid": 1, "ts": {2}, "dur": 5, "args": {{"correlation": {0}}}}})",
                                correlation, runtime, cpu + 10.0 * k, 1500.0 + 1.2 * cpu + 250.0 * k, kernel);
            }
        }
        const Trace trace = read(text + "]}").trace;
        EXPECT_TRUE(trace.faults.empty());
        std::map<int, int> of_step;
        for (const TraceOp& op : trace.ops) {
            ++of_step[op.step];
        }
        EXPECT_THAT(of_step,
                    testing::ElementsAre(testing::Pair(0, 4), testing::Pair(1, 4), testing::Pair(2, 4),
                                         testing::Pair(3, 4), testing::Pair(4, 4)))
            << runtime;
    }
}

/// Kernels that start within the step of the CPU that launches them, 2,000 us each with two launches.
std::string with_correlations(const std::function<std::string(int launch)>& correlation)
{
    std::string text = R"({"traceEvents": [{"ph": "M"})";
    for (int step = 0; step < 5; ++step) {
        text += fmt::format(R"(,
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 1, "tid": 1, "ts": {}, "dur": 2000}})",
                            step, 2000 * step);
        for (int k = 0; k < 2; ++k) {
            text +=
                fmt::format(R"(,
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {1}, "dur": 200, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": {2}, "dur": 5, "args": {{"correlation": {0}}}}})",
                            correlation(2 * step + k + 1), 2000 * step + 500 * k + 300, 2000 * step + 10 * k);
        }
    }
    return text + "]}";
}

TEST_F(JsonTraceTest, ACorrelationOfZeroIsNoneAndTextsAreNumbers)
{
    const auto kernels_of_steps = [](const Trace& trace) {
        std::map<int, int> of_step;
        for (const TraceOp& op : trace.ops) {
            ++of_step[op.step];
        }
        return of_step;
    };
    const std::map<int, int> two_each{{0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}};
    const TraceFiles numbers = read(with_correlations([](int launch) { return std::to_string(launch); }));
    const TraceFiles texts =
        read(with_correlations([](int launch) { return '"' + std::to_string(launch) + '"'; }));
    const TraceFiles zeros = read(with_correlations([](int /*launch*/) { return "0"; }));
    EXPECT_EQ(kernels_of_steps(numbers.trace), two_each);
    EXPECT_EQ(kernels_of_steps(texts.trace), two_each);
    EXPECT_EQ(kernels_of_steps(zeros.trace), two_each);
    EXPECT_TRUE(numbers.notes.empty());
    EXPECT_TRUE(texts.notes.empty());
    ASSERT_EQ(zeros.notes.size(), 1U);
    EXPECT_THAT(zeros.notes[0], HasSubstr("10 of 10 kernels"));
}

TEST_F(JsonTraceTest, NamesHaveNoControlCharacters)
{
    const TraceFiles files = read(
        R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a\u000a[b]\u009b31m\u202e", "tid": 7, "ts": 1, "dur": 2}]})");
    ASSERT_EQ(files.trace.kinds.size(), 1U);
    EXPECT_EQ(files.trace.kinds[0].name, "a\\u000A[b]\\u009B31m\\u202E");
}

TEST_F(JsonTraceTest, ReadsNodesOfChakra)
{
    const Trace trace = read(R"({"schema": "1.0.2-chakra", "nodes": [
{"id": 1, "name": "aten::mm", "type": "COMP_NODE", "duration_micros": 30, "start_time_micros": 10},
{"id": 2, "name": "gemm", "type": "COMP_NODE", "duration_micros": 35, "start_time_micros": 10},
{"id": 3, "name": "all_reduce", "type": 5, "duration_micros": 40, "start_time_micros": 50, "attr": [{"name": "comm_size", "int64_val": 1024}]},
{"id": 4, "name": "no duration"}]})")
                            .trace;
    ASSERT_EQ(trace.ops.size(), 2U);  // operators of the CPU are no kernels
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "gemm");
    EXPECT_EQ(trace.kinds[trace.ops[1].kind].name, "all_reduce, 1024 elements");
    EXPECT_NEAR(trace.ops[0].start_s, 10e-6, 1e-12);
}

TEST_F(JsonTraceTest, ReadsWhatTheLinkerOfChakraWrites)
{
    const Trace trace = read(R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [
{"id": 1, "name": "ProfilerStep#4", "ts": 0, "inclusive_dur": 500, "exclusive_dur": 500, "attrs": []},
{"id": 2, "name": "aten::mm", "ctrl_deps": 1, "ts": 10, "inclusive_dur": 45, "exclusive_dur": 40, "attrs": [{"name": "rf_id", "value": 2}]},
{"id": 3, "name": "gemm", "cat": "kernel", "ph": "X", "ts": 30, "inclusive_dur": 121, "exclusive_dur": 120, "stream": 7, "attrs": []},
{"id": 4, "name": "Memcpy", "cat": "gpu_memcpy", "ph": "X", "ts": 40, "inclusive_dur": 9, "exclusive_dur": 9, "stream": 7, "attrs": []},
{"id": 5, "name": "ProfilerStep#5", "ts": 500, "inclusive_dur": 500, "exclusive_dur": 500, "attrs": []},
{"id": 6, "name": "ncclDevKernel_AllReduce", "cat": "kernel", "ph": "X", "ts": 560, "inclusive_dur": 60, "exclusive_dur": 60, "stream": 20}]})")
                            .trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "gemm, stream 7");
    EXPECT_NEAR(trace.ops[0].duration_s, 120e-6F, 1e-11F);
    EXPECT_EQ(trace.ops[0].step, 4);
    EXPECT_EQ(trace.kinds[trace.ops[1].kind].kernel, KernelClass::dp_all_reduce);
    EXPECT_EQ(trace.ops[1].step, 5);
}

/// One document per node, integers of 64 bits as text; no start times.
TEST_F(JsonTraceTest, ReadsWhatTheConverterOfChakraWrites)
{
    const std::string documents = R"({"version": "0.0.4"}{
  "id": "1", "name": "aten::mm", "type": "COMP_NODE", "durationMicros": "40",
  "attr": [{"name": "is_cpu_op", "boolVal": true}, {"name": "op_schema", "stringVal": "aten::mm(Tensor self) -> Tensor"}]
}{
  "id": "2", "name": "gemm", "type": "COMP_NODE", "ctrlDeps": ["1"], "durationMicros": "120",
  "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "stream", "int64Val": "7"}]
}
{
  "id": "3", "name": "ncclDevKernel_SendRecv", "type": "COMM_COLL_NODE", "durationMicros": "60", "attr": [
    {"name": "is_cpu_op", "boolVal": false}, {"name": "comm_type", "int64Val": "6"}, {"name": "comm_size", "int64Val": "4096"}]
})";
    const Trace trace = read(documents).trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    std::vector<std::string> names;
    for (const OpKind& kind : trace.kinds) {
        names.push_back(kind.name);
    }
    EXPECT_THAT(names, testing::ElementsAre("gemm, stream 7", "nccl all_to_all, 4096 elements"));
    EXPECT_EQ(trace.kinds[1].kernel, KernelClass::tp_collective);
    EXPECT_NEAR(trace.ops[0].duration_s, 120e-6F, 1e-11F);
    EXPECT_THAT(refusal(documents + "{\"id\": "), HasSubstr("document 5 is not valid JSON"));
}

TEST_F(JsonTraceTest, NamesTheRemedyForTracesOfChakraWithoutDurations)
{
    const std::string host =
        R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 1, "name": "aten::mm", "attrs": [{"name": "rf_id", "value": 2}]}]})";
    EXPECT_THAT(refusal(host), HasSubstr("execution trace of the host"));
    EXPECT_THAT(refusal(host), HasSubstr("Kineto trace of the same run"));
    EXPECT_THAT(
        refusal(
            R"({"nodes": [{"id": 1, "name": "aten::mm", "ts": 1, "inclusive_dur": 5, "exclusive_dur": 5}]})"),
        HasSubstr("ran on a GPU"));
    EXPECT_THAT(refusal(std::string("\x07\x0A\x05") + "0.0.4\x10\x08\x01\x12\x04name"),
                HasSubstr("chakra_jsonizer"));
}

/// A TPU's steps and operations, a GPU's streams (with the derived track that repeats them), and the host.
TEST_F(JsonTraceTest, ReadsTracesOfJax)
{
    const Trace trace = read(R"({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:TPU:0"}},
{"ph": "M", "pid": 3, "tid": 2, "name": "thread_name", "args": {"name": "Steps"}},
{"ph": "M", "pid": 3, "tid": 3, "name": "thread_name", "args": {"name": "XLA Ops"}},
{"ph": "M", "pid": 4, "name": "process_name", "args": {"name": "/device:GPU:0"}},
{"ph": "M", "pid": 4, "tid": 1, "name": "thread_name", "args": {"name": "Stream #14"}},
{"ph": "M", "pid": 4, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}},
{"ph": "M", "pid": 4, "tid": 3, "name": "thread_name", "args": {"name": "Steps"}},
{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
{"ph": "X", "pid": 3, "tid": 2, "ts": 0, "dur": 1000, "name": "10"},
{"ph": "X", "pid": 3, "tid": 2, "ts": 1000, "dur": 1010, "name": "11"},
{"ph": "X", "pid": 3, "tid": 3, "ts": 10, "dur": 400, "name": "fusion.1", "args": {"hlo_category": "convolution fusion"}},
{"ph": "X", "pid": 3, "tid": 3, "ts": 1010, "dur": 402, "name": "fusion.1", "args": {"hlo_category": "convolution fusion"}},
{"ph": "X", "pid": 3, "tid": 3, "ts": 1420, "dur": 300, "name": "all-gather.3", "args": {"hlo_category": "all-gather"}},
{"ph": "X", "pid": 4, "tid": 3, "ts": 500, "dur": 900, "name": "11"},
{"ph": "X", "pid": 4, "tid": 1, "ts": 600, "dur": 70, "name": "loop_add_fusion", "args": {"correlation_id": "7"}},
{"ph": "X", "pid": 4, "tid": 2, "ts": 600, "dur": 70, "name": "loop_add_fusion"},
{"ph": "X", "pid": 701, "tid": 9, "ts": 0, "dur": 5, "name": "PjitFunction"}]})")
                            .trace;
    ASSERT_EQ(trace.ops.size(), 4U);
    EXPECT_EQ(trace.workers.size(), 2U);
    std::map<int, int> of_step;
    for (const TraceOp& op : trace.ops) {
        ++of_step[op.step];
    }
    EXPECT_THAT(of_step, testing::ElementsAre(testing::Pair(10, 1), testing::Pair(11, 3)));
    std::map<std::string, KernelClass> classes;
    for (const OpKind& kind : trace.kinds) {
        classes[kind.name] = kind.kernel;
    }
    EXPECT_THAT(classes,
                testing::ElementsAre(testing::Pair("hlo all-gather all-gather.3", KernelClass::dp_all_gather),
                                     testing::Pair("hlo convolution fusion fusion.1", KernelClass::gemm),
                                     testing::Pair("loop_add_fusion", KernelClass::elementwise)));
}

TEST_F(JsonTraceTest, ReadsTheTraceOfNsightSystemsAndNamesItsSummary)
{
    const std::string header =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";
    const Trace trace = read(header +
                             "1000000,300000,101,8,1,1,128,1,1,NVIDIA H100 (0),1,7,nvjet_tst_128x256\n"
                             "1200000,2000,102,,,,,,,NVIDIA H100 (0),1,7,[CUDA memcpy Host-to-Device]\n"
                             "1310000,-5,103,2,1,1,512,1,1,NVIDIA H100 (0),1,20,ncclDevKernel_AllReduce\n"
                             "1310000,50000,103,2,1,1,512,1,1,NVIDIA H100 (1),1,20,ncclDevKernel_AllReduce\n")
                            .trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    EXPECT_EQ(trace.workers.size(), 2U);
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "nvjet_tst_128x256, grid 8x1x1, stream 7");
    EXPECT_NEAR(trace.ops[0].duration_s, 300e-6F, 1e-11F);
    EXPECT_EQ(trace.kinds[trace.ops[1].kind].kernel, KernelClass::dp_all_reduce);
    ASSERT_EQ(trace.faults.size(), 1U);
    EXPECT_EQ(trace.faults[0].first_line, 4U);
    EXPECT_THAT(refusal(header + "1,x,101,8,1,1,128,1,1,H100,1,7,gemm\n"), HasSubstr(":2: Duration = \"x\""));
    EXPECT_THAT(
        refusal(
            "Time (%),Total Time (ns),Instances,Avg (ns),StdDev (ns),Name\n71.0,30000000,100,3e5,4e3,gemm\n"),
        HasSubstr("--report cuda_gpu_trace"));
}

TEST_F(JsonTraceTest, NamesAllFormsWhereItKnowsNone)
{
    for (const char* text : {"hello\n", "{}", R"({"rocprofiler-sdk-tool": []})"}) {
        for (const char* form : {"Kineto", "JAX", "Chakra", "Nsight Systems", "nccl-tests", "OSU", "sacctmgr",
                                 "Xid", "table of operations"}) {
            EXPECT_THAT(refusal(text), HasSubstr(form)) << text;
        }
    }
    EXPECT_THAT(
        refusal(R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}]})"),
        HasSubstr("1 cpu_op"));
}

TEST_F(JsonTraceTest, ReadsAListOfEventsAlone)
{
    const std::string list = kineto.substr(kineto.find("[\n"));
    const Trace trace = read(list.substr(0, list.size() - 1)).trace;
    ASSERT_EQ(trace.ops.size(), 3U);
    EXPECT_EQ(trace.ops[2].step, 6);
    EXPECT_EQ(trace.kinds[trace.ops[0].kind].name, "bf16_gemm, grid 4x2x1, stream 7");
    EXPECT_THAT(refusal("[{\"name\": \"x\"}]"), HasSubstr("no kernel"));
}

TEST_F(JsonTraceTest, DistinguishesCollectivesByTheirGroup)
{
    const auto kernel_of = [&](const std::string& description) {
        std::string text = kineto;
        const std::string group = "\"Group size\": 8";
        text.replace(text.find(group), group.size(),
                     group + R"(, "Process Group Description": ")" + description + "\"");
        const Trace trace = read(text).trace;
        return trace.kinds[trace.ops[1].kind].kernel;
    };
    // The kernel is an all-gather.
    EXPECT_EQ(kernel_of("TENSOR_MODEL_PARALLEL_GROUP"), KernelClass::tensor_all_gather);
    EXPECT_EQ(kernel_of("mesh_tp"), KernelClass::tensor_all_gather);
    EXPECT_EQ(kernel_of("CONTEXT_PARALLEL_GROUP"), KernelClass::context_all_gather);
    EXPECT_EQ(kernel_of("EXPERT_MODEL_PARALLEL_GROUP"), KernelClass::expert_all_gather);
    EXPECT_EQ(kernel_of("DATA_PARALLEL_GROUP_WITH_CP"), KernelClass::dp_all_gather);
    EXPECT_EQ(kernel_of("default_pg"), KernelClass::dp_all_gather);
}

TEST_F(JsonTraceTest, RefusesWhatItCannotRead)
{
    EXPECT_THAT(refusal(kineto.substr(0, 300)), HasSubstr("is not valid JSON from byte"));
    EXPECT_THAT(refusal("{}"), HasSubstr("JSON of an unknown form"));
    EXPECT_THAT(refusal(R"({"traceEvents": []})"), HasSubstr("no kernel"));
    EXPECT_THAT(refusal("{\"traceEvents\": [\x01\x02"), HasSubstr("is not valid JSON"));
    std::string deep = "{\"traceEvents\": ";
    deep.append(200'000, '[');
    EXPECT_THAT(refusal(deep), HasSubstr("is not valid JSON"));
}

TEST_F(JsonTraceTest, ReadsBenchmarksAndCollectives)
{
    const auto runs = read("app,gpu,node,perf\nsgemm,a,n,2000\nsgemm,b,n,2100\n").gpu_runs;
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].seconds, 2.1);
    const auto placed =
        read("gpu,cabinet,node,perf\n0,c6,12,2000\n1,c7,12,2000\n2,-1,-1,2000\n3,-1,12,2000\n").gpu_runs;
    EXPECT_EQ(placed[0].node, "12 of cabinet c6");
    EXPECT_EQ(placed[1].node, "12 of cabinet c7");
    EXPECT_EQ(placed[2].node, "-1");
    EXPECT_EQ(placed[3].node, "12");
    EXPECT_EQ(read("gpu,rack,chassis,node,perf\n0,4,1,12,2000\n").gpu_runs[0].node,
              "12 of chassis 1 of rack 4");
    EXPECT_EQ(read("gpu,tflops\n0,500\n1,400\n").gpu_runs[1].seconds, 1.0 / 400.0);
    const auto times = read("nodes,algo,bytes,i,lat_us\n4,ring,256,0,46.5\n4,ring,256,1,55\n").collectives;
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].members, 4.0);
    EXPECT_EQ(times[0].series, "nodes 4, algo ring, bytes 256");
    EXPECT_NEAR(times[1].seconds, 55e-6, 1e-15);
    EXPECT_THAT(refusal("app,gpu,perf\nx,a,0\n"), HasSubstr(":2: time = \"0\" is not a positive number"));
}

std::string nccl_output(const std::string& start, const std::string& root, double factor)
{
    std::string text = start + "# nThread 1 nGpus 8\n#\n#       size         count      type   redop " +
                       (root.empty() ? "" : "  root") +
                       "     time   algbw   busbw #wrong\n#        (B)    (elements)                         "
                       "      (us)  (GB/s)\n";
    return text +
           fmt::format("     1048576        262144     float     sum {}   61.86   16.95   {:.2f}      0\n",
                       root, 16.95 * factor);
}

TEST_F(JsonTraceTest, ReadsOutputOfNcclTests)
{
    const auto out = read(nccl_output("", "-1", 1.75)).collectives;
    ASSERT_EQ(out.size(), 1U);
    EXPECT_NEAR(out[0].seconds, 61.86e-6, 1e-12);
    EXPECT_EQ(out[0].iterations, 1);  // not given
    const std::string parameters = "# nThread 1 warmup iters: 5 iters: 20 agg iters: 2 validation: 1\n";
    EXPECT_EQ(read(parameters + nccl_output("", "-1", 1.75)).collectives[0].iterations, 40);
    const auto rootless = read(nccl_output("", "", 1.75)).collectives;
    ASSERT_EQ(rootless.size(), 1U);
    EXPECT_NEAR(rootless[0].seconds, 61.86e-6, 1e-12);
    EXPECT_EQ(out[0].series, rootless[0].series);
    // 8 and 64 GPUs of one all-reduce, a reduce-scatter of 16, and a program by name: four series.
    const auto several =
        read(nccl_output("", "-1", 1.75) + nccl_output("", "-1", 1.969) + nccl_output("", "-1", 0.9375) +
             nccl_output("# Collective test starting: all_reduce_perf\n", "-1", 1.75))
            .collectives;
    ASSERT_EQ(several.size(), 4U);
    EXPECT_EQ(several[0].series, "nccl-tests float sum, busbw 1.75 algbw, 1048576 bytes");
    EXPECT_EQ(several[1].series, "nccl-tests float sum, busbw 1.97 algbw, 1048576 bytes");
    EXPECT_EQ(several[2].series, "nccl-tests float sum, busbw 0.94 algbw, 1048576 bytes");
    EXPECT_EQ(several[3].series, "nccl-tests all_reduce float sum, busbw 1.75 algbw, 1048576 bytes");
    EXPECT_THAT(refusal(nccl_output("", "-1", 1.75) + "  2097152   524288  float\n"),
                HasSubstr(":6: is not a line of nccl-tests"));
    const std::string headless = "# nThread 1 nGpus 8\n 1048576 262144 float sum -1 61.86 16.95 29.66 0\n";
    EXPECT_THAT(refusal(headless), HasSubstr(":2: numbers before the header line"));
}

TEST_F(JsonTraceTest, CountsTimesThatCannotBe)
{
    const TraceFiles table = read("nodes,bytes,lat_us\n4,8,50\n4,8,-1\n4,8,1e30\n4,8,1e99\n4,8,51\n");
    EXPECT_EQ(table.collectives.size(), 2U);
    ASSERT_EQ(table.collective_faults.size(), 2U);
    EXPECT_EQ(table.collective_faults[0].reason, FaultReason::negative_duration);
    EXPECT_EQ(table.collective_faults[0].first_line, 3U);
    EXPECT_EQ(table.collective_faults[1].reason, FaultReason::longer_than_a_day);
    EXPECT_EQ(table.collective_faults[1].count, 2U);
    EXPECT_EQ(table.collective_faults[1].first_line, 4U);
    const std::string row = "     1048576        262144     float     sum -1  ";
    const TraceFiles output =
        read(nccl_output("", "-1", 1.75) + row + "1e30 0 0 0\n" + row + "-61.86 16.95 29.66 0\n");
    EXPECT_EQ(output.collectives.size(), 1U);
    ASSERT_EQ(output.collective_faults.size(), 2U);
    EXPECT_EQ(output.collective_faults[0].first_line, 6U);
    EXPECT_EQ(output.collective_faults[1].reason, FaultReason::negative_duration);
    const TraceFiles runs = read("gpu,perf\n0,2000\n1,1e30\n2,-5\n");
    EXPECT_EQ(runs.gpu_runs.size(), 1U);
    ASSERT_EQ(runs.gpu_faults.size(), 2U);
    EXPECT_EQ(runs.gpu_faults[0].first_line, 3U);
    const TraceFiles rates = read("gpu,tflops\n0,500\n1,-1\n");
    EXPECT_EQ(rates.gpu_runs.size(), 1U);
    ASSERT_EQ(rates.gpu_faults.size(), 1U);
    EXPECT_EQ(rates.gpu_faults[0].reason, FaultReason::negative_value);
    EXPECT_EQ(rates.gpu_faults[0].of, "tflops");
}

TEST_F(JsonTraceTest, ReadsTablesAsSpreadsheetsAndEditorsWriteThem)
{
    const std::string table = "step,dp,stage,op,start_us,dur_us\n0,0,0,fwd,0,100\n";
    EXPECT_EQ(read("\xEF\xBB\xBF" + table).trace.ops.size(), 1U);
    std::string semicolons = table;
    std::replace(semicolons.begin(), semicolons.end(), ',', ';');
    EXPECT_EQ(read(semicolons).trace.ops.size(), 1U);
    EXPECT_THAT(refusal("\xFF\xFEs\0t\0"), HasSubstr("UTF-16"));
    EXPECT_THAT(refusal("step,dp,stage,op,start_us,dur_us\n"), HasSubstr("no usable line"));
}

TEST_F(JsonTraceTest, ReadsOutagesWithoutAHeader)
{
    const auto outages = read(
                             "# from the log\nnode12 2024-01-01T00:00:00\nnode13 2024-01-05 06:00:00 "
                             "2024-01-06 06:00:00 GPU lost\n"
                             "node14,2024-02-29,NIC\n")
                             .outages;
    ASSERT_EQ(outages.size(), 3U);
    EXPECT_EQ(outages[0].node, "node12");
    EXPECT_LT(outages[0].end_s, outages[0].start_s);
    EXPECT_NEAR(outages[1].start_s - outages[0].start_s, 4.25 * 86'400.0, 1e-6);
    EXPECT_NEAR(outages[1].end_s - outages[1].start_s, 86'400.0, 1e-6);
    EXPECT_EQ(outages[1].cause, "GPU lost");
    EXPECT_EQ(outages[2].cause, "NIC");
    EXPECT_THAT(refusal("node12 2024-01-01\nnode13 2023-02-29\n"),
                HasSubstr(":2: start = \"2023-02-29\" is not a time"));
    const std::string slurm = "NodeName|TimeStart|TimeEnd|State|Reason\n";
    EXPECT_THAT(refusal(slurm + "n3|2024-02-31T00:00:00|2024-03-05T00:00:00|DOWN|nic\n"),
                HasSubstr(":2: start = \"2024-02-31"));
    EXPECT_THAT(refusal("node,start_day,end_day\n3,10,1e9\n"), HasSubstr(":2: the outage lasts 1e+09 days"));
}

}  // namespace
}  // namespace prismopt

#include "io/base/input_error.hpp"
#include "io/traces/trace_files.hpp"

#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

const std::string good =
    "step,dp,stage,op,seq_id,mb_id,start_us,dur_us\n"
    "3,0,1,forward-compute,0,0,10.5,1000\n"
    "3,0,1,\"forward,send\",0,-1,1010.5,20\n";

class TraceFilesTest : public testing::Test {
protected:
    std::string write(const std::string& text, const std::string& name = "trace.csv") const
    {
        std::ofstream(folder_.file(name), std::ios::binary) << text;
        return folder_.file(name);
    }
    std::string refusal(const std::string& text) const
    {
        return refusal_of([&] { read_trace_files({write(text)}); });
    }
    std::string packed(const std::string& text) const
    {
        const std::string path = folder_.file("packed.gz");
        const gzFile file = gzopen(path.c_str(), "wb");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    TemporaryFolder folder_;
};

TEST_F(TraceFilesTest, ReadsOperations)
{
    const Trace trace = read_trace_files({write(good)}).trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    EXPECT_EQ(trace.ops[0].step, 3);
    EXPECT_NEAR(trace.ops[0].start_s, 10.5e-6, 1e-12);
    EXPECT_NEAR(trace.ops[0].duration_s, 1e-3F, 1e-9F);
    EXPECT_EQ(trace.workers[0], (TraceWorker{0, 1}));
    EXPECT_EQ(trace.kinds[1].name, "forward,send");
    EXPECT_EQ(trace.kinds[1].role, OpRole::send);
    EXPECT_EQ(trace.ops[1].line, 3U);
}

TEST_F(TraceFilesTest, OtherLineEndsAndNoLastOne)
{
    std::string text = good.substr(0, good.size() - 1);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
        text.replace(at, 1, "\r\n");
    }
    const Trace trace = read_trace_files({write(text)}).trace;
    ASSERT_EQ(trace.ops.size(), 2U);
    EXPECT_EQ(trace.ops[1].line, 3U);
}

TEST_F(TraceFilesTest, GzipAndItsDamage)
{
    std::string text = good;
    for (int i = 0; i < 5000; ++i) {
        text +=
            "4,0,1,forward-compute," + std::to_string(i) + ",0," + std::to_string(i * 7919 % 1000) + ",1\n";
    }
    const std::string path = folder_.file("trace.csv.gz");
    const gzFile file = gzopen(path.c_str(), "wb");
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(file);
    EXPECT_EQ(read_trace_files({path}).trace.ops.size(), 5002U);
    std::ifstream stream(path, std::ios::binary);
    std::string packed(std::istreambuf_iterator<char>(stream), {});
    EXPECT_THAT(refusal(packed.substr(0, packed.size() / 2)), HasSubstr("truncated"));
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
    EXPECT_THAT(refusal(packed), HasSubstr("damaged"));
}

TEST_F(TraceFilesTest, GzipMembersInARowAreOneFileAndOtherBytesNone)
{
    const std::size_t half = good.rfind('\n', good.size() - 2) + 1;
    const std::string members = packed(good.substr(0, half)) + packed("") + packed(good.substr(half));
    EXPECT_EQ(read_trace_files({write(members)}).trace.ops.size(), 2U);
    for (const std::string& behind :
         {std::string("x"), std::string(100, 'x'), good, std::string("\x1F"), std::string(9, '\0')}) {
        EXPECT_THAT(refusal(members + behind), HasSubstr("is followed by bytes that are not gzip"));
    }
    EXPECT_THAT(refusal(members + "\x1F\x8B"), HasSubstr("truncated"));
}

TEST_F(TraceFilesTest, MicrobatchesThatAreMissingAreNamed)
{
    const auto problems_of = [&](const std::string& rows) {
        Trace trace = read_trace_files({write("step,dp,stage,op,mb,start_us,dur_us\n" + rows)}).trace;
        sort_by_start(trace);
        return without_microbatch(trace);
    };
    const std::string backwards = "0,0,0,backward-compute,0,5,9\n0,0,0,backward-compute,1,15,9\n";
    const std::string step = "0,0,0,optimizer,,90,9\n0,0,0,forward-send,-1,80,1\n0,0,0,forward-send,1,81,1\n";
    EXPECT_TRUE(problems_of("0,0,0,forward-compute,0,1,4\n" + backwards + step).empty());
    EXPECT_TRUE(problems_of("0,0,0,forward-compute,,1,4\n0,0,0,backward-compute,,5,9\n" + step).empty());
    const auto some =
        problems_of("0,0,0,forward-compute,0,1,4\n" + backwards + "0,0,0,backward-compute,,25,9\n" + step);
    ASSERT_EQ(some.size(), 1U);
    EXPECT_EQ(some[0].line, 5U);
    EXPECT_EQ(std::get<NoMicrobatch>(some[0].what).operation, "backward-compute");
    EXPECT_EQ(std::get<NoMicrobatch>(some[0].what).without, 1U);
    EXPECT_EQ(std::get<NoMicrobatch>(some[0].what).all, 3U);
    const auto all =
        problems_of(backwards + "0,0,0,forward-compute,,1,4\n0,0,0,forward-compute,,2,4\n" + step);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].line, 4U);
    EXPECT_EQ(std::get<NoMicrobatch>(all[0].what).operation, "forward-compute");
    EXPECT_EQ(std::get<NoMicrobatch>(all[0].what).without, 2U);
    EXPECT_EQ(std::get<NoMicrobatch>(all[0].what).all, 2U);
}

TEST_F(TraceFilesTest, RefusesWithLineAndReason)
{
    EXPECT_THAT(refusal(""), HasSubstr("is empty"));
    EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr(":1: unknown file format"));
    EXPECT_THAT(refusal("step,op\n1,x\n"), HasSubstr("without dp, stage, start_us"));
    EXPECT_THAT(refusal(good + "3,0,1,forward-compute,1,0,10.5\n"),
                HasSubstr(":4: has 7 fields, but the header has 8"));
    EXPECT_THAT(refusal(good + "3,0,x,forward-compute,1,0,10.5,3\n"),
                HasSubstr(":4: stage = \"x\" is not an integer from -1 to 1000000000"));
    EXPECT_THAT(refusal(good + "3,0,2147483647,forward-send,1,0,10.5,3\n"),
                HasSubstr(":4: stage = \"2147483647\" is not an integer from -1 to 1000000000"));
    EXPECT_THAT(refusal(good + "3,0,1,forward-compute,1,0,abc,3\n"),
                HasSubstr(":4: start = \"abc\" is not a number"));
    EXPECT_THAT(refusal(good + "3,0,1,forward-compute,1,0,1e999,3\n"), HasSubstr(":4: start"));
    EXPECT_THAT(refusal(good + "3,0,1,forw\x01"
                               "ard,1,0,1,3\n"),
                HasSubstr(":4: is not text"));
    EXPECT_THAT(refusal(good + "3,0,1,\"forw"), HasSubstr("quote"));
    EXPECT_THAT(refusal(std::string(1000, '\0')), HasSubstr(":1:"));
    EXPECT_THROW(read_trace_files({folder_.file("nowhere.csv")}), InputError);
}

TEST_F(TraceFilesTest, CountsWrongDurations)
{
    const Trace trace =
        read_trace_files({write(good + "3,0,1,x,0,0,1,-5\n3,0,1,x,1,0,1,-5\n3,0,1,x,2,0,1,1e15\n")}).trace;
    EXPECT_EQ(trace.ops.size(), 2U);
    ASSERT_EQ(trace.faults.size(), 2U);
    EXPECT_EQ(trace.faults[0].count, 2U);
    EXPECT_EQ(trace.faults[0].first_line, 4U);
    EXPECT_EQ(trace.faults[1].first_line, 6U);
}

TEST_F(TraceFilesTest, FindsMixedJobsAndBackwardClocks)
{
    Trace twice = read_trace_files({write(good + "3,0,1,forward-compute,0,0,99,1000\n")}).trace;
    sort_by_start(twice);
    ASSERT_EQ(problems(twice).size(), 1U);
    EXPECT_EQ(problems(twice)[0].line, 4U);
    EXPECT_TRUE(std::holds_alternative<OperationTwice>(problems(twice)[0].what));
    Trace backward = read_trace_files({write(good + "3,0,1,forward-compute,1,0,5,1000\n")}).trace;
    sort_by_start(backward);
    ASSERT_EQ(problems(backward).size(), 1U);
    EXPECT_TRUE(std::holds_alternative<ClockRunsBackwards>(problems(backward)[0].what));
}

TEST_F(TraceFilesTest, ReadsOutages)
{
    const auto plain =
        read_trace_files(
            {write("node,start_day,end_day,level,cls\na,1,2,Hardware Failure,GPU\nb,3,4,Change,x\n")})
            .outages;
    ASSERT_EQ(plain.size(), 1U);
    EXPECT_EQ(plain[0].start_s, 86'400.0);
    EXPECT_EQ(plain[0].cause, "GPU");
    const auto slurm =
        read_trace_files({write("NodeName|TimeStart|TimeEnd|State|Reason\n"
                                "|2024-02-29T00:00:00|Unknown||\n"
                                "gpu1|2024-03-01T00:00:00|2024-03-01T12:00:30|DOWN*|Not responding\n")})
            .outages;
    ASSERT_EQ(slurm.size(), 1U);
    EXPECT_EQ(slurm[0].start_s, 1'709'251'200.0);  // date -u -d 2024-03-01 +%s
    EXPECT_EQ(slurm[0].end_s - slurm[0].start_s, 43'230.0);
}

}  // namespace
}  // namespace prismopt

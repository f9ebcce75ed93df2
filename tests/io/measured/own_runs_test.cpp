#include "io/measured/own_runs.hpp"
#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"

#include "tests/io/good_scenario.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

class OwnRunsOf : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.file(name)) << text; }

    TemporaryFolder folder_;
};

TEST_F(OwnRunsOf, RowsNameAScenarioAPlanAndATime)
{
    write("job.toml", good);
    write("own.csv", "run,scenario,design,step_time_s,memory_gb\nfirst,job.toml,gpus=64 tp=8,12.5,61\n,job.toml,tp=4,13.5,\n");
    const OwnRuns own = read_own_runs(folder_.file(""));
    EXPECT_EQ(own.tables, 1);
    EXPECT_TRUE(own.skipped.empty());
    ASSERT_EQ(own.runs.size(), 2U);
    EXPECT_EQ(own.runs[0].name, "first");
    EXPECT_EQ(own.runs[0].source, "own");
    EXPECT_EQ(own.runs[0].design, "gpus=64 tp=8");
    EXPECT_EQ(own.runs[0].step_time.si, 12.5);
    EXPECT_EQ(own.runs[0].memory.si, 61e9);
    EXPECT_EQ(own.runs[1].name, "row 2");
    EXPECT_EQ(own.runs[1].memory.si, 0.0);
    EXPECT_FALSE(own.runs[1].scenario.phases.empty());
}

TEST_F(OwnRunsOf, RowsThatLackSomethingSayWhat)
{
    write("job.toml", good);
    write("own.csv", "scenario,design,step_time_s\n,tp=8,1\njob.toml,tp=8,\nmissing.toml,tp=8,1\n");
    const OwnRuns own = read_own_runs(folder_.file(""));
    EXPECT_TRUE(own.runs.empty());
    ASSERT_EQ(own.skipped.size(), 3U);
    EXPECT_THAT(own.skipped[0].reason, HasSubstr("scenario"));
    EXPECT_THAT(own.skipped[1].reason, HasSubstr("step time"));
    EXPECT_THAT(own.skipped[2].reason, HasSubstr("missing.toml"));
}

TEST_F(OwnRunsOf, RowsWithWrongNumbersShowThem)
{
    write("job.toml", good);
    write(
        "own.csv",
        "scenario,design,step_time_s,memory_gb\njob.toml,tp=8,abc,\njob.toml,tp=8,-3,\njob.toml,tp=8,inf,\njob.toml,tp=8,1,-5\n");
    const OwnRuns own = read_own_runs(folder_.file(""));
    EXPECT_TRUE(own.runs.empty());
    ASSERT_EQ(own.skipped.size(), 4U);
    EXPECT_THAT(own.skipped[0].reason, HasSubstr("step_time_s is \"abc\""));
    EXPECT_THAT(own.skipped[1].reason, HasSubstr("step_time_s is \"-3\""));
    EXPECT_THAT(own.skipped[2].reason, HasSubstr("step_time_s is \"inf\""));
    EXPECT_THAT(own.skipped[3].reason, HasSubstr("memory_gb is \"-5\""));
}

TEST_F(OwnRunsOf, NamesHaveNoControlCharacters)
{
    write("job.toml", good);
    write("own.csv", "run,scenario,design,step_time_s,source\n\"a\nall: 0 %\",job.toml,tp=8,1,s\u009b31m\n\"b\nc\",,tp=8,1,\n");
    const OwnRuns own = read_own_runs(folder_.file(""));
    ASSERT_EQ(own.runs.size(), 1U);
    EXPECT_EQ(own.runs[0].name, "a\\u000Aall: 0 %");
    EXPECT_EQ(own.runs[0].source, "s\\u009B31m");
    ASSERT_EQ(own.skipped.size(), 1U);
    EXPECT_EQ(own.skipped[0].row, "b\\u000Ac");
}

TEST_F(OwnRunsOf, OnlyTheHeadersOfOtherTablesAreRead)
{
    write("other.csv", "model,notes\n");
    std::filesystem::resize_file(folder_.file("other.csv"), 2 * written_file_limit);
    EXPECT_EQ(read_own_runs(folder_.file("")).tables, 0);
}

TEST_F(OwnRunsOf, TablesWithoutAColumnAreRefused)
{
    write("own.csv", "scenario,step_time_s\njob.toml,1\n");
    EXPECT_THROW(read_own_runs(folder_.file("")), InputError);
    write("own.csv", "model,step_time_s\nLlama,1\n");  // no table of own runs
    EXPECT_EQ(read_own_runs(folder_.file("")).tables, 0);
}

}  // namespace
}  // namespace prismopt

#include "io/base/csv.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/free_memory.hpp"
#include "io/base/input_error.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace prismopt {
namespace {

TEST(Csv, EscapesControlCharactersOfTheHeader)
{
    std::vector<std::string> names;
    read_table("\"a\nb\",c\n1,2\n", "t.csv",
               {.start = [&](const std::vector<std::string>& header) { names = header; },
                .line = [](const TableLine&) {}});
    EXPECT_EQ(names, (std::vector<std::string>{"a\\u000Ab", "c"}));
}

TEST(Csv, LimitsFieldsAndBytesOfFiles)
{
    const TemporaryFolder folder;
    std::ofstream(folder.file("t.csv")) << "a,b\n1,2\n";
    EXPECT_EQ(read_text(folder.file("t.csv"), 8).size(), 8U);
    EXPECT_NE(refusal_of([&] { read_text(folder.file("t.csv"), 7); }), "taken");
    EXPECT_NE(refusal_of([] { read_text("/dev/zero"); }), "taken");
    std::string commas = "a,b\n";
    for (int line = 0; line < 3'000'000; ++line) {
        commas += ",\n";
    }
    EXPECT_NE(refusal_of([&] { parse_csv(commas, "t.csv"); }), "taken");
}

TEST(FreeMemory, IsKnownAndNotAllUsed)
{
    EXPECT_GT(resident_memory(), 1U << 20U);
    EXPECT_GT(free_memory(), 0U);
}

TEST(Csv, ReadsQuotedFields)
{
    const auto rows =
        parse_csv("name,note,count\r\n\"a, b\",\"say \"\"so\"\"\",8\nplain,\"two\nlines\",\n", "t.csv");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].text("name"), "a, b");
    EXPECT_EQ(rows[0].text("note"), "say \"so\"");
    EXPECT_EQ(rows[0].count("count"), 8);
    EXPECT_EQ(rows[1].text("note"), "two\nlines");
    EXPECT_EQ(rows[1].count("count"), 0);
}

TEST(Csv, NumbersThatAreNoneAreZero)
{
    const auto rows = parse_csv("a,b,c,d\n1.5,x,-3,1e400\n", "t.csv");
    EXPECT_DOUBLE_EQ(rows[0].number("a"), 1.5);
    EXPECT_EQ(rows[0].count("a"), 0);  // not whole
    EXPECT_EQ(rows[0].number("b"), 0.0);
    EXPECT_EQ(rows[0].count("c"), 0);  // not positive
    EXPECT_EQ(rows[0].number("d"), 0.0);
    EXPECT_EQ(rows[0].number("no such column"), 0.0);
    EXPECT_EQ(rows[0].text("no such column"), "");
}

TEST(Csv, RefusesLinesOfAnotherLength)
{
    try {
        parse_csv("a,b\n1,2\n1,2,3\n", "t.csv");
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("t.csv:3: has 3 fields, but the header has 2"));
    }
}

TEST(Csv, RefusesFilesThatCannotBeRead)
{
    const auto message = [](const char* path) -> std::string {
        try {
            read_csv(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message("/no/such/file.csv"),
              "/no/such/file.csv: cannot be read (No such file or directory); give the path of a file");
    EXPECT_EQ(message("/tmp"), "/tmp: cannot be read (it is a directory); give the path of a file");
}

}  // namespace
}  // namespace prismopt

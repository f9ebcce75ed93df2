#include "io/results/posix_file.hpp"

#include "tests/io/full_disk.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace prismopt {

namespace {

std::string file_content(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<FileError> failure(const std::string& path, const std::string& text)
{
    try {
        replace_file(path, text);
        return std::nullopt;
    } catch (const FileError& error) {
        return error;
    }
}

TEST(ReplaceFile, LeavesTheNewFileAndNothingElse)
{
    const TemporaryFolder folder;
    for (const std::string text : {"former", "a longer text", ""}) {
        replace_file(folder.file("a"), text);
        EXPECT_EQ(file_content(folder.file("a")), text);
        EXPECT_EQ(folder.entries(), 1U);
    }
}

TEST(ReplaceFile, KeepsTheFormerFileWhenTheDiskIsFull)
{
    const TemporaryFolder folder;
    replace_file(folder.file("a"), "former");
    {
        const FullDisk full(4096);
        const auto error = failure(folder.file("a"), std::string(10'000, 'x'));
        ASSERT_TRUE(error);
        EXPECT_FALSE(error->wrong_path());
        EXPECT_THAT(error->what(), testing::HasSubstr("File too large"));
    }
    EXPECT_EQ(file_content(folder.file("a")), "former");
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(ReplaceFile, SaysWhetherThePathIsWrong)
{
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("folder"));
    for (const std::string& path : {folder.file("none/a"), folder.file("folder"), folder.file(std::string(300, 'x'))}) {
        const auto error = failure(path, "text");
        ASSERT_TRUE(error) << path;
        EXPECT_TRUE(error->wrong_path()) << path;
    }
    const auto full = failure("/dev/full", "text");
    ASSERT_TRUE(full);
    EXPECT_FALSE(full->wrong_path());
}

TEST(ReplaceFile, ReplacesTheFileThatALinkNames)
{
    const TemporaryFolder folder;
    replace_file(folder.file("a"), "former");
    std::filesystem::create_symlink(folder.file("a"), folder.file("link"));
    replace_file(folder.file("link"), "new");
    EXPECT_EQ(file_content(folder.file("a")), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
}

}  // namespace

}  // namespace prismopt

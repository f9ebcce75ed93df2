#include "io/results/posix_file.hpp"

#include "tests/io/full_disk.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

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
    for (const std::string& path :
         {folder.file("none/a"), folder.file("folder"), folder.file(std::string(300, 'x'))}) {
        const auto error = failure(path, "text");
        ASSERT_TRUE(error) << path;
        EXPECT_TRUE(error->wrong_path()) << path;
    }
    const auto full = failure("/dev/full", "text");
    ASSERT_TRUE(full);
    EXPECT_FALSE(full->wrong_path());
}

TEST(ReplaceFile, NeitherFollowsNorOverwritesForeseeableNames)
{
    const TemporaryFolder folder;
    replace_file(folder.file("victim"), "precious");
    std::filesystem::create_symlink(folder.file("victim"), folder.file("a.partial"));
    replace_file(folder.file("a"), "new");
    EXPECT_EQ(file_content(folder.file("victim")), "precious");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("a.partial")));
    EXPECT_FALSE(std::filesystem::is_symlink(folder.file("a")));
}

TEST(ReplaceFile, LetsSeveralWriteToOnePath)
{
    const TemporaryFolder folder;
    std::vector<std::thread> writers;
    for (const char c : {'a', 'b', 'c', 'd'}) {
        writers.emplace_back([&folder, c] {
            for (int i = 0; i < 20; ++i) {
                replace_file(folder.file("a"), std::string(100'000, c));
            }
        });
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
    const std::string last = file_content(folder.file("a"));
    EXPECT_EQ(last, std::string(100'000, last.front()));
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(ReplaceFile, RemovesWhatKilledProcessesLeftADayAgo)
{
    const TemporaryFolder folder;
    const auto leave = [&](const std::string& name, std::chrono::hours age) {
        replace_file(folder.file("b"), "half");
        std::filesystem::rename(folder.file("b"), folder.file(name));
        std::filesystem::last_write_time(folder.file(name),
                                         std::filesystem::file_time_type::clock::now() - age);
    };
    leave(".prismopt-1.partial", std::chrono::hours(30));
    leave(".prismopt-2.partial", std::chrono::hours(20));
    leave("other.partial", std::chrono::hours(30));
    replace_file(folder.file("a"), "new");
    EXPECT_FALSE(std::filesystem::exists(folder.file(".prismopt-1.partial")));
    EXPECT_TRUE(std::filesystem::exists(folder.file(".prismopt-2.partial")));
    EXPECT_TRUE(std::filesystem::exists(folder.file("other.partial")));
}

TEST(ReplaceFile, TakesItsPermissionsFromTheMask)
{
    const TemporaryFolder folder;
    const mode_t former = ::umask(027);
    replace_file(folder.file("a"), "text");
    ::umask(former);
    EXPECT_EQ(std::filesystem::status(folder.file("a")).permissions(), std::filesystem::perms{0640});
}

TEST(PosixFile, RefusesToCreateWhereALinkIs)
{
    const TemporaryFolder folder;
    std::filesystem::create_symlink(folder.file("absent"), folder.file("link"));
    EXPECT_THROW(PosixFile(folder.file("link"), PosixFile::Open::create_new), FileError);
    EXPECT_FALSE(std::filesystem::exists(folder.file("absent")));
}

TEST(ReplaceFile, ReplacesALinkAndNotTheFileThatItNames)
{
    const TemporaryFolder folder;
    replace_file(folder.file("a"), "former");
    std::filesystem::permissions(folder.file("a"), std::filesystem::perms{0444});
    std::filesystem::create_directory(folder.file("folder"));
    for (const char* named : {"a", "absent", "folder"}) {
        std::filesystem::create_symlink(folder.file(named), folder.file("link"));
        replace_file(folder.file("link"), "new");
        EXPECT_EQ(file_content(folder.file("link")), "new") << named;
        EXPECT_FALSE(std::filesystem::is_symlink(folder.file("link"))) << named;
        std::filesystem::remove(folder.file("link"));
    }
    EXPECT_EQ(file_content(folder.file("a")), "former");
    EXPECT_FALSE(std::filesystem::exists(folder.file("absent")));
}

}  // namespace

}  // namespace prismopt

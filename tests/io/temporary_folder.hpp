#pragma once

/// A folder of one test, removed with its content.

#include <gtest/gtest.h>
#include <unistd.h>
#include <filesystem>
#include <string>

namespace prismopt {

class TemporaryFolder {
public:
    TemporaryFolder()
    {
        const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::temp_directory_path() / ("prismopt-" + std::to_string(::getpid()) + "-" +
                                                            test->test_suite_name() + "-" + test->name());
        std::filesystem::create_directory(folder_);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::string file(const std::string& name) const { return (folder_ / name).string(); }
    std::size_t entries() const
    {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            count += entry.exists() ? 1 : 0;
        }
        return count;
    }

private:
    std::filesystem::path folder_;
};

}  // namespace prismopt

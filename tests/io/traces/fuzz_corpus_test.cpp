#include "io/base/input_error.hpp"
#include "io/traces/trace_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace prismopt {
namespace {

/// Files that crashed a reader once end in a refusal now, and those of each kind are read.
TEST(FuzzCorpus, IsReadOrRefused)
{
    int read = 0;
    int refused = 0;
    for (const auto& file : std::filesystem::directory_iterator(PRISMOPT_SOURCE_DIR "/tests/fuzz/corpus")) {
        const std::string path = file.path();
        const bool crashed_once = file.path().filename().string().starts_with("other-columns");
        try {
            read_trace_files({path});
            ++read;
            EXPECT_FALSE(crashed_once) << path;
        } catch (const InputError& error) {
            ++refused;
            EXPECT_TRUE(crashed_once) << error.what();
        }
    }
    EXPECT_EQ(read, 23);
    EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace prismopt

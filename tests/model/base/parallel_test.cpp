#include "model/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace prismopt {
namespace {

TEST(Parallel, EachIndexIsComputedOnceByAThreadThatExists)
{
    constexpr int count = 1000;
    std::vector<std::atomic<int>> times(count);
    std::atomic<int> strangers = 0;
    parallel_for(count, [&](int thread, std::int64_t i) {
        times[static_cast<std::size_t>(i)]++;
        strangers += thread < 0 || thread >= parallel_threads() ? 1 : 0;
    });
    for (const std::atomic<int>& of : times) {
        EXPECT_EQ(of, 1);
    }
    EXPECT_EQ(strangers, 0);
}

TEST(Parallel, ALoopInsideALoopRunsCompletely)
{
    constexpr int count = 20;
    std::vector<std::vector<int>> seen(count);
    parallel_for(count, [&](int, std::int64_t i) {
        parallel_for(count, [&, i](int, std::int64_t k) {
            seen[static_cast<std::size_t>(i)].push_back(static_cast<int>(k));
        });
    });
    for (const std::vector<int>& inner : seen) {
        EXPECT_EQ(inner.size(), count);
    }
}

TEST(Parallel, NothingToDo)
{
    parallel_for(0, [](int, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace prismopt

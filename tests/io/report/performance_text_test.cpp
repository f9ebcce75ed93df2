#include "io/report/performance_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;

Results of_two_ranks()
{
    Results results;
    results.threads = 4;
    results.ranks = {{.rank = 0,
                      .items = 3,
                      .busy_s = 5.0,
                      .idle_s = 1.0,
                      .wall_s = 10.0,
                      .activity_s = {1.0, 2.0, 1.5, 0.5}},
                     {.rank = 1,
                      .items = 2,
                      .busy_s = 8.0,
                      .idle_s = 1.5,
                      .wall_s = 10.0,
                      .activity_s = {1.0, 6.0, 1.0, 0.0}}};
    return results;
}

TEST(Performance, SumsRanks)
{
    const auto sum = performance_of(of_two_ranks());
    ASSERT_TRUE(sum);
    EXPECT_EQ(sum->wall_s, 10.0);
    EXPECT_EQ(sum->total_s, 20.0);
    EXPECT_EQ(sum->rank_0_s, 4.0);
    EXPECT_EQ(sum->activity_s[1], 8.0);
    EXPECT_EQ(sum->efficiency(), 13.0 / 20.0);
}

TEST(Performance, LinesAddUpToTheWhole)
{
    const std::vector<std::string> lines = performance_lines(of_two_ranks());
    ASSERT_EQ(lines.size(), 8U);
    EXPECT_EQ(lines[0], "time of 2 ranks with 4 threads each, 10.0 s of the clock:");
    EXPECT_THAT(lines[2], HasSubstr("8.0 s   40 %"));
    EXPECT_THAT(lines[6], HasSubstr("4.0 s   20 %"));
    double share = 0.0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        share += std::stod(lines[i].substr(lines[i].find(" s ") + 3));
    }
    EXPECT_NEAR(share, 100.0, 0.5 * 7);  // rounded to whole numbers
}

TEST(Performance, IsNotKnownOfOlderFiles)
{
    Results results = of_two_ranks();
    for (RankWork& rank : results.ranks) {
        rank.wall_s = 0.0;
    }
    EXPECT_FALSE(performance_of(results));
    EXPECT_TRUE(performance_lines(results).empty());
}

}  // namespace
}  // namespace prismopt

#include "io/report/legs_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prismopt {
namespace {

std::vector<Leg> two_legs()
{
    Leg first;
    first.started = "2025-01-02T00:00:00Z";
    first.job = "Slurm 41";
    first.nodes = 2;
    first.ranks = 8;
    first.threads = 64;
    first.seconds = 450.0;
    first.saved = 1;
    first.end = LegEnd::stopped;
    Leg second;
    second.started = "2025-01-02T01:00:00Z";
    second.seconds = 1800.0;
    return {first, second};
}

TEST(LegsText, HasALineForEachLeg)
{
    EXPECT_EQ(legs_text({}), "");
    EXPECT_EQ(legs_text(two_legs()),
              "2 legs, 8.5 core-hours\n"
              "  1: 2025-01-02T00:00:00Z, 2 nodes, 8 ranks, 64 threads, job Slurm 41, 450.0 s, stopped, 1 "
              "record saved\n"
              "  2: 2025-01-02T01:00:00Z, 1 node, 1 rank, 1 thread, 1800.0 s, lost, 0 records saved\n");
}

TEST(LegsText, IsTheSameAsJson)
{
    const auto json = legs_json(two_legs());
    EXPECT_EQ(json.at(0).at("job"), "Slurm 41");
    EXPECT_TRUE(json.at(1).at("job").is_null());
    EXPECT_EQ(json.at(0).at("threads"), 64);
    EXPECT_EQ(json.at(0).at("end"), "stopped");
}

/// 64 threads for an eighth of an hour, and one for half an hour.
TEST(CoreHours, AreThoseOfAllThreads) { EXPECT_DOUBLE_EQ(core_hours(two_legs()), 64.0 / 8.0 + 0.5); }

TEST(BuildIdentity, DiffersByItsFirstDifference)
{
    const BuildIdentity build{.version = "0.1.0", .commit = "abc", .catalog = "12"};
    EXPECT_EQ(build_text(build), "prismopt 0.1.0 (abc, catalog 12)");
    EXPECT_EQ(difference(build, build), "");
    EXPECT_EQ(difference(build, {"0.2.0", "abd", "13"}), "version");
    EXPECT_EQ(difference(build, {"0.1.0", "abd", "13"}), "commit");
    EXPECT_EQ(difference(build, {"0.1.0", "abc", "13"}), "catalog");
}

}  // namespace
}  // namespace prismopt

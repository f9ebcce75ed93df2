#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/toml/catalog_file.hpp"
#include "optimizer/fit/plan_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

CheckedRun run_of(const std::string& source, const std::string& stack, double ratio)
{
    CheckedRun checked;
    checked.run.source = source;
    checked.run.cluster.stack.name = stack;
    checked.memory_bytes = 1e9;
    checked.run.memory_bytes = 1e9 * std::exp(ratio);
    return checked;
}

/// By hand: two sources with means of 0.1 and -0.1, whose rows lie 0.02 about them.
TEST(MemoryDeviations, AreOfSourcesPlansAndStacks)
{
    std::vector<CheckedRun> runs;
    for (int i = 0; i < 50; ++i) {
        const double sign = i % 2 == 0 ? 1.0 : -1.0;
        runs.push_back(run_of("a", "one", 0.1 + 0.02 * sign));
        runs.push_back(run_of("b", "two", -0.1 + 0.02 * sign));
    }
    CheckedRun unmeasured = run_of("a", "one", 0.0);
    unmeasured.run.memory_bytes = 0.0;
    runs.push_back(unmeasured);
    const MemoryDeviations found = memory_deviations(runs);
    const double within = 0.02 * 0.02 * 50.0 / 49.0;
    const double squares = 0.1 * 0.1 + 0.02 * 0.02;
    EXPECT_NEAR(found.of_plan, std::sqrt(within), 1e-12);
    EXPECT_NEAR(found.common, std::sqrt(squares - within), 1e-12);
    ASSERT_EQ(found.of_stack.size(), 2U);
    EXPECT_EQ(found.of_stack.at("one").rows, 50);
    // As all stacks: nothing to shrink.
    EXPECT_NEAR(found.of_stack.at("one").deviation, std::sqrt(squares), 1e-12);
}

/// Few rows borrow from the others.
TEST(MemoryDeviations, OfAStackWithFewRowsAreNearThoseOfAll)
{
    std::vector<CheckedRun> runs{run_of("a", "few", 0.3), run_of("a", "few", -0.3)};
    for (const char* source : {"b", "c", "d"}) {
        for (int i = 0; i < 50; ++i) {
            runs.push_back(run_of(source, "many", i % 2 == 0 ? 0.05 : -0.05));
        }
    }
    const MemoryDeviations found = memory_deviations(runs);
    EXPECT_LT(found.of_stack.at("few").deviation, 0.3);
    EXPECT_GT(found.of_stack.at("few").deviation, found.of_stack.at("many").deviation);
}

TEST(MemoryDeviations, AreWrittenAsTheCatalogHasThem)
{
    const Discrepancy discrepancy = catalog_discrepancy();
    EXPECT_GE(discrepancy.memory_of_stack.size(), 3U);
    EXPECT_EQ(discrepancy.memory_on("of nobody").rows, 0);
    EXPECT_NEAR(discrepancy.memory_on("of nobody").deviation,
                std::hypot(discrepancy.memory, discrepancy.memory_of_plan), 1e-12);
    for (const char* stack : {"of nobody", "megatron-core", "hf-fsdp"}) {
        const MemoryError error = discrepancy.memory_error_on(stack);
        EXPECT_NEAR(std::hypot(error.deviation, error.own), discrepancy.memory_on(stack).deviation, 1e-12)
            << stack;
        EXPECT_NEAR(error.own / error.deviation, discrepancy.memory_of_plan / discrepancy.memory, 1e-12)
            << stack;
    }
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name == "discrepancy.toml") {
            const std::string dated = file.text.substr(file.text.find("constants, ") + 11, 10);
            EXPECT_EQ(discrepancy_text(discrepancy, dated), file.text);
        }
    }
}

}  // namespace
}  // namespace prismopt

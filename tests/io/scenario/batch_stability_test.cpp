#include "io/scenario/batch_stability.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Llama 3 405B in batches of 512 to this number of sequences of 8,192 tokens.
Scenario batches_up_to(int most, const std::string& more = "")
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/jobs/scenarios/global-batch.toml");
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto put = [&text](const std::string& old, const std::string& replacement) {
        text.replace(text.find(old), old.size(), replacement);
    };
    put("[512, 1024, 2048, 4096, 8192]", "[512, " + std::to_string(most) + "]");
    put("factor = 4", "factor = 4\n" + more + "\n");
    return parse_scenario(text, "global-batch.toml");
}

TEST(BatchStability, NamesTheNearestRuns)
{
    const std::string small = batch_stability_text(batches_up_to(2100));
    EXPECT_THAT(small, HasSubstr("nearest stable run: llama3-405b"));
    EXPECT_THAT(small, HasSubstr("nearest unstable run: glm-130b"));
    EXPECT_THAT(small, HasSubstr("2304.09871"));
    EXPECT_THAT(batch_stability_text(batches_up_to(8192)), HasSubstr("nearest stable run: deepseek-v3"));
    // A learning rate unlike its own makes a run more distant.
    EXPECT_THAT(batch_stability_text(batches_up_to(2100, "learning_rate = 2.2e-4")),
                HasSubstr("nearest unstable run: palm-540b"));
}

/// A network of so many layers of 12.6e6 parameters in these batches of sequences of
/// 1,024 tokens; its phase has 64.
std::string of_network(int layers, const std::string& batches)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/jobs/scenarios/small.toml");
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string space = "[space]\n";
    text.replace(text.find(space), space.size(),
                 "[learning]\nreference_batch = 65536\ncritical_batch = 1e6\nsource = \"test\"\n" + space +
                     "global_batch = " + batches + "\n");
    const std::string count = "count = 8";
    text.replace(text.find(count), count.size(), "count = " + std::to_string(layers));
    return batch_stability_text(parse_scenario(text, "small.toml"));
}

TEST(BatchStability, NamesRunsOfComparableSize)
{
    const std::string text = of_network(500, "[64, 4096]");
    EXPECT_THAT(text, HasSubstr("nearest stable run: olmo2-7b"));
    EXPECT_THAT(text, HasSubstr("nearest unstable run: olmo-0424-7b (7 B parameters, batches of 4.2 M "
                                "tokens, learning rate 0.0003, "
                                "epsilon 1e-05)"));
    EXPECT_THAT(of_network(8, "[64, 4096]"),
                HasSubstr("nearest unstable run: none with 15.3 M to 1.53 B parameters"));
}

TEST(BatchStability, AsksNothingOfBatchesThatAreNotLarger)
{
    EXPECT_THAT(of_network(8, "[32, 64]"), IsEmpty());
    EXPECT_THAT(of_network(8, "[64, 128]"), testing::Not(IsEmpty()));
}

TEST(BatchStability, AsksNothingOfScenariosThatLimitOrDoNotChooseTheBatch)
{
    EXPECT_THAT(batch_stability_text(batches_up_to(8192, "max_global_batch = 8192")), IsEmpty());
    std::ifstream file(PRISMOPT_SOURCE_DIR "/jobs/scenarios/small.toml");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_THAT(batch_stability_text(parse_scenario(text, "small.toml")), IsEmpty());
}

TEST(BatchStability, CatalogHasStableAndUnstableRuns)
{
    std::set<bool> kinds;
    for (const BatchRun& run : batch_runs()) {
        kinds.insert(run.stable);
        EXPECT_GT(run.batch, 1e6) << run.name;
        EXPECT_GT(run.parameters, 1e9) << run.name;
    }
    EXPECT_EQ(kinds.size(), 2U);
}

}  // namespace
}  // namespace prismopt

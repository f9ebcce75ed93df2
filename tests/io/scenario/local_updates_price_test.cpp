#include "io/scenario/local_updates_price.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include "model/network/network.hpp"
#include "model/run/loss_gap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string replaced(std::string text, const std::string& old, const std::string& by)
{
    return text.replace(text.find(old), old.size(), by);
}

/// Llama 3 8B in two buildings of 16,384 H100.
std::string text_of(const std::string& steps, const std::string& price)
{
    std::ifstream file(std::string(PRISMOPT_SOURCE_DIR) + "/jobs/scenarios/buildings.toml");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = replaced(text, "llama3-405b", "llama3-8b");
    return replaced(text, "[space]\n", price + "[space]\n" + steps);
}

Scenario parsed(const std::string& steps, const std::string& price)
{
    return parse_scenario(text_of(steps, price), "with_local_steps.toml");
}

const std::string with_local_steps = "local_steps = [1, 30]\n";
const std::string published = "[local_updates]\nloss_gap = \"published\"\n";

TEST(LocalUpdatesSection, ThePublishedGapIsConvertedToTokens)
{
    const Scenario scenario = parsed(with_local_steps, published);
    EXPECT_EQ(most_buildings(scenario), 2);
    const LocalUpdates price = local_updates_of(scenario, scenario.workload, tokens_to_the_loss(scenario));
    ASSERT_EQ(price.by_groups.size(), 3U);
    EXPECT_EQ(price.by_groups[2], 1.0) << "two groups lose nothing at 8e9 parameters";
    const auto eight =
        parse_scenario(replaced(text_of(with_local_steps, published), "group = 16384", "group = 4096"),
                       "with_local_steps.toml");
    const LocalUpdates more = local_updates_of(eight, eight.workload, tokens_to_the_loss(eight));
    const double parameters = parameters_of(network_of(eight.workload));
    EXPECT_EQ(more.by_groups.at(8), *tokens_despite_gap(parameters, 15.6e12, 0.011) / 15.6e12);
    EXPECT_THAT(local_updates_text(eight), HasSubstr("extrapolated"));
}

TEST(LocalUpdatesSection, RefusesWhatHasNoPrice)
{
    const auto refused = [](const std::string& steps, const std::string& price) {
        return [=] { parsed(steps, price); };
    };
    const std::string given = "[local_updates]\nmore_tokens = ";
    EXPECT_THAT(refused(with_local_steps, ""), ThrowsMessage<InputError>(HasSubstr("needs [local_updates]")));
    EXPECT_THAT(refused("", published), ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused("local_steps = [1]\n", given + "0.1\n"),
                ThrowsMessage<InputError>(HasSubstr("has no effect")));
    EXPECT_THAT(refused(with_local_steps, "[local_updates]\n"),
                ThrowsMessage<InputError>(HasSubstr("more_tokens")));
    EXPECT_THAT(refused(with_local_steps, published + "more_tokens = 0.1\n"),
                ThrowsMessage<InputError>(HasSubstr("combined")));
    EXPECT_THAT(refused("local_steps = [500]\n", published),
                ThrowsMessage<InputError>(HasSubstr("up to 300 steps")));
    EXPECT_THAT(refused(with_local_steps, given + "-0.1\n"), ThrowsMessage<InputError>(HasSubstr("not in")));
    EXPECT_THAT(refused(with_local_steps, given + "[{ local_steps = 20, share = 0.1 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("no effect")));
    EXPECT_THAT(refused("local_steps = [20, 30]\n", given + "[{ local_steps = 20, share = 0.1 }]\n"),
                ThrowsMessage<InputError>(HasSubstr("lacks local_steps = 30")));
    const auto of_text = [](const std::string& old, const std::string& by) {
        return [=] {
            parse_scenario(replaced(text_of(with_local_steps, published), old, by), "with_local_steps.toml");
        };
    };
    EXPECT_THAT(of_text("group = 16384", "group = 2048"),
                ThrowsMessage<InputError>(HasSubstr("16 buildings")));
    EXPECT_THAT(of_text("gpus = [32768]", "gpus = [16384]"),
                ThrowsMessage<InputError>(HasSubstr("one building")));
    EXPECT_THAT(of_text("crossing = [\"dp\", ", "crossing = ["),
                ThrowsMessage<InputError>(HasSubstr("no replicas cross")));
}

}  // namespace
}  // namespace prismopt

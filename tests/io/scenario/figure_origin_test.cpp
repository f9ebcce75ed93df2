#include "io/scenario/figure_origin.hpp"
#include "io/scenario/reading/read_scenario.hpp"

#include "io/authoring/starter_scenario.hpp"
#include "io/scenario/gpu_price.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "io/toml/quantity.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Scenario starter(const std::string& accelerator)
{
    StarterChoice choice;
    choice.workload = "llama3-8b";
    choice.accelerator = accelerator;
    choice.gpus = 64;
    return parse_scenario(starter_scenario(choice), "starter.toml");
}

TEST(FigureOrigin, StartersMarkWhatNobodyHasGiven)
{
    const Scenario tpu = starter("tpu-v5p");
    EXPECT_EQ(price_origin(tpu), FigureOrigin::placeholder);
    EXPECT_EQ(power_origin(tpu), FigureOrigin::placeholder);
    EXPECT_THAT(placeholders(tpu), ElementsAre("cluster.accelerator_override.power", "cluster.gpu_price"));
    EXPECT_DOUBLE_EQ(tpu.cluster.gpu_price.si * 3600.0, 1.0);
    EXPECT_DOUBLE_EQ(tpu.cluster.accelerator.power.si, 500.0);
    EXPECT_FALSE(placeholders_text(tpu).empty());

    const Scenario h100 = starter("h100-sxm");
    EXPECT_EQ(price_origin(h100), FigureOrigin::catalog);
    EXPECT_EQ(power_origin(h100), FigureOrigin::catalog);
    EXPECT_THAT(placeholders(h100), IsEmpty());
    EXPECT_TRUE(placeholders_text(h100).empty());
}

/// What a placeholder decides is refused with the key to give.
TEST(FigureOrigin, NothingIsRankedByAPlaceholder)
{
    const Scenario tpu = starter("tpu-v5p");
    EXPECT_EQ(ranked_placeholder(tpu), "");  // it minimises GPU-hours
    EXPECT_THAT(ranked_placeholder(tpu, {"gpus", "cost"}),
                HasSubstr("cost would rank plans by the price of a GPU-hour, which is a placeholder; give "
                          "gpu_price in [cluster]"));
    EXPECT_THAT(ranked_placeholder(tpu, {"energy"}), HasSubstr("give power in accelerator_override"));
    EXPECT_THAT(ranked_placeholder(tpu, {"cluster_power"}), HasSubstr("give power in accelerator_override"));
    EXPECT_EQ(ranked_placeholder(tpu, {"training_time_p99", "gpu_hours", "memory"}), "");

    Question question{.minimise = QuestionAim::gpus};
    EXPECT_EQ(ranked_placeholder(tpu, question), "");
    question.budget_usd = 1e6;
    EXPECT_THAT(ranked_placeholder(tpu, question), HasSubstr("gpu_price"));
    question.budget_usd = 0.0;
    question.power_limit = Watts{1e6};
    EXPECT_THAT(ranked_placeholder(tpu, question), HasSubstr("accelerator_override"));
    EXPECT_EQ(ranked_placeholder(starter("h100-sxm")), "");
}

TEST(FigureOrigin, ElectricityIsGivenOrAPlaceholder)
{
    const auto with = [](const std::string& price) {
        return parse_scenario(std::string(good) + "\n[power]\nhost = \"300 W\"\nelectricity_price = \"" +
                                  price + "\"\n",
                              "x.toml");
    };
    const Scenario given = with("80 USD/MWh");
    EXPECT_EQ(electricity_origin(given), FigureOrigin::given);
    EXPECT_EQ(electricity_text(given), "0.08 USD/kWh (given)");
    EXPECT_THAT(power_text(given), HasSubstr("PUE 1.09"));
    EXPECT_THAT(power_text(given), HasSubstr("profile us-hyperscale; host given"));
    EXPECT_TRUE(follows_power(given, "cost"));
    const Scenario placeholder = with("0.08 USD/kWh (placeholder)");
    EXPECT_EQ(electricity_origin(placeholder), FigureOrigin::placeholder);
    EXPECT_THAT(ranked_placeholder(placeholder, {"cost"}), HasSubstr("give electricity_price in [power]"));
    const Scenario none = parse_scenario(good, "x.toml");
    EXPECT_EQ(electricity_origin(none), FigureOrigin::unknown);
    EXPECT_EQ(electricity_text(none), "");
    EXPECT_FALSE(follows_power(none, "cost"));
}

TEST(FigureOrigin, AGivenPriceIsGiven)
{
    EXPECT_EQ(price_origin(parse_scenario(good, "x.toml")), FigureOrigin::given);
}

TEST(FigureOrigin, TheMarkFollowsTheUnit)
{
    EXPECT_EQ(std::get<double>(parse_si("500 W (placeholder)", Dimension::power, "500 W")), 500.0);
    EXPECT_TRUE(std::holds_alternative<Complaint>(parse_si("500 W (about)", Dimension::power, "500 W")));
    EXPECT_TRUE(std::holds_alternative<Complaint>(parse_si("500 (placeholder)", Dimension::power, "500 W")));
}

TEST(ScenarioNotes, NameTheSoftwareThatIsNotGiven)
{
    std::string text = good;
    const std::string section = "[software]\nname = \"reference\"\n";
    text.erase(text.find(section), section.size());
    EXPECT_TRUE(software_text(parse_scenario(good, "x.toml")).empty());
    EXPECT_FALSE(software_text(parse_scenario(text, "x.toml")).empty());
}

}  // namespace
}  // namespace prismopt

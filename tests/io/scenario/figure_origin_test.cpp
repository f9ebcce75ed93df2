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

TEST(FigureOrigin, AGivenPriceIsGiven) { EXPECT_EQ(price_origin(parse_scenario(good, "x.toml")), FigureOrigin::given); }

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

#include "io/scenario/gpu_price.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"

#include "io/authoring/starter_scenario.hpp"
#include "io/html/page_data.hpp"
#include "io/report/report.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string listed_text()
{
    std::string text = good;
    const std::string given = "gpu_price = \"3.60 USD/h\"";
    return text.replace(text.find(given), given.size(), "");
}

const std::string listed_price =
    "3.43 USD per GPU-hour (catalog list price: AWS p4de.24xlarge, 8 GPUs for 27.45 USD/h, us-east-1, 2026 "
    "(skypilot-org/skypilot-catalog); gpu_price in [cluster] overrides it)";

TEST(GpuPrice, SaysWhereItIsFrom)
{
    EXPECT_EQ(gpu_price_text(parse_scenario(good, "x.toml")), "3.60 USD per GPU-hour (given)");
    EXPECT_EQ(gpu_price_text(parse_scenario(listed_text(), "x.toml")), listed_price);
}

TEST(GpuPrice, IsNeverZero)
{
    EXPECT_EQ(hourly(DollarsPerSecond{12.29 / 3600.0}), "12.29 USD/h");
    EXPECT_EQ(hourly(DollarsPerSecond{0.00125 / 3600.0}), "0.00125 USD/h");
}

TEST(GpuPrice, SaysWhatTheHardwareAdds)
{
    Scenario scenario = parse_scenario(good, "x.toml");
    Cluster dearer = scenario.cluster;
    dearer.gpu_price.si += 0.25 / 3600.0;
    EXPECT_EQ(gpu_price_text(scenario, scenario.cluster), "3.60 USD per GPU-hour (given)");
    EXPECT_EQ(gpu_price_text(scenario, dearer),
              "3.60 USD per GPU-hour (given), +0.25 from its [[knob]] parameters");
    scenario.choices = {{.name = "memory", .hardware = HardwareParameter{}}};
    // A hardware parameter without a price.
    EXPECT_EQ(gpu_price_text(scenario), "3.60 USD per GPU-hour (given)");
    scenario.choices[0].hardware->price_per_unit.si = 1e-15;
    EXPECT_EQ(gpu_price_text(scenario),
              "3.60 USD per GPU-hour (given), plus the prices of its [[knob]] parameters");
}

TEST(GpuPrice, IsInReports)
{
    Results results = sample_results();
    EXPECT_THAT(text_report(results), Not(HasSubstr("Costs")));  // a scenario of another version
    results.study.scenario_text = listed_text();
    EXPECT_THAT(text_report(results), HasSubstr("\nCosts are at " + listed_price + ".\n"));
    const auto page = page_data({ReportedStudy{results, "a", "a.h5", {}, ""}}, "", {}, 1 << 20);
    EXPECT_EQ(page["studies"][0]["price"], listed_price);
}

TEST(GpuPrice, OfStarterScenariosIsTheAcceleratorsOwn)
{
    for (const auto& [accelerator, price] :
         {std::pair{"h100-sxm", "6.88"}, {"gb200", "16.24"}, {"mi300x", "6.00"}}) {
        StarterChoice choice;
        choice.workload = "llama3-70b";
        choice.accelerator = accelerator;
        choice.gpus = 1152;
        const std::string text = starter_scenario(choice);
        EXPECT_THAT(text, HasSubstr("\n# gpu_price = \"" + std::string(price) + " USD/h\"  "));
        EXPECT_THAT(text, HasSubstr(list_price(accelerator)->source + "\n"));
        EXPECT_NEAR(parse_scenario(text, "x.toml").cluster.gpu_price.si * 3600.0, std::stod(price), 1e-9);
    }
}

}  // namespace
}  // namespace prismopt

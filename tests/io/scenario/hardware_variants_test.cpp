#include "io/scenario/hardware_variants.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(HardwareVariants, TextsHoldTheirValues)
{
    std::vector<Knob> knobs;
    std::vector<double> values;
    for (const auto& [target, value] : {std::pair{KnobTarget::bandwidth, 65.5e9},
                                        {KnobTarget::latency, 1.25e-6},
                                        {KnobTarget::aggregate, 1.5e12},
                                        {KnobTarget::group, 72.0},
                                        {KnobTarget::oversubscription, 3.5},
                                        {KnobTarget::memory, 80e9},
                                        {KnobTarget::memory_bandwidth, 3.35e12},
                                        {KnobTarget::compute, 989.5e12},
                                        {KnobTarget::power, 700.0}}) {
        Knob& knob = knobs.emplace_back();
        knob.target = target;
        knob.name = "tier." + std::string(name(target));
        values.push_back(value);
        EXPECT_FALSE(knob_units(target).empty());
    }
    const std::string text = hardware_text(knobs, values);
    EXPECT_NE(text.find("tier.bandwidth=65.5GB/s tier.latency=1.25us "), std::string::npos) << text;
    EXPECT_NE(text.find(" tier.group=72 "), std::string::npos) << text;
    const auto read = hardware_values(knobs, text);
    ASSERT_TRUE(read.has_value());
    for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_NEAR((*read)[k] / values[k], 1.0, 1e-12) << knobs[k].name;
    }
    EXPECT_EQ(hardware_text(knobs, *read), text);
}

TEST(HardwareVariants, TextsOfOtherKnobsHaveNone)
{
    std::vector<Knob> knobs(1);
    knobs.front().name = "node.bandwidth";
    EXPECT_TRUE(hardware_values(knobs, "node.bandwidth=900GB/s").has_value());
    for (const char* text : {"", "node.bandwidth", "node.bandwidth=", "node.bandwidth=900GB", "node.latency=900GB/s",
                             "node.bandwidth=xGB/s", "node.bandwidth=900GB/s node.group=8"}) {
        EXPECT_FALSE(hardware_values(knobs, text).has_value()) << text;
    }
}

}  // namespace
}  // namespace prismopt

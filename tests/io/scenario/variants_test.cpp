#include "io/scenario/variants.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(HardwareVariants, TextsHoldTheirValues)
{
    std::vector<HardwareParameter> hardware_parameters;
    std::vector<double> values;
    for (const auto& [target, value] : {std::pair{HardwareTarget::bandwidth, 65.5e9},
                                        {HardwareTarget::latency, 1.25e-6},
                                        {HardwareTarget::aggregate, 1.5e12},
                                        {HardwareTarget::group, 72.0},
                                        {HardwareTarget::oversubscription, 3.5},
                                        {HardwareTarget::memory, 80e9},
                                        {HardwareTarget::memory_bandwidth, 3.35e12},
                                        {HardwareTarget::compute, 989.5e12},
                                        {HardwareTarget::power, 700.0}}) {
        HardwareParameter& parameter = hardware_parameters.emplace_back();
        parameter.target = target;
        parameter.name = "tier." + std::string(name(target));
        values.push_back(value);
        EXPECT_FALSE(parameter_units(target).empty());
    }
    const std::string text = hardware_text(hardware_parameters, values);
    EXPECT_NE(text.find("tier.bandwidth=65.5GB/s tier.latency=1.25us "), std::string::npos) << text;
    EXPECT_NE(text.find(" tier.group=72 "), std::string::npos) << text;
    const auto read = hardware_values(hardware_parameters, text);
    ASSERT_TRUE(read.has_value());
    for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_NEAR((*read)[k] / values[k], 1.0, 1e-12) << hardware_parameters[k].name;
    }
    EXPECT_EQ(hardware_text(hardware_parameters, *read), text);
}

TEST(HardwareVariants, TextsOfOtherParametersHaveNone)
{
    std::vector<HardwareParameter> hardware_parameters(1);
    hardware_parameters.front().name = "node.bandwidth";
    EXPECT_TRUE(hardware_values(hardware_parameters, "node.bandwidth=900GB/s").has_value());
    for (const char* text : {"", "node.bandwidth", "node.bandwidth=", "node.bandwidth=900GB", "node.latency=900GB/s",
                             "node.bandwidth=xGB/s", "node.bandwidth=900GB/s node.group=8"}) {
        EXPECT_FALSE(hardware_values(hardware_parameters, text).has_value()) << text;
    }
}

}  // namespace
}  // namespace prismopt

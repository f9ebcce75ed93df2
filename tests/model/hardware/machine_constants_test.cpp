#include "model/hardware/machine_constants.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace prismopt {
namespace {

/// A misspelt key is no other constant.
TEST(MachineConstants, RefuseUnknownKeys)
{
    EXPECT_THROW(constant_of<Accelerator>("gem"), std::invalid_argument);
    EXPECT_THROW(constant_of<NetworkTier>("efficency"), std::invalid_argument);
    EXPECT_THROW(constant_of<SoftwareStack>("hosts"), std::invalid_argument);
    EXPECT_THROW(constant_of<CollectiveLibrary>(""), std::invalid_argument);
}

template <class Owner>
void expect_each_key_once()
{
    for (const MachineConstant<Owner>& row : constants_of<Owner>()) {
        Owner owner;
        constant_of<Owner>(row.key).of(owner) = 7.0;
        EXPECT_EQ(row.of(owner), 7.0) << row.key;
    }
}

TEST(MachineConstants, HaveAKeyOfTheirOwn)
{
    expect_each_key_once<Accelerator>();
    expect_each_key_once<NetworkTier>();
    expect_each_key_once<SoftwareStack>();
    expect_each_key_once<CollectiveLibrary>();
}

TEST(MachineConstants, MakeAMachineSlower)
{
    NetworkTier tier;
    tier.bandwidth = BytesPerSecond{4e9};
    tier.efficiency = 0.8;
    tier.latency = Seconds{1e-6};
    slow_down(tier, 2.0);
    EXPECT_EQ(tier.bandwidth.si, 4e9);
    EXPECT_EQ(tier.efficiency, 0.4);
    EXPECT_EQ(tier.latency.si, 2e-6);
}

}  // namespace
}  // namespace prismopt

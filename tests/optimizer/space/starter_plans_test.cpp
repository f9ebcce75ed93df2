#include "io/authoring/starter_scenario.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/network/network.hpp"
#include "optimizer/api/plans.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// What init writes for any network of the catalog can be searched, on as many GPUs as hold 18 bytes per
/// parameter in a quarter of their memory.
TEST(StarterPlans, ExistForEveryNetwork)
{
    for (const std::string& name : catalog_workloads()) {
        StarterChoice choice;
        choice.workload = name;
        choice.accelerator = "h100-sxm";
        const double bytes = 18.0 * parameters_of(network_of(catalog_workload(name)));
        choice.gpus = 16;
        while (choice.gpus * 20e9 < bytes) {
            choice.gpus *= 2;
        }
        EXPECT_EQ(first_check(parse_scenario(starter_scenario(choice), name)), "")
            << name << " on " << choice.gpus;
    }
}

}  // namespace
}  // namespace prismopt

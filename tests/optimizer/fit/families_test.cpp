#include "optimizer/fit/families.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/fit/constants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace prismopt {
namespace {

TEST(Families, HaveNoEntryTwiceForAConstant)
{
    const std::vector<EntryFamily>& families = catalog_families();
    EXPECT_GE(families.size(), 18U);
    std::set<std::pair<std::string, std::string>> seen;  // entry and constant
    for (const EntryFamily& family : families) {
        EXPECT_GE(family.entries.size(), 2U) << family.name;
        if (family.belief) {
            EXPECT_TRUE(family.shared && family.keys.size() == 1U)
                << family.name << ": one value of one constant";
        }
        for (const std::string& entry : family.entries) {
            for (const std::string& key : family.keys) {
                EXPECT_TRUE(seen.insert({entry, key}).second) << family.name << ": " << entry << ", " << key;
            }
        }
    }
}

/// Entries of a family that shares its constants have one value in the catalog, and one constant in the fit.
TEST(Families, ThatShareHaveOneConstant)
{
    Machines machines = Machines::of_catalog();
    int shared = 0;
    for (const EntryFamily& family : catalog_families()) {
        if (!family.shared || family.file != "stacks.toml") {
            continue;
        }
        ++shared;
        std::vector<MeasuredRun> runs = shipped_runs().runs;
        runs.resize(1);
        runs.front().workload = catalog_workload("llama3-8b");  // which all constants of stacks concern
        runs.front().cluster.stack = machines.stacks.at(family.entries.back());
        const std::vector<FitConstant> constants = fitted_constants(runs);
        for (const std::string& key : family.keys) {
            const auto value = [&](const std::string& entry) {
                return constant_of<SoftwareStack>(key).of(machines.stacks.at(entry));
            };
            for (const std::string& entry : family.entries) {
                EXPECT_EQ(value(entry), value(family.entries.front())) << entry << ", " << key;
            }
            const auto found =
                std::find_if(constants.begin(), constants.end(), [&](const FitConstant& constant) {
                    return constant.key == key &&
                           std::count(constant.sections.begin(), constant.sections.end(),
                                      family.entries.back()) > 0;
                });
            ASSERT_NE(found, constants.end()) << key;
            EXPECT_THAT(found->sections, testing::UnorderedElementsAreArray(family.entries)) << key;
        }
    }
    EXPECT_GE(shared, 1);
}

/// Only stacks whose experts come from C++ have that cost, and share it.
TEST(Families, LaunchesFromCAreFittedWhereTheCatalogHasThem)
{
    const Machines machines = Machines::of_catalog();
    std::vector<MeasuredRun> runs = shipped_runs().runs;
    runs.resize(1);
    runs.front().workload = catalog_workload("qwen3-30b-a3b");
    runs.front().cluster.stack = machines.stacks.at("megatron-bridge");
    int found = 0;
    for (const FitConstant& constant : fitted_constants(runs)) {
        for (const std::string& entry : constant.sections) {
            if (constant.key == "host_native") {
                ++found;
                EXPECT_GT(machines.stacks.at(entry).host_native.si, 0.0) << entry;
            }
        }
    }
    EXPECT_GE(found, 5);
}

}  // namespace
}  // namespace prismopt

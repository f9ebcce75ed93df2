#include "optimizer/fit/families.hpp"

#include <gtest/gtest.h>

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
        for (const std::string& entry : family.entries) {
            for (const std::string& key : family.keys) {
                EXPECT_TRUE(seen.insert({entry, key}).second) << family.name << ": " << entry << ", " << key;
            }
        }
    }
}

}  // namespace
}  // namespace prismopt

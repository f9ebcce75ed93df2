#include "model/hardware/kernel_class.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace prismopt {
namespace {

TEST(KernelClass, HasItsOwnName)
{
    std::set<std::string_view> names;
    for (const KernelClassRow& row : kernel_class_rows) {
        names.insert(row.name);
        EXPECT_FALSE(row.help.empty()) << row.name;
        EXPECT_EQ(name(row.kernel), row.name);
    }
    for (const Named<Collective>& kind : names_of<Collective>) {
        names.insert(kind.name);  // kinds and classes are asked for side by side
    }
    EXPECT_EQ(names.size(), kernel_classes + names_of<Collective>.size());
}

TEST(KernelClass, IsFoundByGroupAndKind)
{
    for (const KernelClassRow& row : kernel_class_rows) {
        if (row.group) {
            EXPECT_EQ(row.kind ? class_of(*row.group, *row.kind) : class_of(*row.group), row.kernel)
                << row.name;
            EXPECT_TRUE(is_within(row.kernel, class_of(*row.group))) << row.name;
        }
    }
    // This kind has no class of its own.
    EXPECT_EQ(class_of(ProcessGroup::expert, Collective::all_reduce), KernelClass::expert_collective);
}

/// Scenarios that name only these, but for waits for the host, which vary as elementwise kernels
/// do, say something of every class.
TEST(KernelClass, IsWithinOneOfSixOrWaits)
{
    std::set<std::string_view> outermost_names;
    for (const KernelClassRow& row : kernel_class_rows) {
        outermost_names.insert(name(outermost(row.kernel)));
        EXPECT_TRUE(is_within(row.kernel, row.kernel));
        EXPECT_TRUE(is_within(row.kernel, outermost(row.kernel)));
        EXPECT_EQ(is_within(outermost(row.kernel), row.kernel), outermost(row.kernel) == row.kernel);
        EXPECT_TRUE(!row.varies_as ||
                    (row.within == row.kernel && row_of(*row.varies_as).within == *row.varies_as));
    }
    EXPECT_EQ(outermost_names, (std::set<std::string_view>{"gemm", "attention", "elementwise", "host_wait",
                                                           "tp_collective", "p2p", "dp_collective"}));
}

TEST(KernelSpeeds, AreOfAClassAndAllWithinIt)
{
    KernelSpeeds speeds;
    speeds.multiply(KernelClass::sharded_collective, 2.0);
    speeds.multiply(KernelClass::sharded_all_gather, 3.0);
    for (const KernelClassRow& row : kernel_class_rows) {
        const double expected = row.kernel == KernelClass::sharded_all_gather            ? 6.0
                                : is_within(row.kernel, KernelClass::sharded_collective) ? 2.0
                                                                                         : 1.0;
        EXPECT_EQ(speeds.of(row.kernel), expected) << row.name;
    }
}

}  // namespace
}  // namespace prismopt

#include "io/authoring/catalog_list.hpp"
#include "tests/io/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace prismopt {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// A line for each entry, with what its numbers rest on.
TEST(CatalogList, HasALineForEachEntry)
{
    const Catalog& catalog = Catalog::built_in();
    for (const std::string& kind : listed_kinds()) {
        const std::string text = catalog_list(kind, catalog);
        EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
                  catalog.names(kind).size())
            << kind;
        for (const std::string& name : catalog.names(kind)) {
            EXPECT_THAT("\n" + text, HasSubstr("\n" + name + " ")) << kind;
        }
    }
}

TEST(CatalogList, SaysWhatEntriesAre)
{
    const Catalog& catalog = Catalog::built_in();
    const std::string accelerators = catalog_list("accelerators", catalog);
    EXPECT_THAT(accelerators,
                ContainsRegex("rtx-4090 +165.2 TFLOP/s in 16 bits, 23.99 GiB at 1008 GB/s +declared\n"));
    EXPECT_THAT(
        accelerators,
        ContainsRegex(
            "h100-sxm +989.4 TFLOP/s in 16 bits, 79.65 GiB at 3350 GB/s +fitted to [0-9]+ measured runs\n"));
    EXPECT_THAT(catalog_list("links", catalog),
                ContainsRegex("eth-10g +between nodes, 1.25 GB/s .10 Gb/s. per direction.* declared\n"));
    EXPECT_THAT(catalog_list("links", catalog),
                ContainsRegex("nvlink4 +inside nodes, 450 GB/s .* fitted to [0-9]+ measured runs\n"));
    EXPECT_THAT(
        catalog_list("instances", catalog),
        ContainsRegex(
            "p5en.48xlarge +8 x h200-sxm, network of 3200 Gb/s .efa-3200g., 63.30 USD/h +16 x 200 Gb/s"));
    EXPECT_THAT(catalog_list("workloads", catalog), ContainsRegex("llama3-8b +8.03 B parameters, 32 layers"));
    EXPECT_THAT(refusal_of([&] { catalog_list("accelerator", catalog); }),
                HasSubstr("(did you mean 'accelerators'?)"));
}

}  // namespace
}  // namespace prismopt

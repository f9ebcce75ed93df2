#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The note on the memory of this accelerator; empty: none.
std::string note_on(const std::string& accelerator, const std::string& memory)
{
    const std::string changes =
        memory.empty() ? "" : "accelerator_override = { memory = \"" + memory + "\" }\n";
    return parse_scenario(with("accelerator = \"a100-sxm-80gb\"\n",
                               "accelerator = \"" + accelerator + "\"\n" + changes),
                          "x.toml")
        .units;
}

/// Vendors' GB are often GiB: a hand-written number is then less than the driver shows.
TEST(MemoryUnits, AreDoubtedWhereCardsHaveMore)
{
    EXPECT_THAT(note_on("h100-sxm", "80 GB"),
                HasSubstr("memory = \"80 GB\" of h100-sxm (changed): vendors' GB are often GiB, and "
                          "the driver of h100-sxm shows 81559 MiB; write"));
    EXPECT_THAT(note_on("rtx-4090", "24 GB"), HasSubstr("the driver of rtx-4090 shows 24564 MiB"));
    // Described as another card, whose driver is not that of this one.
    EXPECT_THAT(note_on("h100-sxm", "288 GB"), HasSubstr("vendors' GB are often GiB; write memory in MiB"));
}

TEST(MemoryUnits, AreDoubtedAmongVariedParameters)
{
    const std::string varied = "\n[[knob]]\nof = \"memory\"\nvalues = [\"80 GB\", \"81559 MiB\"]\n";
    const std::string h100 =
        with("accelerator = \"a100-sxm-80gb\"\n", "accelerator = \"h100-sxm\"\n") + varied;
    EXPECT_THAT(parse_scenario(h100, "x.toml").units,
                HasSubstr("memory = \"80 GB\" of h100-sxm: vendors' GB are often GiB, and the driver of "
                          "h100-sxm shows 81559 MiB"));
}

TEST(MemoryUnits, AreTakenAsTheyAreElsewhere)
{
    EXPECT_EQ(note_on("h100-sxm", ""), "");
    EXPECT_EQ(note_on("gaudi3", ""), "");  // the catalog's own GB
    EXPECT_EQ(note_on("h100-sxm", "81559 MiB"), "");
    EXPECT_EQ(note_on("h100-sxm", "80 GiB"), "");
    EXPECT_EQ(note_on("h100-sxm", "160 GB"), "");  // of no card
}

TEST(MemoryUnits, AreAmongTheNotes)
{
    const std::string changed = with("gpus = 64", "gpus = 64\naccelerator_override = { memory = \"80 GB\" }");
    EXPECT_THAT(scenario_notes(parse_scenario(changed, "x.toml")),
                Contains(HasSubstr("vendors' GB are often GiB")));
}

}  // namespace
}  // namespace prismopt

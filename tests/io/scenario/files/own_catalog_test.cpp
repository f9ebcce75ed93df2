#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/fields.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace prismopt {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

/// The entry of the program under another name, with its section.
std::string copied(const std::string& kind, const std::string& name, const std::string& own)
{
    std::string text;
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name == kind + ".toml") {
            text = file.text;
        }
    }
    const std::string heading = "[" + name;
    std::istringstream lines(text);
    std::string result;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('[')) {
            inside = line.starts_with(heading + "]") || line.starts_with(heading + ".");
            if (inside) {
                line = "[" + kind + "." + own + line.substr(heading.size());
            }
        }
        result += inside ? line + "\n" : "";
    }
    return result;
}

std::string replaced(std::string text, const std::string& old, const std::string& now)
{
    text.replace(text.find(old), old.size(), now);
    return text;
}

class OwnCatalog : public testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder.file(name)) << text;
        return folder.file(name);
    }
    Scenario read(const std::string& text) const { return read_scenario(written("scenario.toml", text)); }

    const TemporaryFolder folder;
    const std::string named = "catalog = [\"site.toml\"]\n" + replaced(good, "a100-sxm-80gb", "chip-x");
    const std::string chip = copied("accelerators", "a100-sxm-80gb", "chip-x");
};

TEST(Catalog, DocumentsEachKindOfEntries)
{
    std::vector<std::string> documented;
    for (const KeyInfo& key : catalog_table().keys()) {
        documented.push_back(key.key);
    }
    EXPECT_THAT(documented, UnorderedElementsAreArray(catalog_kinds().begin(), catalog_kinds().end()));
}

TEST_F(OwnCatalog, HasTheEntriesOfAFileBesideTheScenario)
{
    written("site.toml", chip);
    const Scenario scenario = read(named);
    Accelerator expected = catalog_accelerator("a100-sxm-80gb");
    expected.name = "chip-x";
    expected.catalog_entry = "";
    EXPECT_EQ(scenario.cluster.accelerator, expected);
    EXPECT_THAT(scenario_notes(scenario), Contains(HasSubstr("accelerators chip-x")));
}

/// As from a results file, without the other file; and with the lines of the user's file in messages.
TEST_F(OwnCatalog, IsWrittenIntoTheText)
{
    written("site.toml", chip);
    const Scenario scenario = read("# a comment\n" + named);
    EXPECT_EQ(std::count(scenario.text.begin(), scenario.text.end(), '\n'),
              std::count(named.begin(), named.end(), '\n') + 1);
    const Scenario again = parse_scenario(scenario.text, "stored.toml");
    EXPECT_EQ(again.cluster.accelerator, scenario.cluster.accelerator);
    EXPECT_EQ(again.text, scenario.text);
}

TEST_F(OwnCatalog, MayBeAListOfSeveralLines)
{
    written("site.toml", chip);
    written("other.toml", copied("links", "nvlink3", "wire-x"));
    const std::string list = "catalog = [\n    \"site.toml\",  # the ] of a comment\n    'other.toml'\n]\n";
    const std::string text =
        list + replaced(replaced(good, "a100-sxm-80gb", "chip-x"), "\"nvlink3\"", "\"wire-x\"");
    const Scenario scenario = read(text);
    EXPECT_EQ(std::count(scenario.text.begin(), scenario.text.end(), '\n'),
              std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(scenario.cluster.tiers.front().bandwidth.si, catalog_link("nvlink3").bandwidth.si);
    EXPECT_THAT(refusal_of([&] { read(replaced(text, "gpus = 64", "gpus = 63")); }),
                HasSubstr("scenario.toml:"));
}

/// Lines of messages are those of the file, though the text begins with the catalog.
TEST_F(OwnCatalog, MayComeFromTheCommand)
{
    const std::string site = written("site.toml", chip);
    const std::string text = replaced(replaced(good, "a100-sxm-80gb", "chip-x"), "seed = 7", "seed = -7");
    const std::string path = written("scenario.toml", text);
    EXPECT_THAT(refusal_of([&] { read_scenario(path, {site}); }), HasSubstr("scenario.toml:2: seed = -7"));
    const std::string broken = written("broken.toml", "name = \"x\"\n= 3\n");
    EXPECT_THAT(refusal_of([&] { read_scenario(broken, {site}); }), HasSubstr("broken.toml:2: "));
    written("scenario.toml", replaced(text, "seed = -7", "seed = 7"));
    EXPECT_EQ(read_scenario(path, {site}).cluster.accelerator.name, "chip-x");
}

TEST_F(OwnCatalog, RefusesWhatItCannotMean)
{
    const auto refused = [&](const std::string& site) {
        written("site.toml", site);
        return refusal_of([&] { read(named); });
    };
    EXPECT_THAT(refused("[accelerator.chip-x]\n"),
                HasSubstr("site.toml:1: unknown key 'accelerator' (did you mean 'accelerators'?)"));
    EXPECT_THAT(refused(chip + "colour = 3\n"), HasSubstr("unknown key 'colour'"));
    EXPECT_THAT(refused(copied("accelerators", "a100-sxm-80gb", "h100-sxm")),
                HasSubstr("has accelerators of that name"));
    EXPECT_THAT(refused("[accelerators.\"chip x\"]\n"), HasSubstr("names of one word"));
    EXPECT_THAT(refused(replaced(chip, "memory_bandwidth = \"2.039 TB/s\"", "memory_bandwidth = 2.039")),
                HasSubstr("memory_bandwidth = 2.039 has no unit"));
    EXPECT_THAT(refused("accelerators = 3\n"), HasSubstr("site.toml:1: accelerators = 3"));
    std::filesystem::remove(folder.file("site.toml"));
    EXPECT_THAT(refusal_of([&] { read(named); }), HasSubstr("site.toml is not a file"));
    EXPECT_THAT(refusal_of([&] { parse_scenario(named, "stored.toml"); }),
                HasSubstr("only a scenario that is read from a file"));
}

TEST_F(OwnCatalog, MarksItsPlaceholders)
{
    written("site.toml", replaced(chip, "\"400 W\"", "\"400 W (placeholder)\""));
    EXPECT_THAT(placeholders(read(named)), ElementsAre("accelerators.chip-x.power in site.toml"));
}

TEST_F(OwnCatalog, MarksWhatFollowsFromItsPlaceholders)
{
    const std::string prices =
        "[prices.chip-x]\nlist = { price = \"4 USD/h (placeholder)\", source = \"a guess\" }\n";
    std::string text = named;
    text.erase(text.find("gpu_price"), text.find('\n', text.find("gpu_price")) + 1 - text.find("gpu_price"));
    written("site.toml", replaced(chip, "\"400 W\"", "\"400 W (placeholder)\"") + prices);
    EXPECT_EQ(price_origin(read(text)), FigureOrigin::placeholder);
    EXPECT_EQ(power_origin(read(text)), FigureOrigin::placeholder);
    written("site.toml", chip + replaced(prices, " (placeholder)", ""));
    EXPECT_EQ(price_origin(read(text)), FigureOrigin::given);
    EXPECT_EQ(price_origin(read(named)), FigureOrigin::given);
}

TEST_F(OwnCatalog, SaysWhereAnEntryRefersToNothing)
{
    const auto refused = [&](const std::string& site) {
        written("site.toml", chip + site);
        return refusal_of([&] { read(named); });
    };
    EXPECT_THAT(refused("[usual_clusters.chip-x]\nnode_gpus = 8\nnode_link = \"wet-string\"\nnetwork_link = "
                        "\"ib-ndr\"\n"),
                HasSubstr("node_link = \"wet-string\" is not one of"));
    EXPECT_THAT(refused("\xff"), HasSubstr("site.toml:"));
    written("site.toml", "# nothing\n");
    EXPECT_THAT(refusal_of([&] { read(named); }), HasSubstr("site.toml has no entries"));
}

TEST_F(OwnCatalog, DistinguishesAcceleratorsOfANameByTheirFigures)
{
    written("site.toml", chip);
    const Accelerator before = read(named).cluster.accelerator;
    written("site.toml", replaced(chip, "2.039 TB/s", "2.5 TB/s"));
    EXPECT_NE(identity_of(read(named).cluster.accelerator), identity_of(before));
    written("site.toml", replaced(chip, "gemm = 0.", "gemm = 0.5  # 0."));  // which measurements correct
    EXPECT_EQ(identity_of(read(named).cluster.accelerator), identity_of(before));
    EXPECT_EQ(identity_of(catalog_accelerator("h100-sxm")), "h100-sxm");
}

/// A name of no stack, which notes would take for one that nobody named.
TEST_F(OwnCatalog, HasNoReferenceStack)
{
    written("site.toml", copied("stacks", "megatron-core", "reference") + chip);
    EXPECT_THAT(refusal_of([&] { read(named); }), HasSubstr("is called \"reference\""));
}

}  // namespace
}  // namespace prismopt

#include "io/authoring/scenario_reference.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/sections.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

namespace prismopt {
namespace {

/// The page in docs is what the program prints.
TEST(ScenarioReference, IsThePageInDocs)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/docs/scenario.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(page, scenario_reference()) << "print it again: prismopt init --reference > docs/scenario.md";
}

/// Every key of every section says what it means and shows a value.
TEST(ScenarioReference, HasAWordOnEveryKey)
{
    std::set<std::string> seen;
    std::size_t keys = 0;
    const std::function<void(const SectionTable&)> visit = [&](const SectionTable& section) {
        if (!seen.insert(section.title()).second) {
            return;
        }
        EXPECT_FALSE(section.help().empty()) << section.title();
        for (const KeyInfo& key : section.keys()) {
            ++keys;
            EXPECT_FALSE(key.help.empty()) << section.title() << " " << key.key;
            EXPECT_FALSE(key.example.empty()) << section.title() << " " << key.key;
            EXPECT_FALSE(key.shapes.empty()) << section.title() << " " << key.key;
            for (const ValueShape& shape : key.shapes) {
                if (shape.kind == ValueShape::Kind::section) {
                    visit(shape.section());
                }
            }
        }
    };
    visit(scenario_table());
    EXPECT_GT(keys, 150U);
}

}  // namespace
}  // namespace prismopt

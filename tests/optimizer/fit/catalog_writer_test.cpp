#include "optimizer/fit/catalog_writer.hpp"
#include "io/toml/catalog_file.hpp"

#include <gtest/gtest.h>

#include <string>

namespace prismopt {
namespace {

TEST(CatalogWriter, GivesEntriesTheValuesOfTheirSiblings)
{
    const std::string text =
        "[a]\npower = \"700 W\"                   # a data sheet\n[a.efficiency]\ngemm = 0.71                "
        "         # fitted\n"
        "[b]\npower = \"500 W\"                     # as a\n[b.efficiency]\ngemm = 0.6                       "
        "   # assumption: as "
        "a\n"
        "memory = 0.5                        # as a, which has none\n# as a\n";
    const std::string expected =
        "[a]\npower = \"700 W\"                   # a data sheet\n[a.efficiency]\ngemm = 0.71                "
        "         # fitted\n"
        "[b]\npower = \"700 W\"                     # as a\n[b.efficiency]\ngemm = 0.71                      "
        "   # assumption: as "
        "a\n"
        "memory = 0.5                        # as a, which has none\n# as a\n";
    EXPECT_EQ(with_values_of_siblings(text), expected);
}

TEST(CatalogWriter, TheCatalogHasTheValuesOfSiblings)
{
    int fitted = 0;
    for (const EmbeddedFile& file : catalog_files()) {
        const std::string text(file.text);
        const bool has_constants = text.find("# fitted ") != std::string::npos;
        fitted += has_constants ? 1 : 0;
        if (has_constants) {
            EXPECT_EQ(with_values_of_siblings(text), text) << file.name;
        }
    }
    EXPECT_GE(fitted, 3);
}

}  // namespace
}  // namespace prismopt

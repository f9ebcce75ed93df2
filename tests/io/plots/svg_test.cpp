#include "io/plots/svg.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(Svg, TextCannotBecomeMarkup)
{
    EXPECT_EQ(escaped("a < b && </text>"), "a &lt; b &amp;&amp; &lt;/text>");
}

TEST(Svg, ADocumentHasTheSizeThatItIsGiven)
{
    const std::string document = svg_document(640.0, 480.0, "<g/>\n");
    EXPECT_EQ(document.substr(0, 5), "<svg ");
    EXPECT_NE(document.find("viewBox=\"0 0 640 480\""), std::string::npos);
    EXPECT_EQ(document.substr(document.size() - 12), "<g/>\n</svg>\n");
}

}  // namespace
}  // namespace prismopt

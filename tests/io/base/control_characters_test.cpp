#include "io/base/control_characters.hpp"

#include <gtest/gtest.h>

namespace prismopt {

namespace {

TEST(ControlCharacters, AreFoundInBothRanges)
{
    EXPECT_EQ(find_control("plain, \xc3\xa9\xe4\xb8\xad"), std::string::npos);
    EXPECT_EQ(find_control("a\nb"), 1U);
    EXPECT_EQ(find_control("a\nb\x1b", "\n\t"), 3U);
    EXPECT_EQ(find_control("a\x7f"), 1U);
    EXPECT_EQ(find_control("ab\xc2\x9b"), 2U);               // U+009B begins a control sequence as ESC [ does
    EXPECT_EQ(find_control("\xc2\xa0"), std::string::npos);  // a no-break space
}

TEST(ControlCharacters, AreNamedAndEscaped)
{
    EXPECT_EQ(control_name("a\nb", 1), "U+000A (line break)");
    EXPECT_EQ(control_name("\xc2\x9b", 0), "U+009B");
    EXPECT_EQ(escape_controls("a\n\xc2\x9b\x1b[31m"), "a\\u000A\\u009B\\u001B[31m");
    EXPECT_EQ(escape_controls("a\nb\r", "\n"), "a\nb\\u000D");
}

}  // namespace

}  // namespace prismopt

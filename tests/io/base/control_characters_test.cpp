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

TEST(ControlCharacters, IncludeBreaksAndChangesOfDirection)
{
    for (const char* text : {"a\u2028", "a\u2029", "a\u202a", "a\u202e", "a\u2066", "a\u2069"}) {
        EXPECT_EQ(find_control(text), 1U) << text;
    }
    // Among them a narrow space, a euro, and a character that is cut off.
    for (const char* text : {"a\u2027", "a\u202f", "a\u2065", "a\u206a", "a\u20ac", "a\xe2\x80"}) {
        EXPECT_EQ(find_control(text), std::string::npos) << text;
    }
    EXPECT_EQ(escape_controls("a\u202eb"), "a\\u202Eb");
    EXPECT_EQ(control_name("\u2028", 0), "U+2028 (line separator)");
    EXPECT_EQ(blank_controls("a\u2028b"), "a b");
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

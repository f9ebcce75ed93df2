#include "model/base/names.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

enum class Color { red, green, none };

constexpr std::array<Named<Color>, 3> rows{
    {{Color::red, "red"}, {Color::green, "green"}, {Color::none, "green-blue"}}};

TEST(Names, ParsesWholeNamesOnly)
{
    EXPECT_EQ(parse("green-blue", rows), Color::none);
    EXPECT_EQ(parse("green", rows), Color::green);
    EXPECT_EQ(parse("gree", rows), std::nullopt);
    EXPECT_EQ(parse("", rows), std::nullopt);
}

TEST(Names, FindsTheFirstRowWhoseNameATextContains)
{
    EXPECT_EQ(first_named_in("dark green-blue", rows, Color::none), Color::green);  // its row is the first
    EXPECT_EQ(first_named_in("greenish red", rows, Color::none), Color::red);
    EXPECT_EQ(first_named_in("grey", rows, Color::none), Color::none);
    EXPECT_EQ(first_named_in("", rows, Color::green), Color::green);
}

}  // namespace
}  // namespace prismopt

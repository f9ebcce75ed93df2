#include "io/toml/toml.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/key_nesting.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismopt {

namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text)
{
    try {
        parse_toml(text, "file.toml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

std::string dotted(int segments, const std::string& segment = "a")
{
    std::string key = segment;
    for (int i = 1; i < segments; ++i) {
        key += "." + segment;
    }
    return key;
}

TEST(Toml, RefusesDeepKeysBeforeItParsesThem)
{
    const std::string key = dotted(40'000);
    const std::vector<std::string> texts{
        fmt::format("{} = 1\n", key),
        fmt::format("x = 2\n[{}]\n", key),
        fmt::format("{} = 1\n", dotted(40'000, "\"a\"")),
        fmt::format("x = {{ {} = 1 }}\n", key),
        fmt::format("x = \"\"\"a\"\"\"\"\n{} = 1\n", key),
        fmt::format("x = \"\\\"\"\n{} = 1\n", key),
        fmt::format("x = '\\'\n{} = 1\n", key),
        fmt::format("x = {:[>40000}", ""),
    };
    for (const std::string& text : texts) {
        EXPECT_THAT(refusal(text), HasSubstr("levels deep")) << text.substr(0, 40);
    }
}

TEST(Toml, CountsLevelsOfKeysAndBracketsOnly)
{
    EXPECT_EQ(deepest_key("a = 1.5 # a.b.c.d\nb = \"a.b.c\"\nc = [1.5, 2.5, 3.5]\n").levels, 2);
    EXPECT_EQ(deepest_key("a.b = { c.d = [ [ 1 ] ] }\n").levels, 5);
    EXPECT_EQ(deepest_key("x = \"\"\"\n[[[[[[\n\"\"\"\ny = '[[['\n").levels, 0);
    EXPECT_EQ(deepest_key("x = 1\n\na.b.c = 1\n").line, 3);
    EXPECT_EQ(refusal(fmt::format("{} = 1\n", dotted(60))), "no error");
    EXPECT_EQ(refusal(fmt::format("x = \"{:.>70000}\"\n", "")), "no error");
}

}  // namespace

}  // namespace prismopt

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

/// The text of `name`, as it is read.
std::string name_refusal(const std::string& text)
{
    try {
        const TomlFile file = parse_toml(text, "file.toml");
        Table table(file.root, file);
        table.at("name", "").text("a name");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Toml, RefusesControlCharactersInTextsAndKeys)
{
    EXPECT_THAT(name_refusal("x = 1\nname = \"evil\\ntouch\"\n"),
                HasSubstr("file.toml:2: name = \"evil\\u000Atouch\" contains the "
                          "control character U+000A (line break)"));
    EXPECT_THAT(name_refusal("name = \"\"\"two\nlines\"\"\"\n"), HasSubstr("U+000A"));
    EXPECT_THAT(name_refusal("name = \"\\u001b[31m\"\n"), HasSubstr("U+001B (escape)"));
    EXPECT_THAT(name_refusal("name = \"\\u009b31m\"\n"), HasSubstr("U+009B"));
    EXPECT_EQ(name_refusal("name = \"caf\\u00e9 \\u4e2d\"\n"), "no error");
    EXPECT_THAT(refusal("\"a\\nb\" = 1\n"), HasSubstr("key \"a\\u000Ab\" contains"));
    EXPECT_THAT(refusal("a = { \"b\\t\" = [1] }\n"), HasSubstr("U+0009 (tab)"));
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

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

TEST(Toml, RefusalsHavePlaceReasonAndRemedy)
{
    try {
        const TomlFile file = parse_toml("a = 1\nname = 3\n", "file.toml");
        Table(file.root, file).at("name", "").text("a name");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.place().file, "file.toml");
        EXPECT_EQ(error.place().line, 2);
        EXPECT_EQ(error.reason(), "name = 3 is an integer (needs a string in quotes)");
        EXPECT_EQ(error.remedy(), "write for example \"a name\"");
        EXPECT_EQ(error.what(), "file.toml:2: " + error.reason() + "; " + error.remedy());
    }
}

/// The value of a key in the text with another value.
std::string shown_with(const std::string& text, const std::string& key, const std::string& value)
{
    const std::string changed = with_value(text, "file.toml", key, value);
    const TomlFile file = parse_toml(changed, "file.toml");
    Table top(file.root, file);
    return key.starts_with("cluster.") ? top.section("cluster", "").at(key.substr(8), "").text("") : changed;
}

TEST(Toml, ChangesOneValue)
{
    const std::string text =
        "name = \"\u00fc\"  # first\n[cluster]\ngpu = \"a\"   # kept\nsizes = [1,\n  2]\n\n[[phase]]\nx = 1\n"
        "[[phase]]\nx = 2\n";
    EXPECT_EQ(
        with_value(text, "f", "cluster.gpu", "\"b c\""),
        "name = \"\u00fc\"  # first\n[cluster]\ngpu = \"b c\"   # kept\nsizes = [1,\n  2]\n\n[[phase]]\nx = "
        "1\n[[phase]]\nx = 2\n");
    EXPECT_THAT(with_value(text, "f", "cluster.sizes", "[3]"), HasSubstr("sizes = [3]\n\n[[phase]]"));
    EXPECT_THAT(with_value(text, "f", "phase[1].x", "5"), HasSubstr("x = 1\n[[phase]]\nx = 5\n"));
    EXPECT_THAT(with_value(text, "f", "name", "\"n\""), HasSubstr("name = \"n\"  # first\n"));
    EXPECT_EQ(shown_with(text, "cluster.other", "\"new\""), "new");
    EXPECT_THAT(with_value(text, "f", "cluster.tier.x", "1"), HasSubstr("\n[cluster.tier]\nx = 1\n"));
    EXPECT_THAT(with_value("a = 1", "f", "b.c", "true"), HasSubstr("a = 1\n\n[b]\nc = true\n"));
    EXPECT_THAT(with_value("[b]", "f", "b.c", "true"), HasSubstr("[b]\nc = true\n"));
}

/// Columns of toml++ are code points, bytes of lines are not.
TEST(Toml, ShowsNumbersAsTheyAreWritten)
{
    const TomlFile file =
        parse_toml("a = [1e3, 0x10]\nb = { name = \"größer, 9\", x = 2.50, y = 1_000 }\n", "f");
    EXPECT_EQ(file.root.children[0].shown, "[1e3, 0x10]");
    EXPECT_EQ(file.root.children[1].children[1].shown, "2.50");
    EXPECT_EQ(file.root.children[1].children[2].shown, "1_000");
}

TEST(Toml, RefusesValuesThatAreNone)
{
    const std::string text = "a = 1\nb = { c = 2 }\n";
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"a", "450 GB/s"},
                                                                                     {"a", "1\nz = 2"},
                                                                                     {"a", ""},
                                                                                     {"b.d", "1"},
                                                                                     {"", "1"},
                                                                                     {"a..b", "1"},
                                                                                     {"a.b", "1"},
                                                                                     {"x[0].y", "1"}}) {
        EXPECT_THROW(with_value(text, "f", key, value), InputError) << key << " = " << value;
    }
}

}  // namespace

}  // namespace prismopt

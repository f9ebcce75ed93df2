#include "io/scenario/files/written_out.hpp"

#include "io/toml/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>

namespace prismopt {

namespace {

constexpr const char* name_pattern = R"("(?:[^"\\]|\\.)*"|'[^']*')";

/// Of a list of names, or of one. Lists may have comments.
std::string pattern_of(const Value& value)
{
    return value.is_list() ? fmt::format(R"(\[(?:[\s,]|{}|#[^\n]*)*\])", name_pattern) : name_pattern;
}

}  // namespace

/// The escapes of JSON are among those of TOML.
std::string toml_string(const std::string& text) { return nlohmann::json(text).dump(); }

std::string with_content(const std::string& text, const Value& value, const std::string& key,
                         const std::string& content)
{
    auto line = text.begin();
    for (int i = 1; i < value.line(); ++i) {
        line = std::find(line, text.end(), '\n') + 1;
    }
    std::smatch found;
    const std::regex named(fmt::format(R"({}["']?\s*=\s*({}))", key, pattern_of(value)));
    if (!std::regex_search(line, text.end(), found, named)) {
        value.fail({"is not on the line of its key", "the content of its file is inserted there",
                    fmt::format("write {} = {}", key, value.is_list() ? "[\"FILE\"]" : "\"FILE\"")});
    }
    const auto breaks = static_cast<std::size_t>(std::count(found[1].first, found[1].second, '\n'));
    return std::string(text.begin(), found[1].first) + content + std::string(breaks, '\n') +
           std::string(found[1].second, text.end());
}

}  // namespace prismopt

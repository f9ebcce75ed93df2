#include "io/scenario/files/written_out.hpp"

#include "io/toml/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace prismopt {

std::string with_content(const std::string& text, const Value& value, const std::string& key, const std::string& content)
{
    auto line = text.begin();
    for (int i = 1; i < value.line(); ++i) {
        line = std::find(line, text.end(), '\n') + 1;
    }
    std::smatch found;
    const std::regex named(key + R"(["']?\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'))");
    if (!std::regex_search(line, text.end(), found, named)) {
        value.fail({"is not on the line of its key", "the content of its file is inserted there",
                    fmt::format("write {} = \"FILE\"", key)});
    }
    return std::string(text.begin(), found[1].first) + content + std::string(found[1].second, text.end());
}

}  // namespace prismopt

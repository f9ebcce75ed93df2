#include "io/base/aligned.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left)
{
    return aligned(rows, std::initializer_list<std::size_t>{left});
}

std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    std::initializer_list<std::size_t> left)
{
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            widths[c] = std::max(widths[c], row[c].size());
        }
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            line += c == 0 ? "" : "  ";
            const bool to_the_left = std::find(left.begin(), left.end(), c) != left.end();
            line += to_the_left ? fmt::format("{:<{}}", row[c], widths[c])
                                : fmt::format("{:>{}}", row[c], widths[c]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace prismopt

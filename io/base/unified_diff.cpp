#include "io/base/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

struct DiffLine {
    char mark = ' ';  // ' ', '-' or '+'
    std::string_view text;
};

/// A longest common subsequence of lines, what only one text has between its members.
std::vector<DiffLine> marked_lines(const std::vector<std::string_view>& a,
                                   const std::vector<std::string_view>& b)
{
    std::size_t same = 0;  // lines at the beginning
    while (same < std::min(a.size(), b.size()) && a[same] == b[same]) {
        ++same;
    }
    std::size_t tail = 0;
    while (tail < std::min(a.size(), b.size()) - same && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
        ++tail;
    }
    const std::size_t n = a.size() - same - tail;
    const std::size_t m = b.size() - same - tail;
    // [i][j]: of the ends from there.
    std::vector<std::vector<std::size_t>> common(n + 1, std::vector<std::size_t>(m + 1, 0));
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = m; j-- > 0;) {
            common[i][j] = a[same + i] == b[same + j] ? common[i + 1][j + 1] + 1
                                                      : std::max(common[i + 1][j], common[i][j + 1]);
        }
    }
    std::vector<DiffLine> lines;
    for (std::size_t i = 0; i < same; ++i) {
        lines.push_back({' ', a[i]});
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && a[same + i] == b[same + j]) {
            lines.push_back({' ', a[same + i]});
            ++i;
            ++j;
        } else if (i < n && (j == m || common[i + 1][j] >= common[i][j + 1])) {
            lines.push_back({'-', a[same + i++]});
        } else {
            lines.push_back({'+', b[same + j++]});
        }
    }
    for (std::size_t k = a.size() - tail; k < a.size(); ++k) {
        lines.push_back({' ', a[k]});
    }
    return lines;
}

/// "12,7"; of no lines, the line before them.
std::string range_text(std::size_t before, std::size_t count)
{
    return fmt::format("{},{}", count == 0 ? before : before + 1, count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& name_before,
                         const std::string& name_after)
{
    constexpr std::size_t context = 3;
    const std::vector<DiffLine> lines = marked_lines(lines_of(before), lines_of(after));
    std::string hunks;
    std::size_t line_a = 0;  // lines of each text before lines[at]
    std::size_t line_b = 0;
    std::size_t at = 0;
    const auto changed_from = [&lines](std::size_t from) {
        return static_cast<std::size_t>(std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(from),
                                                     lines.end(),
                                                     [](const DiffLine& line) { return line.mark != ' '; }) -
                                        lines.begin());
    };
    for (std::size_t change = changed_from(0); change < lines.size(); change = changed_from(at)) {
        const std::size_t begin = std::max(at, change - std::min(change, context));
        std::size_t end = change + 1;  // changes closer than twice the context are one hunk
        for (std::size_t next = changed_from(end); next < lines.size() && next <= end + 2 * context;
             next = changed_from(end)) {
            end = next + 1;
        }
        end = std::min(lines.size(), end + context);
        line_a += begin - at;
        line_b += begin - at;
        std::string text;
        std::size_t of_a = 0;
        std::size_t of_b = 0;
        for (std::size_t k = begin; k < end; ++k) {
            of_a += lines[k].mark != '+' ? 1 : 0;
            of_b += lines[k].mark != '-' ? 1 : 0;
            text += fmt::format("{}{}", lines[k].mark, lines[k].text);
            text += lines[k].text.ends_with('\n') ? "" : "\n\\ No newline at end of file\n";
        }
        hunks += fmt::format("@@ -{} +{} @@\n{}", range_text(line_a, of_a), range_text(line_b, of_b), text);
        line_a += of_a;
        line_b += of_b;
        at = end;
    }
    return hunks.empty() ? "" : fmt::format("--- {}\n+++ {}\n{}", name_before, name_after, hunks);
}

}  // namespace prismopt

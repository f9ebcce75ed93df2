#include "io/toml/nearest.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Edits of one character: insertion, deletion, substitution, or two neighbours swapped (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b)
{
    const std::size_t columns = b.size() + 1;
    std::vector<std::size_t> table((a.size() + 1) * columns);  // table[i * columns + j]: edits from i characters of a to j of b
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            std::size_t& cell = table[i * columns + j];
            if (i == 0 || j == 0) {
                cell = i + j;
                continue;
            }
            const std::size_t substituted = table[(i - 1) * columns + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cell = std::min({table[(i - 1) * columns + j] + 1, table[i * columns + j - 1] + 1, substituted});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cell = std::min(cell, table[(i - 2) * columns + j - 2] + 1);
            }
        }
    }
    return table.back();
}

}  // namespace

bool one_slip(std::string_view text, std::string_view name)
{
    const std::size_t longer = std::max(text.size(), name.size());
    return longer > 1 && longer - std::min(text.size(), name.size()) <= 1 && edits(text, name) == 1;
}

std::string nearest(std::string_view text, const std::vector<std::string>& candidates)
{
    std::string best;
    std::size_t fewest = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t longer = std::max(text.size(), candidate.size());
        if (longer - std::min(text.size(), candidate.size()) >= fewest) {
            continue;
        }
        // As many edits as characters make any name of any other: the two must share something.
        const std::size_t distance = edits(text, candidate);
        if (distance < fewest && distance < longer) {
            best = candidate;
            fewest = distance;
        }
    }
    if (best.empty() && text.size() >= 3) {
        const auto beginning = std::find_if(candidates.begin(), candidates.end(),
                                            [&](const std::string& candidate) { return candidate.starts_with(text); });
        return beginning == candidates.end() ? "" : *beginning;
    }
    return best;
}

std::string listed(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace prismopt

#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace prismopt {

namespace {

using Names = std::vector<std::string>;

/// Edits of one character: insertion, deletion, substitution, or two neighbours
/// swapped (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b)
{
    const std::size_t columns = b.size() + 1;
    // table[i * columns + j]: edits from i characters of a to j of b.
    std::vector<std::size_t> table((a.size() + 1) * columns);
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

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

/// The runs of letters and of digits in lower case: "a", "100", "sxm", "4" of "A100-SXM4".
std::vector<std::string> runs(std::string_view text)
{
    std::vector<std::string> result;
    char before = '-';
    for (const char c : lower(text)) {
        const bool continues = (is_letter(c) && is_letter(before)) || (is_digit(c) && is_digit(before));
        if (continues) {
            result.back() += c;
        } else if (is_letter(c) || is_digit(c)) {
            result.emplace_back(1, c);
        }
        before = c;
    }
    return result;
}

using Runs = std::vector<std::string>;

/// The runs of each word between separators: "a", "100" and "sxm", "4" of "A100-SXM4".
std::vector<Runs> words_of(std::string_view text)
{
    std::vector<Runs> words;
    std::string word;
    for (const char c : std::string(text) + '-') {
        if (is_letter(c) || is_digit(c)) {
            word += c;
        } else if (!word.empty()) {
            words.push_back(runs(word));
            word.clear();
        }
    }
    return words;
}

/// Whether `all` has these words in their order, each as a whole.
bool has_in_order(const Runs& all, const std::vector<Runs>& words)
{
    auto from = all.begin();
    for (const Runs& word : words) {
        const auto found = std::search(from, all.end(), word.begin(), word.end());
        if (found == all.end()) {
            return false;
        }
        from = found + std::ssize(word);
    }
    return !words.empty();
}

/// Letters and digits alone: "rtx4090" of "RTX 4090".
std::string folded(const Runs& words)
{
    std::string text;
    for (const std::string& run : words) {
        text += run;
    }
    return text;
}

/// Candidates that pass, in their order.
template <class Passes>
Names select(const Names& candidates, Passes&& passes)
{
    Names result;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(result), passes);
    return result;
}

/// The candidate with the fewest edits from `text`, if it is plausibly a typing error.
Names nearest_spelling(const std::string& text, const Names& candidates)
{
    Names best;
    std::size_t fewest = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t longer = std::max(text.size(), candidate.size());
        if (longer - std::min(text.size(), candidate.size()) >= fewest) {
            continue;
        }
        // As many edits as characters make any name of any other: the two must share something.
        const std::size_t distance = edits(text, lower(candidate));
        if (distance < fewest && distance < longer) {
            best = {candidate};
            fewest = distance;
        }
    }
    return best;
}

/// Words before the i-th of several names.
std::string_view words_before(std::size_t i, std::size_t names)
{
    if (i == 0) {
        return "did you mean ";
    }
    return i + 1 < names ? ", " : " or ";
}

}  // namespace

bool one_slip(std::string_view text, std::string_view name)
{
    const std::size_t longer = std::max(text.size(), name.size());
    return longer > 1 && longer - std::min(text.size(), name.size()) <= 1 && edits(text, name) == 1;
}

bool same_name(std::string_view a, std::string_view b)
{
    const std::string word = folded(runs(a));
    return !word.empty() && word == folded(runs(b));
}

std::vector<std::string> nearest_names(std::string_view text, const std::vector<std::string>& candidates)
{
    constexpr std::size_t shortest_beginning = 3;  // less is too little to decide
    const Runs written = runs(text);
    const std::vector<Runs> words = words_of(text);
    const std::string word = folded(written);
    Names found =
        select(candidates, [&](const std::string& candidate) { return same_name(candidate, text); });
    if (found.empty() && word.size() >= shortest_beginning) {
        found = select(candidates, [&](const std::string& candidate) {
            return folded(runs(candidate)).starts_with(word);
        });
    }
    if (found.empty() && word.size() >= shortest_beginning) {  // "a100-80gb" for "a100-sxm-80gb"
        found = select(candidates,
                       [&](const std::string& candidate) { return has_in_order(runs(candidate), words); });
    }
    if (found.empty()) {  // "NVIDIA GeForce RTX 4090" for "rtx-4090"
        found = select(candidates, [&](const std::string& candidate) {
            return candidate.size() > 1 && has_in_order(written, words_of(candidate));
        });
        const auto longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
        std::stable_sort(found.begin(), found.end(), longer);
    }
    if (found.empty()) {
        found = nearest_spelling(lower(text), candidates);
    }
    if (found.empty()) {
        // "NVIDIA H100 80GB HBM3" for "h100-sxm", "h100-pcie" and others of that letter and number
        found = select(candidates, [&](const std::string& candidate) {
            const Runs runs_of_candidate = runs(candidate);
            return runs_of_candidate.size() > 2 &&
                   has_in_order(written, {{runs_of_candidate[0], runs_of_candidate[1]}});
        });
    }
    constexpr std::size_t most = 6;
    found.resize(std::min(found.size(), most));
    return found;
}

std::string nearest(std::string_view text, const std::vector<std::string>& candidates)
{
    const Names found = nearest_names(text, candidates);
    return found.empty() ? "" : found.front();
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates, char quote)
{
    const Names found = nearest_names(text, candidates);
    std::string question;
    for (std::size_t i = 0; i < found.size(); ++i) {
        question += fmt::format("{}{}{}{}", words_before(i, found.size()), quote, found[i], quote);
    }
    return question.empty() ? question : question + "?";
}

std::string guess_of(std::string_view text, const std::vector<std::string>& candidates)
{
    const std::string question = did_you_mean(text, candidates, '\'');
    return question.empty() ? question : fmt::format(" ({})", question);
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

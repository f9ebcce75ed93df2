#include "io/scenario/layout_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace prismopt {

namespace {

constexpr std::size_t most_letters = 100'000;  // of a text with all its repetitions written out

/// What stands behind text[at], "*N": N, and `at` behind it; 1 where there is
/// none. Nothing where N is no number.
std::optional<std::size_t> times(std::string_view text, std::size_t& at)
{
    if (at >= text.size() || text[at] != '*') {
        return 1;
    }
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), count);
    at = static_cast<std::size_t>(end - text.data());
    return error == std::errc{} ? std::optional(count) : std::nullopt;
}

/// The text without parentheses and repetitions, or what is wrong with it.
std::variant<std::string, std::string_view> written_out(std::string_view text, bool inside)
{
    std::string letters;
    for (std::size_t at = 0; at < text.size();) {
        std::string unit(1, text[at]);
        if (text[at] == '(' || text[at] == ')') {
            const std::size_t end = text.find(')', at);
            if (inside || text[at] == ')' || end == std::string_view::npos) {
                return std::string_view("its parentheses do not match or are nested");
            }
            const auto within = written_out(text.substr(at + 1, end - at - 1), true);
            if (const auto* wrong = std::get_if<std::string_view>(&within)) {
                return *wrong;
            }
            unit = std::get<std::string>(within);
            at = end;
        }
        ++at;
        const auto count = times(text, at);
        if (!count) {
            return std::string_view("a * is not followed by a number");
        }
        if (*count > most_letters || letters.size() + unit.size() * *count > most_letters) {
            return std::string_view("it is too long");
        }
        for (std::size_t i = 0; i < *count; ++i) {
            letters += unit;
        }
    }
    return letters;
}

/// "ttt" as "t*3".
std::string repeated(char letter, int count)
{
    if (count == 0) {
        return "";
    }
    return count == 1 ? std::string(1, letter) : fmt::format("{}*{}", letter, count);
}

}  // namespace

std::variant<std::vector<Chunk>, std::string> parse_layout(std::string_view text, int predictions)
{
    std::string plain(text);
    std::erase(plain, ',');
    const auto result = written_out(plain, false);
    if (const auto* wrong = std::get_if<std::string_view>(&result)) {
        return std::string(*wrong);
    }
    const auto& letters = std::get<std::string>(result);
    if (const auto at = letters.find_first_not_of("EtmL|"); at != std::string::npos) {
        return fmt::format(
            "'{}' is not one of its letters: E embedding, t layer, m multi-token prediction module, L loss "
            "head, | next chunk",
            letters[at]);
    }
    if (const auto modules = std::count(letters.begin(), letters.end(), 'm'); modules != predictions) {
        return fmt::format("it has {} multi-token prediction modules (m), and the network has {}", modules,
                           predictions);
    }
    const bool once = std::count(letters.begin(), letters.end(), 'E') == 1 &&
                      std::count(letters.begin(), letters.end(), 'L') == 1;
    if (!once || letters.front() != 'E' || letters.back() != 'L') {
        return "it must begin with E, the embedding, and end with L, the loss head, each exactly once";
    }
    if (predictions > 0 && letters.find_first_not_of('m', letters.find('m')) != letters.size() - 1) {
        return "m must stand directly before L: the model holds prediction modules on the stage of the loss "
               "head";
    }
    std::vector<int> units(1, 0);
    for (const char letter : letters) {
        if (letter == 'm') {
            continue;  // part of the head
        }
        if (letter == '|') {
            units.push_back(0);
        } else {
            ++units.back();
        }
    }
    if (const auto empty = std::find(units.begin(), units.end(), 0); empty != units.end()) {
        return fmt::format("chunk {} of {} has no layer", empty - units.begin(), units.size());
    }
    return chunks_of_units(units);
}

std::string layout_text(const std::vector<Chunk>& chunks, int predictions)
{
    std::string text;
    for (const Chunk& chunk : chunks) {
        text += fmt::format("{}{}{}{}{}", text.empty() ? "" : "|", chunk.embedding ? "E" : "",
                            repeated('t', chunk.layers), chunk.head ? repeated('m', predictions) : "",
                            chunk.head ? "L" : "");
    }
    return text;
}

}  // namespace prismopt

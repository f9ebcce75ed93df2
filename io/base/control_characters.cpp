#include "io/base/control_characters.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

/// Of a character of UTF-8 that is a control character here; `bytes` is 0 for others.
struct Control {
    unsigned code = 0;
    std::size_t bytes = 0;
};

/// Breaks of lines and paragraphs; embeddings, overrides and isolates, after which terminals and
/// editors show text in another order.
bool breaks_or_reorders(unsigned code)
{
    return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

Control control_at(std::string_view text, std::size_t position)
{
    const auto byte = static_cast<unsigned char>(text[position]);
    if (byte < 0x20 || byte == 0x7f) {
        return {byte, 1};
    }
    constexpr unsigned char lead_of_c1 = 0xc2;  // U+0080 to U+00BF follow
    if (byte == lead_of_c1 && position + 1 < text.size()) {
        const auto next = static_cast<unsigned char>(text[position + 1]);
        if (next >= 0x80 && next <= 0x9f) {
            return {next, 2};
        }
    }
    constexpr unsigned char lead_of_punctuation = 0xe2;  // U+2000 to U+2FFF follow
    if (byte == lead_of_punctuation && position + 2 < text.size()) {
        const auto second = static_cast<unsigned char>(text[position + 1]);
        const auto third = static_cast<unsigned char>(text[position + 2]);
        const unsigned code = 0x2000U + ((second & 0x3fU) << 6U) + (third & 0x3fU);
        if (breaks_or_reorders(code)) {
            return {code, 3};
        }
    }
    return {};
}

const char* usual_name(unsigned code)
{
    switch (code) {
        case '\t': return " (tab)";
        case '\n': return " (line break)";
        case '\r': return " (carriage return)";
        case 0x1b: return " (escape)";
        case 0x2028: return " (line separator)";
        case 0x2029: return " (paragraph separator)";
        default: return code > 0x2029 ? " (changes the direction of text)" : "";
    }
}

/// The text with `shown(code)` for each control character that is not allowed.
template <class Shown>
std::string with_controls(std::string_view text, std::string_view allowed, const Shown& shown)
{
    std::string changed;
    changed.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const Control control = control_at(text, i);
        if (control.bytes == 0 || allowed.find(text[i]) != std::string_view::npos) {
            changed += text[i];
        } else {
            changed += shown(control.code);
            i += control.bytes - 1;
        }
    }
    return changed;
}

}  // namespace

std::size_t find_control(std::string_view text, std::string_view allowed)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (control_at(text, i).bytes > 0 && allowed.find(text[i]) == std::string_view::npos) {
            return i;
        }
    }
    return std::string_view::npos;
}

std::string control_name(std::string_view text, std::size_t position)
{
    const unsigned code = control_at(text, position).code;
    return fmt::format("U+{:04X}{}", code, usual_name(code));
}

std::string escape_controls(std::string_view text, std::string_view allowed)
{
    return with_controls(text, allowed, [](unsigned code) { return fmt::format("\\u{:04X}", code); });
}

std::string blank_controls(std::string_view text)
{
    return with_controls(text, "", [](unsigned) { return std::string(" "); });
}

}  // namespace prismopt

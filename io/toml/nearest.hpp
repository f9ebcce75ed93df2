#pragma once

/// Suggestions for misspelt names.

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Whether one edit (insertion, deletion, substitution, or swap of neighbouring characters) turns `text` into `name`.
bool one_slip(std::string_view text, std::string_view name);

/// The candidate with the fewest edits from `text` (the first of equals), if it is plausibly a typing error: at most two edits,
/// or one per three characters of a longer text. Otherwise the first candidate that begins with `text` ("h100" for "h100-sxm"),
/// or empty.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

/// The names separated by ", ".
std::string listed(const std::vector<std::string>& names);

}  // namespace prismopt

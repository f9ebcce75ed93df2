#pragma once

/// "Did you mean": the name that a user probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Whether a single edit (a character more, less or different, or two neighbours swapped) makes `name` of `text`.
bool one_slip(std::string_view text, std::string_view name);

/// The candidate with the fewest edits from `text` (the first of equals), or empty when none is so close that slips of the
/// fingers explain it: at most two edits, or one in three characters of a longer text. Where none is, the first that begins
/// with `text` ("h100" for "h100-sxm").
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

/// The names one after the other, separated by ", ".
std::string listed(const std::vector<std::string>& names);

}  // namespace prismopt

#pragma once

/// Suggestions for misspelt names.

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Whether one edit (insertion, deletion, substitution, or swap of neighbouring
/// characters) turns `text` into `name`.
bool one_slip(std::string_view text, std::string_view name);

/// Whether two names have the same letters and digits, whatever their case and
/// separators: "RTX 4090" and "rtx-4090".
bool same_name(std::string_view a, std::string_view b);

/// The candidates that `text` may mean, at most six; case and separators do not count. The first
/// rule that finds any:
/// - the same name;
/// - names that begin so: "h100";
/// - names with these words in order: "a100-80gb" for "a100-sxm-80gb";
/// - names whose words are in the text, the longest first: "NVIDIA GeForce RTX 4090";
/// - the name with the fewest edits (the first of equals), if it is plausibly a typing error: at most two
///   edits, or one per three characters of a longer text;
/// - names whose first letters and number are in the text: "NVIDIA H100 80GB HBM3".
std::vector<std::string> nearest_names(std::string_view text, const std::vector<std::string>& candidates);

/// The first of these, or empty.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

/// The question `did you mean "a" or "b"?`, or empty.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates, char quote = '"');
/// The same in single quotes and in brackets, after a space: " (did you mean 'a' or 'b'?)".
std::string guess_of(std::string_view text, const std::vector<std::string>& candidates);

/// The names separated by ", ".
std::string listed(const std::vector<std::string>& names);

}  // namespace prismopt

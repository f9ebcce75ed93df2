#pragma once

#include <string>
#include <string_view>

namespace prismopt {

/// The text with U+FFFD in place of each byte that is not part of a UTF-8 character (RFC 3629), as names in
/// tables of other encodings have. Outputs in TOML and JSON must be UTF-8.
std::string valid_utf8(std::string_view text);

/// A name or a line of a file as outputs and messages may show it: valid_utf8(),
/// with control characters escaped.
std::string plain_text(std::string_view text);

}  // namespace prismopt

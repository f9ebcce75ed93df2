#pragma once

/// Quoting for command lines that are shown to the user.

#include <string>

namespace prismopt {

/// `text` as one word of a POSIX shell, quoted only if necessary.
std::string shell_word(const std::string& text);

}  // namespace prismopt

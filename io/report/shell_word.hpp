#pragma once

/// Words of command lines that are shown to be run.

#include <string>

namespace prismopt {

/// As a POSIX shell takes it for one word: quoted only where it needs that.
std::string shell_word(const std::string& text);

}  // namespace prismopt

#pragma once

#include <stdexcept>

namespace prismopt {

/// Invalid input; shown to the user, exit code 2. The message has file, line, value, reason and remedy.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace prismopt

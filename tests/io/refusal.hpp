#pragma once

#include "io/base/input_error.hpp"

#include <string>

namespace prismopt {

/// The message of the InputError that `read()` throws; "taken" if it throws none.
template <class Read>
std::string refusal_of(const Read& read)
{
    try {
        read();
    } catch (const InputError& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace prismopt

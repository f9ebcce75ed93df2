#pragma once

#include <string>

namespace prismopt {

/// A file embedded in the program (cmake/embed_files.cmake).
struct EmbeddedFile {
    std::string name;
    std::string text;
};

}  // namespace prismopt

#pragma once

#include <string>

namespace prismopt {

/// A file that the program holds (cmake/embed_files.cmake).
struct EmbeddedFile {
    std::string name;
    std::string text;
};

}  // namespace prismopt

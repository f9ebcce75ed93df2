#pragma once

/// Input of a fuzzing entry as a file, for readers that take a path.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace prismopt {

/// Writes the input to a file; the process has one of each name, which the next input replaces.
inline std::string input_file(const std::uint8_t* data, std::size_t size, const std::string& path)
{
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
        std::abort();  // no place to write: not a finding, but nothing can be found either
    }
    return path;
}

/// A path in /tmp that only this process uses.
inline std::string own_path(const std::string& suffix)
{
    return "/tmp/prismopt-fuzz-" + std::to_string(::getpid()) + suffix;
}

}  // namespace prismopt

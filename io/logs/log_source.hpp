#pragma once

/// A log that may grow: a file, a pipe or standard input, read without waiting for long.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

class LogSource {
public:
    /// `path`: "-" for standard input. `follow`: the end of a file is where it will grow. Throws
    /// InputError if it cannot be opened.
    LogSource(std::string path, bool follow);
    LogSource(const LogSource&) = delete;
    LogSource& operator=(const LogSource&) = delete;
    ~LogSource();

    /// The next text. Empty: nothing for about a fifth of a second, or the end. A file that became shorter is
    /// read from its start. Throws InputError if it cannot be read.
    std::string_view next();
    bool ended() const { return ended_; }
    /// Seconds since a file was written to. Nothing: a pipe.
    std::optional<double> unchanged_s() const;

private:
    std::string path_;
    bool follow_;
    int descriptor_ = -1;
    bool regular_ = false;
    bool ended_ = false;
    std::uint64_t offset_ = 0;
    std::array<char, 65536> buffer_{};
};

}  // namespace prismopt

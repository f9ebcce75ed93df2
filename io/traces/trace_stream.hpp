#pragma once

/// Stream of the bytes of a trace, decompressed if it is a gzip file, in constant memory.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

class TraceStream {
public:
    /// Throws InputError when the file cannot be opened.
    explicit TraceStream(const std::string& path);
    TraceStream(const TraceStream&) = delete;
    TraceStream& operator=(const TraceStream&) = delete;
    ~TraceStream();

    /// The next bytes, empty at the end. Throws InputError if a gzip file is truncated, damaged or followed by other bytes, and
    /// for UTF-16; a UTF-8 byte order mark is skipped. Several gzip members in a row are one file (RFC 1952, 2.2).
    std::string_view next();
    /// The first bytes, which next() delivers again; for detecting the format.
    std::string_view peek();

private:
    class Source;
    std::string_view beginning(std::string_view bytes) const;

    std::string path_;
    std::unique_ptr<Source> source_;
    std::vector<char> buffer_;
    std::string_view peeked_;
    std::size_t delivered_ = 0;
};

}  // namespace prismopt

#pragma once

/// Stream of the bytes of a trace, decompressed if it is a gzip file, in constant memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Bytes that are read of a file. Rows in memory may take several times their bytes in the file, so reading
/// also ends where the machine would run out of memory. gzip packs equal bytes 1000-fold, so that a small
/// file may have any content. The default is three times the largest traces that their authors report:
/// 10,094,463,514 bytes (pytorch/kineto issue 622, one trace of a worker).
inline constexpr std::uint64_t default_content_limit = std::uint64_t{32'000'000'000};

/// The last part of a path, as outputs show it.
std::string file_name(const std::string& path);

class TraceStream {
public:
    /// Throws InputError when the file cannot be opened.
    explicit TraceStream(const std::string& path, std::uint64_t content_limit = default_content_limit);
    TraceStream(const TraceStream&) = delete;
    TraceStream& operator=(const TraceStream&) = delete;
    ~TraceStream();

    /// The next bytes, empty at the end. Throws InputError if a gzip file is truncated, damaged or followed
    /// by other bytes, and for UTF-16, and where there is more content than the limit, or more of it in
    /// memory than the machine has left for it, or a stretch of it that no reader can use: blanks, one line
    /// of a table without an end, one string of JSON without an end; a UTF-8 byte order mark is skipped.
    /// Several gzip members in a row are one file (RFC 1952, 2.2).
    std::string_view next();
    /// The first bytes, which next() delivers again; for detecting the format.
    std::string_view peek();

private:
    class Source;
    class Stretches;
    std::string_view beginning(std::string_view bytes) const;
    void refuse_without_memory();

    std::string path_;
    std::uint64_t content_limit_;
    std::unique_ptr<Source> source_;
    std::unique_ptr<Stretches> stretches_;
    std::vector<char> buffer_;
    std::string_view peeked_;
    std::size_t delivered_ = 0;
    std::uint64_t resident_before_;    // bytes of this process when the file was opened
    std::uint64_t next_memory_check_;  // bytes of content
};

}  // namespace prismopt

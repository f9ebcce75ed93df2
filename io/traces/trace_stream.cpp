#include "io/traces/trace_stream.hpp"

#include "io/scenario.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

gzFile gz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void TraceStream::Close::operator()(void* file) const { gzclose(gz(file)); }

TraceStream::TraceStream(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")), buffer_(buffer_bytes)
{
    if (!file_) {
        throw InputError(path + ": cannot be read; check the name and the permissions");
    }
    gzbuffer(gz(file_.get()), static_cast<unsigned>(buffer_bytes));
}

std::string_view TraceStream::next()
{
    if (!peeked_.empty()) {
        const std::string_view bytes = peeked_;
        peeked_ = {};
        return bytes;
    }
    const int count = gzread(gz(file_.get()), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int error = Z_OK;
    const char* reason = gzerror(gz(file_.get()), &error);
    if (count < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR) {
        throw InputError(fmt::format("{}: {} after {} bytes of content; copy the file again", path_,
                                     error == Z_BUF_ERROR ? "the gzip file is cut off"
                                     : error == Z_ERRNO   ? "cannot be read"
                                                          : fmt::format("the gzip file is damaged ({})", reason),
                                     delivered_ + static_cast<std::size_t>(std::max(0, count))));
    }
    const bool first = delivered_ == 0;
    delivered_ += static_cast<std::size_t>(count);
    if (first) {
        return beginning({buffer_.data(), static_cast<std::size_t>(count)});
    }
    return {buffer_.data(), static_cast<std::size_t>(count)};
}

std::string_view TraceStream::beginning(std::string_view bytes) const
{
    constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
    constexpr std::string_view utf16_marks[] = {"\xFF\xFE", "\xFE\xFF"};
    for (const std::string_view mark : utf16_marks) {
        if (bytes.starts_with(mark)) {
            throw InputError(path_ + ": is text in UTF-16; save it as UTF-8");
        }
    }
    bytes.remove_prefix(bytes.starts_with(utf8_mark) ? utf8_mark.size() : 0);
    return bytes;
}

std::string_view TraceStream::peek()
{
    if (peeked_.empty()) {
        peeked_ = next();
    }
    return peeked_;
}

}  // namespace prismopt

#include "io/traces/trace_stream.hpp"

#include "io/scenario/scenario.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace prismopt {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

}  // namespace

/// A file's content. zlib's own gzread takes no notice of what follows a member and is none.
class TraceStream::Source {
public:
    explicit Source(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")), packed_(buffer_bytes)
    {
        if (!file_) {
            throw InputError(path + ": cannot be read; check the name and the permissions");
        }
        constexpr int gzip_only = 16 + MAX_WBITS;
        if (inflateInit2(&state_, gzip_only) != Z_OK) {
            throw std::bad_alloc();
        }
        refill();
        is_gzip_ = begins_a_member();
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source() { inflateEnd(&state_); }

    /// Bytes written to `content`; 0 at the end.
    std::size_t read(std::vector<char>& content)
    {
        const std::size_t count = is_gzip_ ? unpack(content) : copy(content);
        delivered_ += count;
        return count;
    }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    [[noreturn]] void refuse(const std::string& what) const
    {
        throw InputError(fmt::format("{}: {} after {} bytes of content; copy the file again", path_, what, delivered_));
    }

    /// Reads on, behind what is left to take.
    void refill()
    {
        if (state_.avail_in > 0) {
            std::memmove(packed_.data(), state_.next_in, state_.avail_in);
        }
        const std::size_t read = std::fread(packed_.data() + state_.avail_in, 1, packed_.size() - state_.avail_in, file_.get());
        state_.next_in = packed_.data();
        state_.avail_in += static_cast<unsigned>(read);
        if (std::ferror(file_.get()) != 0) {
            refuse("cannot be read");
        }
    }

    bool begins_a_member() const { return state_.avail_in > 1 && state_.next_in[0] == 0x1F && state_.next_in[1] == 0x8B; }

    std::size_t copy(std::vector<char>& content)
    {
        const std::size_t count = state_.avail_in;
        std::copy(state_.next_in, state_.next_in + count, content.begin());
        state_.avail_in = 0;
        refill();
        return count;
    }

    std::size_t unpack(std::vector<char>& content)
    {
        state_.next_out = reinterpret_cast<unsigned char*>(content.data());  // NOLINT: zlib's bytes are unsigned
        state_.avail_out = static_cast<unsigned>(content.size());
        while (!ended_ && state_.avail_out == content.size()) {
            if (state_.avail_in < 2) {
                refill();
            }
            const int result = inflate(&state_, Z_NO_FLUSH);
            if (result == Z_STREAM_END) {
                next_member(content.size() - state_.avail_out);
            } else if (result == Z_BUF_ERROR && state_.avail_in == 0) {
                refuse("the gzip file is truncated");
            } else if (result != Z_OK) {
                refuse(fmt::format("the gzip file is damaged ({})", state_.msg == nullptr ? "no content" : state_.msg));
            }
        }
        return content.size() - state_.avail_out;
    }

    void next_member(std::size_t unpacked)
    {
        refill();
        ended_ = state_.avail_in == 0;
        if (!ended_ && !begins_a_member()) {
            delivered_ += unpacked;
            refuse("the gzip file is followed by bytes that are not gzip");
        }
        inflateReset(&state_);
    }

    const std::string path_;
    const std::unique_ptr<std::FILE, Close> file_;
    std::vector<unsigned char> packed_;
    z_stream state_{};  // its input is what is left of packed_
    bool is_gzip_ = false;
    bool ended_ = false;
    std::size_t delivered_ = 0;
};

TraceStream::TraceStream(const std::string& path) : path_(path), source_(std::make_unique<Source>(path)), buffer_(buffer_bytes) {}

TraceStream::~TraceStream() = default;

std::string_view TraceStream::next()
{
    if (!peeked_.empty()) {
        const std::string_view bytes = peeked_;
        peeked_ = {};
        return bytes;
    }
    const std::size_t count = source_->read(buffer_);
    const bool first = delivered_ == 0;
    delivered_ += count;
    const std::string_view bytes(buffer_.data(), count);
    return first ? beginning(bytes) : bytes;
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

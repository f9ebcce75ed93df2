#include "io/traces/trace_stream.hpp"

#include "io/base/free_memory.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace prismopt {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

/// Content between two looks at the memory that is left, which take some 100 microseconds.
constexpr std::uint64_t memory_check_bytes = std::uint64_t{16} << 20U;

std::string content_text(std::uint64_t bytes)
{
    constexpr double gb = 1e9;
    return fmt::format("{:.4g} GB", static_cast<double>(bytes) / gb);
}

}  // namespace

/// A file's content. zlib's own gzread takes no notice of what follows a member and is none.
class TraceStream::Source {
public:
    explicit Source(const std::string& path)
        : path_(path), file_(std::fopen(path.c_str(), "rb")), packed_(buffer_bytes)
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
        throw InputError(
            fmt::format("{}: {} after {} bytes of content; copy the file again", path_, what, delivered_));
    }

    /// Reads on, behind the bytes not yet consumed.
    void refill()
    {
        if (state_.avail_in > 0) {
            std::memmove(packed_.data(), state_.next_in, state_.avail_in);
        }
        const std::size_t read =
            std::fread(packed_.data() + state_.avail_in, 1, packed_.size() - state_.avail_in, file_.get());
        state_.next_in = packed_.data();
        state_.avail_in += static_cast<unsigned>(read);
        if (std::ferror(file_.get()) != 0) {
            refuse("cannot be read");
        }
    }

    bool begins_a_member() const
    {
        return state_.avail_in > 1 && state_.next_in[0] == 0x1F && state_.next_in[1] == 0x8B;
    }

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
        state_.next_out =
            reinterpret_cast<unsigned char*>(content.data());  // NOLINT: zlib's bytes are unsigned
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
                refuse(fmt::format("the gzip file is damaged ({})",
                                   state_.msg == nullptr ? "no content" : state_.msg));
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
    z_stream state_{};  // its input is the remainder of packed_
    bool is_gzip_ = false;
    bool ended_ = false;
    std::size_t delivered_ = 0;
};

/// Lengths of stretches without use, over pieces of content.
class TraceStream::Stretches {
public:
    explicit Stretches(const std::string& path) : path_(path) {}

    void add(std::string_view bytes)
    {
        const std::size_t first = bytes.find_first_not_of(blanks);
        if (!begun_ && first != std::string_view::npos) {
            begun_ = true;
            json_ = bytes[first] == '{' || bytes[first] == '[';
        }
        const std::size_t last = bytes.find_last_not_of(blanks);
        blank_ = last == std::string_view::npos ? blank_ + bytes.size() : bytes.size() - 1 - last;
        refuse_beyond(blank_ + (first == std::string_view::npos ? 0 : first), most_blanks,
                      "blanks and empty lines");
        const std::size_t end = json_ ? last_quote(bytes) : bytes.find_last_of("\r\n");
        endless_ = end == std::string_view::npos ? endless_ + bytes.size() : bytes.size() - 1 - end;
        if (begun_) {
            refuse_beyond(endless_, json_ ? longest_json : longest_line,
                          json_ ? "JSON without the name of a value" : "a line without an end");
        }
        const std::size_t slashes = bytes.size() - 1 - bytes.find_last_not_of('\\');  // npos + 1 is 0
        escaped_ = (slashes + (slashes == bytes.size() && escaped_ ? 1 : 0)) % 2 == 1;
    }

private:
    static constexpr std::string_view blanks = " \t\r\n";
    static constexpr std::uint64_t most_blanks = std::uint64_t{16} << 20U;
    static constexpr std::uint64_t longest_line = std::uint64_t{16} << 20U;
    static constexpr std::uint64_t longest_json = std::uint64_t{64} << 20U;

    /// The last quote that is not escaped; an even number of backslashes before it escapes each other.
    std::size_t last_quote(std::string_view bytes) const
    {
        std::size_t quote = bytes.rfind('"');
        while (quote != std::string_view::npos) {
            const std::string_view before = bytes.substr(0, quote);
            std::size_t slashes = before.size() - 1 - before.find_last_not_of('\\');
            slashes += slashes == before.size() && escaped_ ? 1 : 0;
            if (slashes % 2 == 0) {
                return quote;
            }
            quote = quote == 0 ? std::string_view::npos : bytes.rfind('"', quote - 1);
        }
        return quote;
    }

    void refuse_beyond(std::uint64_t length, std::uint64_t most, const char* what) const
    {
        if (length > most) {
            throw InputError(fmt::format(
                "{}: contains more than {} MiB of {}, which no trace or table has; check what wrote it",
                path_, most >> 20U, what));
        }
    }

    const std::string path_;
    bool begun_ = false;  // content other than blanks
    bool json_ = false;
    bool escaped_ = false;       // the next byte is
    std::uint64_t blank_ = 0;    // at the end so far
    std::uint64_t endless_ = 0;  // at the end so far: of a line, or since the last quote of JSON
};

std::string file_name(const std::string& path) { return plain_text(path.substr(path.find_last_of('/') + 1)); }

TraceStream::TraceStream(const std::string& path, std::uint64_t content_limit)
    : path_(path), content_limit_(content_limit), source_(std::make_unique<Source>(path)),
      stretches_(std::make_unique<Stretches>(path)), buffer_(buffer_bytes),
      resident_before_(resident_memory()), next_memory_check_(memory_check_bytes)
{
}

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
    if (delivered_ > content_limit_) {
        throw InputError(
            fmt::format("{}: has more than {} of content, decompressed; divide it, or raise the limit with "
                        "--max-content",
                        path_, content_text(content_limit_)));
    }
    if (delivered_ > next_memory_check_) {
        refuse_without_memory();
        next_memory_check_ += memory_check_bytes;
    }
    if (!bytes.empty()) {
        stretches_->add(bytes);
    }
    return first ? beginning(bytes) : bytes;
}

/// Rows are held until all are read, in lists that grow by doubling; then they are sorted and fitted.
void TraceStream::refuse_without_memory()
{
    // of what the rows so far hold: a list that doubles; fitting takes 1.5 times (docs/traces.md)
    constexpr std::uint64_t times_more = 2;
    const std::uint64_t resident = resident_memory();
    const std::uint64_t held = resident > resident_before_ ? resident - resident_before_ : 0;
    const std::uint64_t left = free_memory();
    if (held > left / times_more) {
        throw InputError(
            fmt::format("{}: its rows take {} of memory after {} of content, and {} are left; to read and "
                        "fit them takes up "
                        "to {} times more; give a part of the file, or use a machine with more memory",
                        path_, content_text(held), content_text(delivered_), content_text(left), times_more));
    }
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

#include "io/base/csv_stream.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <limits>
#include <new>
#include <utility>

namespace prismopt {

namespace {

/// Longest field: names of kernels with templates have some thousands of bytes. More is no table.
constexpr std::size_t longest_field = std::size_t{1} << 16;

/// Of a field or line whose end has not been read yet, and which libcsv or this reader keeps.
constexpr std::size_t longest_open_field = std::size_t{1} << 24;

/// What spreadsheet programs write before UTF-8 text.
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool binary(std::string_view text)
{
    return std::any_of(text.begin(), text.end(),
                       [](unsigned char c) { return c < 9 || (c > 13 && c < 32) || c == 127; });
}

/// What libcsv calls back. Fields go into one text with their ends, so that a line allocates nothing. libcsv
/// is C: exceptions must not pass through it; they are kept, and thrown behind it.
class Lines {
public:
    Lines(const std::string& path, const TableReader& reader) : path_(path), reader_(reader)
    {
        if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0) {
            throw std::bad_alloc();
        }
        csv_set_delim(&parser_, static_cast<unsigned char>(reader.separator));
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() { csv_free(&parser_); }

    void read(std::string_view bytes)
    {
        if (!began_ && bytes.starts_with(byte_order_mark)) {
            bytes.remove_prefix(byte_order_mark.size());
        }
        began_ = true;
        check(csv_parse(&parser_, bytes.data(), bytes.size(), on_field, on_end, this) == bytes.size());
        if (parser_.entry_pos > longest_open_field || text_.size() > longest_open_field) {
            refuse(
                "has a field without an end, or a line without one; check the quotes and what wrote the "
                "table");
        }
    }
    void finish()
    {
        check(csv_fini(&parser_, on_field, on_end, this) == 0);
        if (columns_ == 0 && reader_.start) {
            throw InputError(path_ + ": is empty; give a table with a header line");
        }
    }

private:
    static void on_field(void* bytes, std::size_t count, void* lines)
    {
        static_cast<Lines*>(lines)->guarded(&Lines::add_field, {static_cast<const char*>(bytes), count});
    }
    static void on_end(int end, void* lines)
    {
        const char c = static_cast<char>(end);
        static_cast<Lines*>(lines)->guarded(&Lines::end_line, {&c, 1});
    }
    void guarded(void (Lines::*act)(std::string_view), std::string_view text)
    {
        if (failure_) {
            return;
        }
        try {
            (this->*act)(text);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    void check(bool fine) const
    {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        if (!fine) {
            refuse(
                "has an unterminated quote, or a quote inside an unquoted field; double quotes inside quoted "
                "fields");
        }
    }

    void add_field(std::string_view field)
    {
        if (reader_.start && (field.size() > longest_field || binary(field))) {
            refuse("is not text; give a table of comma-separated values, or a JSON trace");
        }
        text_.append(field);
        ends_.push_back(text_.size());
        last_end_ = 0;
    }

    void end_line(std::string_view end)
    {
        const bool second_half = end.front() == '\n' && last_end_ == '\r' && ends_.empty();
        last_end_ = end.front();
        if (second_half) {
            return;
        }
        ++line_;
        fields_.clear();
        std::size_t begin = 0;
        for (const std::size_t stop : ends_) {
            fields_.push_back(std::string_view(text_).substr(begin, stop - begin));
            begin = stop;
        }
        if (!reader_.start) {
            reader_.line({fields_, line_});
        } else if (fields_.size() > 1 || !text_.empty()) {
            give();
        }
        text_.clear();
        ends_.clear();
    }

    void give()
    {
        if (columns_ == 0) {
            columns_ = fields_.size();
            std::vector<std::string> header;
            for (const std::string_view name : fields_) {
                header.push_back(escape_controls(name));
            }
            reader_.start(header);
        } else if (fields_.size() == columns_) {
            reader_.line({fields_, line_});
        } else {
            throw InputError(
                fmt::format("{}:{}: has {} fields, but the header has {}; the line is truncated, or a field "
                            "contains an unquoted separator",
                            path_, line_, fields_.size(), columns_));
        }
    }

    [[noreturn]] void refuse(const std::string& what) const
    {
        throw InputError(fmt::format("{}:{}: {}", path_, line_ + 1, what));
    }

    const std::string& path_;
    const TableReader& reader_;
    csv_parser parser_{};
    std::exception_ptr failure_;
    std::string text_;
    std::vector<std::size_t> ends_;
    std::vector<std::string_view> fields_;
    std::size_t columns_ = 0;
    bool began_ = false;
    std::uint32_t line_ = 0;
    char last_end_ = 0;
};

}  // namespace

void read_table(const std::function<std::string_view()>& next, const std::string& path,
                const TableReader& reader)
{
    Lines lines(path, reader);
    for (std::string_view bytes = next(); !bytes.empty(); bytes = next()) {
        lines.read(bytes);
    }
    lines.finish();
}

void read_table(std::string_view text, const std::string& path, const TableReader& reader)
{
    read_table([&text] { return std::exchange(text, {}); }, path, reader);
}

int column(const std::vector<std::string>& header, const std::vector<std::string_view>& names)
{
    for (const std::string_view name : names) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found != header.end()) {
            return static_cast<int>(found - header.begin());
        }
    }
    return -1;
}

double number_in(std::string_view field)
{
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc{} && end == field.data() + field.size()
               ? value
               : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace prismopt

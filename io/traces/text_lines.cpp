#include "io/traces/text_lines.hpp"

#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <sstream>

namespace prismopt {

void for_each_line(TraceStream& stream, const std::string& path, const char* what,
                   const std::function<void(const std::string& line, std::uint32_t number)>& line)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 28;
    std::string all;
    for (std::string_view bytes = stream.next(); !bytes.empty(); bytes = stream.next()) {
        all.append(bytes);
        if (all.size() > most_bytes) {
            throw InputError(
                fmt::format("{}: is not a {} (more than 256 MB); give the lines that matter", path, what));
        }
    }
    std::istringstream lines(all);
    std::uint32_t number = 0;
    for (std::string text; std::getline(lines, text);) {
        line(text, ++number);
    }
}

}  // namespace prismopt

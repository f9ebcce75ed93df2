#include "io/base/launcher_label.hpp"

#include <algorithm>
#include <cctype>

namespace prismopt {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_digits(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "0" after blanks, followed by a colon and a blank.
std::string_view srun_label(std::string_view line, std::size_t first)
{
    const std::size_t colon = line.find(':', first);
    const bool is_label = colon != std::string_view::npos && is_digits(line.substr(first, colon - first)) &&
                          (colon + 1 == line.size() || line[colon + 1] == ' ');
    return is_label ? line.substr(0, colon + 1) : std::string_view();
}

/// "rank0", "default12".
bool is_torchrun_rank(std::string_view inside)
{
    const auto* const digits = std::find_if(inside.begin(), inside.end(), is_digit);
    const bool word =
        std::all_of(inside.begin(), digits, [](unsigned char c) { return std::isalpha(c) != 0; });
    return word && is_digits(inside.substr(static_cast<std::size_t>(digits - inside.begin())));
}

/// "1,0", of a job and a rank, with the daemon's name before.
bool is_mpirun_rank(std::string_view inside)
{
    const std::size_t at = inside.rfind('@');
    inside.remove_prefix(at == std::string_view::npos ? 0 : at + 1);
    const std::size_t comma = inside.find(',');
    return comma != std::string_view::npos && is_digits(inside.substr(0, comma)) &&
           is_digits(inside.substr(comma + 1));
}

}  // namespace

std::string_view launcher_label(std::string_view line)
{
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] != '[') {
        return first == std::string_view::npos ? std::string_view() : srun_label(line, first);
    }
    const std::size_t bracket = line.find(']', first);
    if (bracket == std::string_view::npos) {
        return {};
    }
    const std::string_view inside = line.substr(first + 1, bracket - first - 1);
    const std::string_view after = line.substr(bracket + 1);
    for (const std::string_view stream : {"<stdout>:", "<stderr>:"}) {
        if (is_mpirun_rank(inside) && after.starts_with(stream)) {
            return line.substr(0, bracket + 1 + stream.size());
        }
    }
    return is_torchrun_rank(inside) && after.starts_with(':') ? line.substr(0, bracket + 2)
                                                              : std::string_view();
}

}  // namespace prismopt

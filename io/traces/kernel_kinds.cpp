#include "io/traces/kernel_kinds.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"

#include <fmt/format.h>

namespace prismopt {

std::string kernel_text(std::string_view name)
{
    constexpr std::size_t most = 100;  // of templates; the rest is parameters of the tile
    return plain_text(name.substr(0, most));
}

std::uint16_t kernel_kind(const std::string& name, const KernelNames& names, Trace& trace,
                          const std::string& path)
{
    constexpr std::size_t most = 60'000;  // of the 65,536 that a number of two bytes counts
    if (trace.kinds.size() >= most) {
        throw InputError(fmt::format(
            "{}: has more than {} kinds of kernels; is it the trace of a single job?", path, most));
    }
    return trace.kind_index(escape_controls(name), names);
}

}  // namespace prismopt

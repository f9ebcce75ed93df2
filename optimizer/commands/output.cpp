#include "optimizer/commands/output.hpp"

#include "io/scenario.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace prismopt {

void write_output(const std::string& option, const std::string& path, const std::string& text,
                  const std::vector<std::string>& inputs)
{
    for (const std::string& input : inputs) {
        std::error_code error;
        if (std::filesystem::equivalent(path, input, error)) {
            throw InputError(
                fmt::format("--{} {} is the results file itself, which would be lost; name another file", option, path));
        }
    }
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        throw InputError(fmt::format("--{} {} cannot be written ({}); name a file in a folder that you may write to", option,
                                     path, std::strerror(errno)));
    }
}

}  // namespace prismopt

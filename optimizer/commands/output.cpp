#include "optimizer/commands/output.hpp"

#include "io/base/input_error.hpp"
#include "io/results/posix_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace prismopt {

void refuse_same_outputs(const std::vector<OutputPath>& outputs)
{
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            std::error_code error;
            const auto place = [&error](const std::string& path) {
                return std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
            };
            const bool same = place(outputs[i].path) == place(outputs[j].path);
            if (same && !std::filesystem::is_character_file(outputs[i].path, error)) {
                throw InputError(
                    fmt::format("--{} {} and --{} {} name the same file; name two different files",
                                outputs[j].option, outputs[j].path, outputs[i].option, outputs[i].path));
            }
        }
    }
}

void refuse_input_as_output(const OutputPath& output, const std::vector<std::string>& inputs)
{
    for (const std::string& input : inputs) {
        std::error_code error;
        if (std::filesystem::equivalent(output.path, input, error)) {
            throw InputError(
                fmt::format("--{} {} is an input of this command and would be overwritten; name another file",
                            output.option, output.path));
        }
    }
}

void write_output(const std::string& option, const std::string& path, const std::string& text,
                  const std::vector<std::string>& inputs)
{
    if (path == "-") {
        throw InputError(
            fmt::format("--{} - is not supported; write /dev/stdout for standard output", option));
    }
    refuse_input_as_output({option, path}, inputs);
    try {
        replace_file(path, text);
    } catch (const FileError& error) {
        if (error.wrong_path()) {
            throw InputError(
                fmt::format("--{} {} cannot be written ({}); name a file in a folder with write permission",
                            option, path, error.reason()));
        }
        throw;
    }
}

}  // namespace prismopt

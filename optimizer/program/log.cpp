#include "optimizer/program/log.hpp"

#include "io/base/control_characters.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>

namespace prismopt {

void start_log()
{
    const char* none = std::getenv("NO_COLOR");
    const auto colours = none != nullptr && *none != '\0' ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    const auto log = spdlog::stderr_color_mt("prismopt", colours);
    log->set_pattern("%Y-%m-%d %H:%M:%S %^%l%$: %v");
    spdlog::set_default_logger(log);
}

namespace {

/// Messages repeat parts of files and of the command line, which must not command the terminal.
std::string harmless(const std::string& text) { return escape_controls(text, "\n\t"); }

/// Each line after the first is indented, so that none looks like a dated line of its own.
std::string one_entry(const std::string& text)
{
    std::string indented;
    for (const char c : harmless(text)) {
        if (!indented.empty() && indented.back() == '\n' && c != ' ') {
            indented += "  ";
        }
        indented += c;
    }
    return indented;
}

}  // namespace

void log_info(const std::string& text) { spdlog::info(one_entry(text)); }
void log_warning(const std::string& text) { spdlog::warn(one_entry(text)); }

void print_error(const std::string& text) { std::fputs(("prismopt: " + harmless(text) + "\n").c_str(), stderr); }

}  // namespace prismopt

#include "optimizer/program/log.hpp"

#include "io/base/control_characters.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace prismopt {

namespace {

constexpr const char* log_name = "prismopt";

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

thread_local std::function<void(const std::string&)> receiver_of_thread;

void write_entry(spdlog::level::level_enum level, const std::string& text)
{
    if (receiver_of_thread) {
        receiver_of_thread(text);
    } else if (const auto started = spdlog::get(log_name)) {
        started->log(level, one_entry(text));
    } else {
        print_error(one_entry(text));
    }
}

}  // namespace

void start_log()
{
    const char* none = std::getenv("NO_COLOR");
    const auto colours =
        none != nullptr && *none != '\0' ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    const auto log = spdlog::stderr_color_mt(log_name, colours);
    log->set_pattern("%Y-%m-%d %H:%M:%S %^%l%$: %v");
}

void log_info(const std::string& text) { write_entry(spdlog::level::info, text); }
void log_warning(const std::string& text) { write_entry(spdlog::level::warn, text); }

LogReceiver::LogReceiver(std::function<void(const std::string&)> receive) : outer_(receiver_of_thread)
{
    if (receive) {
        receiver_of_thread = std::move(receive);
    }
}
LogReceiver::~LogReceiver() { receiver_of_thread = std::move(outer_); }

void print_error(const std::string& text)
{
    std::fputs(("prismopt: " + harmless(text) + "\n").c_str(), stderr);
}

}  // namespace prismopt

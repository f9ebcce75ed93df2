#include "optimizer/program/log.hpp"

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

void log_info(const std::string& text) { spdlog::info(text); }
void log_warning(const std::string& text) { spdlog::warn(text); }

void print_error(const std::string& text) { std::fputs(("prismopt: " + text + "\n").c_str(), stderr); }

}  // namespace prismopt

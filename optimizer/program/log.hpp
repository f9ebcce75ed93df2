#pragma once

/// Dated lines on standard error: progress and warnings.

#include <string>

namespace prismopt {

/// Call once, before the first line. Colours only on a terminal, and not if NO_COLOR is set (no-color.org).
void start_log();

void log_info(const std::string& text);
void log_warning(const std::string& text);

/// Prints "prismopt: " and a text on standard error. Never fails: if it cannot write, only the exit code reports the error.
void print_error(const std::string& text);

}  // namespace prismopt

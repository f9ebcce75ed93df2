#pragma once

/// Dated lines on standard error: what happens, and what a user should know of.

#include <string>

namespace prismopt {

/// Once, before the first line. Colours only on a terminal, and not where the user wants none (no-color.org).
void start_log();

void log_info(const std::string& text);
void log_warning(const std::string& text);

/// "prismopt: " and a text on standard error. Never fails: where it cannot be written, the exit code has to do.
void print_error(const std::string& text);

}  // namespace prismopt

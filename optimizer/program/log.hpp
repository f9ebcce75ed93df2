#pragma once

/// Dated lines on standard error: progress and warnings. In a program that has not called
/// start_log(), they have no date.

#include <functional>
#include <string>

namespace prismopt {

/// Call once, before the first line. Colours only on a terminal, and not if NO_COLOR is set (no-color.org).
void start_log();

void log_info(const std::string& text);
void log_warning(const std::string& text);

/// Receives what this thread logs, as long as it lives. An empty function changes nothing.
class LogReceiver {
public:
    explicit LogReceiver(std::function<void(const std::string&)> receive);
    LogReceiver(const LogReceiver&) = delete;
    LogReceiver& operator=(const LogReceiver&) = delete;
    ~LogReceiver();

private:
    std::function<void(const std::string&)> outer_;
};

/// Prints "prismopt: " and a text on standard error. Never fails: if it cannot write, only
/// the exit code reports the error.
void print_error(const std::string& text);

}  // namespace prismopt

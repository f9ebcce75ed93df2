#include "io/logs/log_source.hpp"

#include "io/base/input_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace prismopt {

namespace {

constexpr int wait_ms = 200;

}  // namespace

LogSource::LogSource(std::string path, bool follow) : path_(std::move(path)), follow_(follow)
{
    descriptor_ = path_ == "-" ? STDIN_FILENO : open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
        throw InputError(
            fmt::format("cannot read {}: {}; name the log of the trainer", path_, std::strerror(errno)));
    }
    if (S_ISDIR(status.st_mode)) {
        throw InputError(fmt::format("cannot read {}: it is a folder; name the log of the trainer", path_));
    }
    regular_ = S_ISREG(status.st_mode);
}

LogSource::~LogSource()
{
    if (descriptor_ > STDIN_FILENO) {
        close(descriptor_);
    }
}

std::optional<double> LogSource::unchanged_s() const
{
    struct stat status = {};
    if (!regular_ || descriptor_ == STDIN_FILENO || fstat(descriptor_, &status) != 0) {
        return std::nullopt;
    }
    const auto written = std::chrono::system_clock::from_time_t(status.st_mtime);
    const std::chrono::duration<double> since = std::chrono::system_clock::now() - written;
    constexpr double clocks_differ_s = 60.0;  // of file servers
    if (since.count() < -clocks_differ_s) {
        return std::nullopt;
    }
    return std::max(0.0, since.count());
}

std::string_view LogSource::next()
{
    if (!regular_) {
        pollfd waited{descriptor_, POLLIN, 0};
        if (poll(&waited, 1, wait_ms) <= 0) {
            return {};  // nothing yet, or a signal
        }
    }
    const ssize_t count = read(descriptor_, buffer_.data(), buffer_.size());
    if (count > 0) {
        offset_ += static_cast<std::uint64_t>(count);
        return {buffer_.data(), static_cast<std::size_t>(count)};
    }
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
        throw InputError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
    if (count == 0 && !(follow_ && regular_)) {
        ended_ = true;
    } else if (count == 0) {
        struct stat status = {};
        if (fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) < offset_) {
            lseek(descriptor_, 0, SEEK_SET);
            offset_ = 0;
        }
        poll(nullptr, 0, wait_ms);
    }
    return {};
}

}  // namespace prismopt

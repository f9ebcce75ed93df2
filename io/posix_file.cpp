#include "io/posix_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace prismopt {

namespace {

[[noreturn]] void fail(const std::string& path, int error)
{
    throw std::runtime_error("cannot write " + path + " (" + std::strerror(error) +
                             "); check that its folder exists, may be written to and has space");
}

}  // namespace

PosixFile::PosixFile(std::string path, Open how) : path_(std::move(path))
{
    constexpr mode_t mode = 0666;  // less the user's umask
    descriptor_ = ::open(path_.c_str(), O_CLOEXEC | O_WRONLY | (how == Open::create ? O_CREAT | O_TRUNC : 0), mode);
    if (descriptor_ < 0) {
        fail(path_, errno);
    }
    if (how == Open::append) {
        ::lseek(descriptor_, 0, SEEK_END);
    }
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1))
{
}

PosixFile::~PosixFile()
{
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

bool PosixFile::lock() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void PosixFile::write(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fail(path_, errno);
        }
    }
}

void PosixFile::truncate(std::uint64_t bytes)
{
    const auto end = static_cast<off_t>(bytes);
    if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end) {
        fail(path_, errno);
    }
}

void PosixFile::sync()
{
    if (::fdatasync(descriptor_) != 0) {
        fail(path_, errno);
    }
}

void write_text(const std::string& path, const std::string& text)
{
    PosixFile file(path, PosixFile::Open::create);
    file.write(std::as_bytes(std::span(text)));
}

void sync_folder(const std::string& path)
{
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const int descriptor = ::open(folder.c_str(), O_CLOEXEC | O_RDONLY | O_DIRECTORY);
    if (descriptor >= 0) {
        ::fsync(descriptor);  // some file systems refuse this for folders; the names are then theirs to keep
        ::close(descriptor);
    }
}

}  // namespace prismopt

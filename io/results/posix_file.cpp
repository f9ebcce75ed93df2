#include "io/results/posix_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

namespace prismopt {

namespace {

[[noreturn]] void fail_at(const std::string& path, int error) { throw FileError(path, error); }

/// Where a new file takes the place of the former one, or of a symbolic link. What stands for a device or for
/// an open descriptor does not: /dev/stdout is a link, and may be a regular file that the shell has opened.
bool replaceable(const std::string& path)
{
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::symlink_status(path, unknown);
    const bool on_disk = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
                         std::filesystem::is_symlink(status);
    return !path.starts_with("/dev/") && !path.starts_with("/proc/") && on_disk;
}

/// Whether a file is there that may not be written to; of links, which are replaced, nothing is asked.
bool is_protected(const std::string& path)
{
    std::error_code unknown;
    return !std::filesystem::is_symlink(path, unknown) && ::access(path.c_str(), F_OK) == 0 &&
           ::access(path.c_str(), W_OK) != 0;
}

int flags_of(PosixFile::Open how)
{
    switch (how) {
        case PosixFile::Open::create: return O_CREAT | O_TRUNC;
        case PosixFile::Open::create_new: return O_CREAT | O_EXCL | O_NOFOLLOW;
        case PosixFile::Open::append: return 0;
    }
    return 0;
}

constexpr std::string_view temporary_prefix = ".prismopt-";
constexpr std::string_view temporary_suffix = ".partial";

std::string folder_of(const std::string& path)
{
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
}

/// A name in a folder that nobody can foresee; whether it exists is decided by opening it.
std::string temporary_path(const std::string& folder)
{
    std::random_device source;  // of the system
    const std::uint64_t number = (std::uint64_t{source()} << 32U) | source();
    return fmt::format("{}/{}{:016x}{}", folder, temporary_prefix, number, temporary_suffix);
}

/// A new file in the folder, opened, and its path.
struct TemporaryFile {
    std::string path;
    PosixFile file;
};

/// `target`: of which errors speak.
TemporaryFile create_temporary(const std::string& folder, const std::string& target)
{
    constexpr int attempts = 16;
    for (int attempt = 1;; ++attempt) {
        const std::string path = temporary_path(folder);
        try {
            return {path, PosixFile(path, PosixFile::Open::create_new, target)};
        } catch (const FileError& error) {
            if (error.code() != EEXIST || attempt == attempts) {
                throw;
            }
        }
    }
}

/// Removes what killed processes of this user left in the folder: nobody writes to a file
/// for a day without changing it.
void remove_stale_temporaries(const std::string& folder)
{
    constexpr time_t one_day_s = 86400;
    const time_t now = std::time(nullptr);
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        struct stat status {};
        if (name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix) &&
            ::lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == ::geteuid() && now - status.st_mtime > one_day_s) {
            ::unlink(entry->path().c_str());
        }
    }
}

void write_spans(PosixFile& file, const std::vector<std::span<const std::byte>>& spans)
{
    for (const std::span<const std::byte> own : spans) {
        file.write(own);
    }
}

}  // namespace

FileError::FileError(const std::string& path, int error)
    : std::runtime_error("cannot write " + path + " (" + std::strerror(error) +
                         "); check that its folder exists, may be written to and has space"),
      error_(error)
{
}

std::string FileError::reason() const { return std::strerror(error_); }

bool FileError::wrong_path() const
{
    constexpr std::array of_paths{ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, EROFS, ENAMETOOLONG, ELOOP, EINVAL};
    return std::find(of_paths.begin(), of_paths.end(), error_) != of_paths.end();
}

PosixFile::PosixFile(std::string path, Open how, std::string shown)
    : shown_(shown.empty() ? path : std::move(shown))
{
    constexpr mode_t mode = 0666;  // less the user's umask
    descriptor_ = ::open(path.c_str(), O_CLOEXEC | O_WRONLY | flags_of(how), mode);
    if (descriptor_ < 0) {
        fail_at(shown_, errno);
    }
    if (how == Open::append) {
        ::lseek(descriptor_, 0, SEEK_END);
    }
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : shown_(std::move(other.shown_)), descriptor_(std::exchange(other.descriptor_, -1))
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
            fail_at(shown_, errno);
        }
    }
}

void PosixFile::truncate(std::uint64_t bytes)
{
    const auto end = static_cast<off_t>(bytes);
    if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end) {
        fail_at(shown_, errno);
    }
}

void PosixFile::sync()
{
    if (::fdatasync(descriptor_) != 0) {
        fail_at(shown_, errno);
    }
}

void replace_file(const std::string& path, const std::vector<std::span<const std::byte>>& spans)
{
    if (!replaceable(path)) {
        PosixFile file(path, PosixFile::Open::create);
        write_spans(file, spans);
        return;
    }
    if (is_protected(path)) {
        fail_at(path, EACCES);  // a new file could take its place all the same
    }
    const std::string folder = folder_of(path);
    TemporaryFile fresh = create_temporary(folder, path);
    try {
        write_spans(fresh.file, spans);
        fresh.file.sync();
        if (std::rename(fresh.path.c_str(), path.c_str()) != 0) {
            fail_at(path, errno);
        }
    } catch (...) {
        std::remove(fresh.path.c_str());
        throw;
    }
    sync_folder(path);
    remove_stale_temporaries(folder);
}

void replace_file(const std::string& path, const std::string& text)
{
    replace_file(path, {std::as_bytes(std::span(text))});
}

void make_write_failures_errors()
{
    std::signal(SIGXFSZ, SIG_IGN);
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
        if (::fcntl(standard, F_GETFD) == -1 && errno == EBADF) {
            // The other way round: reading from it, or writing to it, fails as before. open() takes the
            // lowest number that is free.
            ::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

void sync_folder(const std::string& path)
{
    const std::string folder = folder_of(path);
    const int descriptor = ::open(folder.c_str(), O_CLOEXEC | O_RDONLY | O_DIRECTORY);
    if (descriptor >= 0) {
        ::fsync(descriptor);  // some file systems refuse this for folders; the names are then theirs to keep
        ::close(descriptor);
    }
}

}  // namespace prismopt

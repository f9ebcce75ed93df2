#pragma once

/// Durable files: whole writes, syncs, and errors that name the file and the reason given by the system.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace prismopt {

/// Error: a file cannot be written.
class FileError : public std::runtime_error {
public:
    FileError(const std::string& path, int error);

    /// Reason given by the system: "No such file or directory".
    std::string reason() const;

    int code() const { return error_; }  // errno

    /// Whether the path is at fault (missing folder, no permission), so that another name may help; otherwise
    /// the device is at fault (full, over its quota, broken).
    bool wrong_path() const;

private:
    int error_;  // errno
};

/// An open file descriptor. Failures throw FileError.
class PosixFile {
public:
    /// `create` truncates an existing file, `create_new` refuses one and does not follow
    /// symbolic links, `append` requires one.
    enum class Open { create, create_new, append };

    /// `shown`: what errors call the file; empty: its path.
    PosixFile(std::string path, Open how, std::string shown = "");
    PosixFile(PosixFile&& other) noexcept;
    PosixFile& operator=(PosixFile&&) = delete;
    ~PosixFile();

    /// Locks the file for this process until it is closed; false if another process holds the lock. File
    /// systems without locks always return true.
    bool lock() const;
    void write(std::span<const std::byte> bytes);
    /// Truncates the file and continues to write at its end.
    void truncate(std::uint64_t bytes);
    /// Returns when the content is on the device.
    void sync();

private:
    std::string shown_;
    int descriptor_ = -1;
};

/// Writes the parts in order to a new file in the same folder, syncs it and renames it: at any time `path` is
/// the former file or the complete new one, and a failure leaves the former one. The name of the new file,
/// .prismopt-*.partial, is its own: several processes may write to one path, and the last one wins. Such
/// files of a killed process are removed a day later, by the next write to the folder. A symbolic link at
/// `path` is replaced, and the file that it names stays: a name that others may foresee must not lead
/// elsewhere. Devices and pipes are written to directly. Throws FileError.
void replace_file(const std::string& path, const std::vector<std::span<const std::byte>>& spans);
void replace_file(const std::string& path, const std::string& text);

/// Turns failing writes into errors with a message; call it once, first of all. Ignores the signal of
/// a file size limit, and keeps closed standard streams closed, so that no file opened later gets
/// their descriptors and their output.
void make_write_failures_errors();

/// Syncs the folder of `path`, so that a file created or renamed there survives a power failure.
void sync_folder(const std::string& path);

}  // namespace prismopt

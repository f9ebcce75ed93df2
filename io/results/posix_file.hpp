#pragma once

/// Files whose bytes must survive: whole writes, syncs, and errors that name the file and the system's reason.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace prismopt {

/// A file cannot be written.
class FileError : public std::runtime_error {
public:
    FileError(const std::string& path, int error);

    /// The system's: "No such file or directory".
    std::string reason() const;

    /// Whether the path itself is at fault (no such folder, no permission), which another name can mend; otherwise the device is
    /// (full, over its quota, broken).
    bool wrong_path() const;

private:
    int error_;  // errno
};

/// An open file descriptor. Failures throw FileError.
class PosixFile {
public:
    enum class Open { create, append };  // `create` empties a file that exists; `append` needs one

    PosixFile(std::string path, Open how);
    PosixFile(PosixFile&& other) noexcept;
    PosixFile& operator=(PosixFile&&) = delete;
    ~PosixFile();

    /// Claims the file for this process until it is closed; false when another process has it. File systems without locks claim
    /// nothing and say true.
    bool lock() const;
    void write(std::span<const std::byte> bytes);
    /// Cuts the file, and continues to write there.
    void truncate(std::uint64_t bytes);
    /// Returns when the content is on the device.
    void sync();

private:
    std::string path_;
    int descriptor_ = -1;
};

/// Writes the parts, one behind the other, to `path`.partial, syncs that and renames it: at any time `path` is the former file or the
/// whole new one, and where writing fails the former one stays. Devices and pipes are written to directly. Throws FileError.
void replace_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts);
void replace_file(const std::string& path, const std::string& text);

/// Once, first of all: whatever cannot be written is an error from now on, which has a message. The signal of a file size limit is
/// ignored, and standard streams that are closed stay so: no file that is opened later gets their numbers, and their text.
void make_write_failures_errors();

/// Makes the names in the folder of `path` durable: a file that was created or renamed there is found after a power cut.
void sync_folder(const std::string& path);

}  // namespace prismopt

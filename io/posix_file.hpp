#pragma once

/// Files whose bytes must survive: whole writes, syncs, and errors that name the file and the system's reason.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace prismopt {

/// An open file descriptor. Failures throw std::runtime_error.
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

/// The file with this text and nothing else.
void write_text(const std::string& path, const std::string& text);

/// Makes the names in the folder of `path` durable: a file that was created or renamed there is found after a power cut.
void sync_folder(const std::string& path);

}  // namespace prismopt

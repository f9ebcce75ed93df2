#pragma once

/// The append-only log beside a results file (`F.h5.journal`). It is created first and is the truth about a study: whatever
/// was appended before a crash is found again, whatever is damaged is left out and reported.
///
/// Layout, little-endian: the header {magic "PRISMJNL", u32 version, u32 checksum, u64 study} twice, then records
/// {u32 mark, u32 length, u32 checksum, payload of `length` bytes}. Checksums are CRC-32: the header's over all else in it, a
/// record's over length and payload. By its mark a good record is found again behind a damaged one; by its second copy
/// the header outlives damage to the first. What a payload means is the caller's.

#include "io/results/posix_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Tells studies apart: equal for runs that draw the same numbers for the same questions.
std::uint64_t study_hash(std::string_view scenario_text, std::uint64_t seed, std::string_view program_version);

struct JournalContents {
    std::uint64_t study = 0;
    std::vector<std::vector<std::byte>> records;  // the good ones, in the order of the file
    std::vector<std::uint64_t> begins;            // where each of them begins, in bytes of the file
    std::string damage;                           // empty, or what was wrong first, where, and how much is left out
    std::uint64_t good_bytes = 0;                 // of the file, up to the end of the last good record
    std::uint64_t lost_bytes = 0;                 // that belong to no good record
};

/// Throws InputError when the file cannot be opened, is no journal, has a version this program does not know, or neither
/// copy of its header is good.
JournalContents read_journal(const std::string& path);

/// Whether another process is writing this journal. Throws std::runtime_error when the file cannot be opened.
bool journal_in_use(const std::string& path);

class JournalWriter {
public:
    /// Creates the file, or continues one that exists behind its last good record (what is damaged behind it is cut off). Throws
    /// InputError when the file is no journal, belongs to another study or is being written by another process, std::runtime_error when it cannot be written.
    JournalWriter(const std::string& path, std::uint64_t study);

    /// After a failure the journal is as it was before.
    void append(std::span<const std::byte> payload);
    /// Drops all records.
    void clear();
    /// Returns when all that was appended is on the device.
    void sync();

private:
    JournalWriter(const std::string& path, std::uint64_t study, bool exists);

    std::uint64_t end_;  // bytes of good journal
    PosixFile file_;
};

}  // namespace prismopt

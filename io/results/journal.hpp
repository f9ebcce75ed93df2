#pragma once

/// The append-only log of a study (`F.h5.journal`, next to the results file `F.h5`). Records appended before
/// a crash are recovered; damaged records are skipped and reported.
///
/// Layout, little-endian: the header {magic "PRISMJNL", u32 version, u32 checksum, u64 study} twice, then
/// records {u32 mark, u32 length, u32 checksum, payload of `length` bytes}. Checksums are CRC-32: the
/// header's over all else in it, a record's over length and payload. The mark allows finding intact records
/// after a damaged one; the second copy of the header allows reading a journal whose first copy is damaged.
/// The caller defines the payload.

#include "io/results/posix_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Hash that identifies a study: equal for runs that draw the same numbers for the same questions.
std::uint64_t study_hash(std::string_view scenario_text, std::uint64_t seed,
                         std::string_view program_version);

struct JournalContents {
    std::uint64_t study = 0;
    std::vector<std::vector<std::byte>> records;  // intact records, in the order of the file
    std::vector<std::uint64_t> begins;            // where each of them begins, in bytes of the file
    std::string damage;            // empty, or the first damage, its place, and how much is skipped
    std::uint64_t good_bytes = 0;  // of the file, up to the end of the last intact record
    std::uint64_t lost_bytes = 0;  // that belong to no intact record
};

/// Throws InputError when the file cannot be opened, is not a journal, has an unknown version, or both
/// copies of its header are damaged.
JournalContents read_journal(const std::string& path);

/// Whether the file ends before its first record: it is empty, or a part of a header, or a header without an
/// intact record behind it, as a kill at the start of a search leaves it. Throws InputError as
/// read_journal() for other files.
bool journal_is_blank(const std::string& path);

/// Whether another process is writing this journal. Throws std::runtime_error when the file cannot be opened.
bool journal_in_use(const std::string& path);

/// What becomes of an existing journal without a record.
enum class Blank { refused, begun_again };

class JournalWriter {
public:
    /// Creates the file, or continues an existing one after its last intact record (damaged bytes after it
    /// are truncated). Throws InputError when the file is not a journal, belongs to another study or is being
    /// written by another process, std::runtime_error when it cannot be written.
    JournalWriter(const std::string& path, std::uint64_t study, Blank blank = Blank::refused);

    /// Appends a record; after a failure the journal is unchanged.
    void append(std::span<const std::byte> payload);
    /// Drops all records.
    void clear();
    /// Returns when all appended records are on the device.
    void sync();

private:
    JournalWriter(const std::string& path, std::uint64_t study, Blank blank, bool exists);

    void begin(std::uint64_t study);

    std::uint64_t end_;  // end of the intact journal, in bytes
    PosixFile file_;
};

}  // namespace prismopt

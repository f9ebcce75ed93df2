#include "io/results/journal.hpp"

#include "io/base/checksum.hpp"
#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <variant>

namespace prismopt {

namespace {

static_assert(std::endian::native == std::endian::little);

struct Header {
    std::array<char, 8> magic{'P', 'R', 'I', 'S', 'M', 'J', 'N', 'L'};
    // 1 had a zero for the checksum; 2 one header, and no marks; 3 no build and options of its study
    std::uint32_t version = 4;
    std::uint32_t checksum = 0;
    std::uint64_t study = 0;
};
static_assert(sizeof(Header) == 24);
constexpr std::size_t header_copies = 2;
constexpr std::size_t header_bytes = header_copies * sizeof(Header);

constexpr std::array<char, 4> record_mark{'P', 'R', 'E', 'C'};

struct RecordHead {
    std::array<char, 4> mark = record_mark;
    std::uint32_t length = 0;
    std::uint32_t checksum = 0;
};
static_assert(sizeof(RecordHead) == 12);

std::uint32_t checksum(std::uint32_t length, std::span<const std::byte> payload)
{
    return crc32_of({std::as_bytes(std::span(&length, 1)), payload});
}

std::uint32_t checksum(const Header& header)
{
    return crc32_of({std::as_bytes(std::span(header.magic)), std::as_bytes(std::span(&header.version, 1)),
                     std::as_bytes(std::span(&header.study, 1))});
}

/// Whether it is as a program has written it; the first version left the checksum zero.
bool intact(const Header& header)
{
    return header.checksum == checksum(header) || (header.version == 1 && header.checksum == 0);
}

std::vector<std::byte> read_bytes(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
        throw InputError(fmt::format(
            "{} is not a journal (it is not a regular file); give the path of a .journal file", path));
    }
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        throw InputError(
            fmt::format("cannot open {} ({}); give the path of a .journal file", path, std::strerror(errno)));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error(fmt::format("cannot read {} ({})", path, std::strerror(errno)));
    }
    return bytes;
}

/// Which copies of the header are not as they were written; empty: none.
std::string header_damage(std::span<const std::byte> bytes, const Header& good)
{
    std::string text;
    for (std::size_t copy = 0; copy < header_copies; ++copy) {
        if (std::memcmp(bytes.data() + copy * sizeof good, &good, sizeof good) != 0) {
            text = fmt::format("copy {} of the header is damaged; the other copy is intact", copy + 1);
        }
    }
    return text;
}

/// The first good copy.
Header read_header(std::span<const std::byte> bytes, const std::string& path)
{
    const Header expected;
    Header header;
    bool ours = false;
    for (std::size_t at = 0; at < std::max<std::size_t>(1, std::min(bytes.size(), header_bytes));
         at += sizeof header) {
        const std::span<const std::byte> copy = bytes.subspan(at, std::min(bytes.size() - at, sizeof header));
        const std::size_t magic = std::min(copy.size(), header.magic.size());
        ours = ours || (!copy.empty() && std::memcmp(copy.data(), expected.magic.data(), magic) == 0);
        if (copy.size() < sizeof header) {
            continue;
        }
        std::memcpy(&header, copy.data(), sizeof header);
        if (header.magic != expected.magic || !intact(header)) {
            continue;
        }
        if (header.version != expected.version) {
            throw InputError(
                fmt::format("{} is a journal of version {}, but this program reads version {}; continue it "
                            "with the program that wrote it, or start the search again with --force",
                            path, header.version, expected.version));
        }
        if (bytes.size() < header_bytes) {
            break;
        }
        return header;
    }
    if (!ours) {
        throw InputError(fmt::format(
            "{} is not a journal of prismopt (it has no journal signature): another file, or a journal whose "
            "header is damaged; give the path of a .journal file, or start the search again with --force",
            path));
    }
    if (bytes.size() < header_bytes) {
        throw InputError(
            fmt::format("{} is truncated in its header ({} bytes), so it contains no record; delete it and "
                        "start the search again",
                        path, bytes.size()));
    }
    throw InputError(
        fmt::format("{}: its header is damaged (neither copy matches its checksum), so its study is unknown; "
                    "copy the journal again, or start the search again with --force",
                    path));
}

/// The payload of the record that begins here, or why there is none.
std::variant<std::span<const std::byte>, std::string> record_in(std::span<const std::byte> rest)
{
    RecordHead head;
    if (rest.size() < sizeof head) {
        return fmt::format("is truncated ({} bytes present)", rest.size());
    }
    std::memcpy(&head, rest.data(), sizeof head);
    const std::span<const std::byte> behind = rest.subspan(sizeof head);
    if (head.mark != record_mark) {
        return "is damaged (it has no record signature)";
    }
    if (behind.size() < head.length) {
        return fmt::format("is truncated ({} bytes of payload expected, {} present)", head.length,
                           behind.size());
    }
    const std::span<const std::byte> payload = behind.first(head.length);
    if (checksum(head.length, payload) != head.checksum) {
        return "is damaged (its checksum does not match)";
    }
    return payload;
}

/// Where the next good record begins, behind the first byte; the end where there is none.
std::size_t next_good_record(std::span<const std::byte> bytes)
{
    const std::span<const std::byte> mark = std::as_bytes(std::span(record_mark));
    for (auto at = bytes.begin() + 1;; ++at) {
        at = std::search(at, bytes.end(), mark.begin(), mark.end());
        const auto place = static_cast<std::size_t>(at - bytes.begin());
        if (at == bytes.end() || record_in(bytes.subspan(place)).index() == 0) {
            return place;
        }
    }
}

}  // namespace

std::uint64_t study_hash(std::string_view scenario_text, std::uint64_t seed, std::string_view program_version)
{
    // FNV-1a, 64 bits.
    std::uint64_t hash = 0xCBF29CE484222325;
    const auto add = [&](std::span<const std::byte> bytes) {
        for (const std::byte byte : bytes) {
            hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
        }
    };
    // so that no character can move from the text to the version
    const std::uint64_t length = scenario_text.size();
    add(std::as_bytes(std::span(&length, 1)));
    add(std::as_bytes(std::span(scenario_text)));
    add(std::as_bytes(std::span(&seed, 1)));
    add(std::as_bytes(std::span(program_version)));
    return hash;
}

JournalContents read_journal(const std::string& path)
{
    const std::vector<std::byte> bytes = read_bytes(path);
    const Header header = read_header(bytes, path);
    JournalContents contents;
    contents.study = header.study;
    contents.good_bytes = header_bytes;
    contents.damage = header_damage(bytes, header);
    std::size_t places = 0;
    for (std::size_t at = header_bytes; at < bytes.size();) {
        const std::span<const std::byte> rest = std::span(bytes).subspan(at);
        const auto found = record_in(rest);
        if (const auto* payload = std::get_if<std::span<const std::byte>>(&found)) {
            contents.records.emplace_back(payload->begin(), payload->end());
            contents.begins.push_back(at);
            at += sizeof(RecordHead) + payload->size();
            contents.good_bytes = at;
            continue;
        }
        if (places++ == 0) {
            contents.damage += fmt::format("{}record {} at byte {} {}", contents.damage.empty() ? "" : "; ",
                                           contents.records.size(), at, std::get<std::string>(found));
        }
        const std::size_t skipped = next_good_record(rest);
        contents.lost_bytes += skipped;
        at += skipped;
    }
    if (places > 0) {
        contents.damage += fmt::format("; {} of {} bytes are skipped, in {} {}", contents.lost_bytes,
                                       bytes.size(), places, places == 1 ? "place" : "places");
    }
    return contents;
}

bool journal_is_blank(const std::string& path)
{
    const std::vector<std::byte> bytes = read_bytes(path);
    const Header expected;
    const std::size_t magic = std::min(bytes.size(), expected.magic.size());
    if (bytes.size() < header_bytes &&
        std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(magic),
                   std::as_bytes(std::span(expected.magic)).begin())) {
        return true;
    }
    return read_journal(path).records.empty();
}

bool journal_in_use(const std::string& path)
{
    return std::filesystem::is_regular_file(path) && !PosixFile(path, PosixFile::Open::append).lock();
}

JournalWriter::JournalWriter(const std::string& path, std::uint64_t study, Blank blank)
    : JournalWriter(path, study, blank, std::filesystem::exists(path))
{
}

JournalWriter::JournalWriter(const std::string& path, std::uint64_t study, Blank blank, bool exists)
    : end_(header_bytes), file_(path, exists ? PosixFile::Open::append : PosixFile::Open::create_new)
{
    if (!file_.lock()) {
        throw InputError(fmt::format(
            "{} is being written by another prismopt; wait for it, or name another file with --out", path));
    }
    if (exists && blank == Blank::begun_again && journal_is_blank(path)) {
        file_.truncate(0);
        begin(study);
    } else if (exists) {
        const JournalContents contents = read_journal(path);
        if (contents.study != study) {
            throw InputError(
                fmt::format("{} belongs to another study (its scenario, seed or program version differs); "
                            "give another --out, or delete the journal to start again",
                            path));
        }
        end_ = contents.good_bytes;
        file_.truncate(end_);
    } else {
        begin(study);
    }
    file_.sync();
    sync_folder(path);
}

void JournalWriter::begin(std::uint64_t study)
{
    Header header{.study = study};
    header.checksum = checksum(header);
    for (std::size_t copy = 0; copy < header_copies; ++copy) {
        file_.write(std::as_bytes(std::span(&header, 1)));
    }
}

void JournalWriter::append(std::span<const std::byte> payload)
{
    if (payload.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error(
            fmt::format("a journal record of {} bytes exceeds the length field", payload.size()));
    }
    RecordHead head;
    head.length = static_cast<std::uint32_t>(payload.size());
    head.checksum = checksum(head.length, payload);
    std::vector<std::byte> record(sizeof head + payload.size());
    std::memcpy(record.data(), &head, sizeof head);
    std::copy(payload.begin(), payload.end(), record.begin() + sizeof head);
    try {
        file_.write(record);
    } catch (...) {
        file_.truncate(end_);
        throw;
    }
    end_ += record.size();
}

void JournalWriter::clear()
{
    end_ = header_bytes;
    file_.truncate(end_);
}

void JournalWriter::sync() { file_.sync(); }

}  // namespace prismopt

#include "io/journal.hpp"

#include "io/scenario.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <stdexcept>

namespace prismopt {

namespace {

static_assert(std::endian::native == std::endian::little);

struct Header {
    std::array<char, 8> magic{'P', 'R', 'I', 'S', 'M', 'J', 'N', 'L'};
    std::uint32_t version = 2;  // 1 had a zero for the checksum
    std::uint32_t checksum = 0;
    std::uint64_t study = 0;
};
static_assert(sizeof(Header) == 24);

struct RecordHead {
    std::uint32_t length = 0;
    std::uint32_t checksum = 0;
};
static_assert(sizeof(RecordHead) == 8);

constexpr std::array<std::uint32_t, 256> crc_table()
{
    constexpr std::uint32_t polynomial = 0xEDB88320;  // of IEEE 802.3, lowest bit first
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) {
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? polynomial : 0);
        }
        table[byte] = remainder;
    }
    return table;
}

/// Of all parts, one behind the other.
std::uint32_t checksum(std::initializer_list<std::span<const std::byte>> parts)
{
    static constexpr std::array table = crc_table();
    std::uint32_t crc = 0xFFFFFFFF;
    for (const std::span<const std::byte> bytes : parts) {
        for (const std::byte byte : bytes) {
            crc = (crc >> 8) ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
        }
    }
    return ~crc;
}

std::uint32_t checksum(std::uint32_t length, std::span<const std::byte> payload)
{
    return checksum({std::as_bytes(std::span(&length, 1)), payload});
}

std::uint32_t checksum(const Header& header)
{
    return checksum({std::as_bytes(std::span(header.magic)), std::as_bytes(std::span(&header.version, 1)),
                     std::as_bytes(std::span(&header.study, 1))});
}

std::vector<std::byte> read_bytes(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
        throw InputError(path + " is not a journal (it is no regular file); give the path of a .journal file");
    }
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        throw InputError("cannot open " + path + " (" + std::strerror(errno) + "); give the path of a .journal file");
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error("cannot read " + path + " (" + std::strerror(errno) + ")");
    }
    return bytes;
}

Header read_header(std::span<const std::byte> bytes, const std::string& path)
{
    Header header;
    const Header expected;
    const std::size_t magic = std::min(bytes.size(), header.magic.size());
    if (bytes.empty() || std::memcmp(bytes.data(), expected.magic.data(), magic) != 0) {
        throw InputError(path + " is not a journal of prismopt (it does not begin as one); give the path of a .journal file");
    }
    if (bytes.size() < sizeof header) {
        throw InputError(path + " is cut short in its header (" + std::to_string(bytes.size()) +
                         " bytes), so it holds no record; delete it and start the search again");
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != expected.version) {
        throw InputError(path + " is a journal of version " + std::to_string(header.version) +
                         ", and this program reads version " + std::to_string(expected.version) +
                         "; use the program that wrote it");
    }
    if (header.checksum != checksum(header)) {
        throw InputError(path +
                         ": its header is damaged (its checksum does not fit), so nothing says of which study it is; copy the "
                         "journal again, or start the search again with --force");
    }
    return header;
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
    const std::uint64_t length = scenario_text.size();  // so that no character can move from the text to the version
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
    JournalContents contents{.study = header.study, .records = {}, .begins = {}, .damage = {}, .good_bytes = sizeof header};
    while (contents.good_bytes < bytes.size()) {
        const std::span<const std::byte> rest = std::span(bytes).subspan(contents.good_bytes);
        const std::string where =
            "record " + std::to_string(contents.records.size()) + " at byte " + std::to_string(contents.good_bytes);
        RecordHead head;
        if (rest.size() < sizeof head) {
            contents.damage = where + " is cut short (" + std::to_string(rest.size()) + " bytes present)";
            break;
        }
        std::memcpy(&head, rest.data(), sizeof head);
        const std::span<const std::byte> payload = rest.subspan(sizeof head);
        if (payload.size() < head.length) {
            contents.damage = where + " is cut short (" + std::to_string(head.length) + " bytes of payload announced, " +
                              std::to_string(payload.size()) + " present)";
            break;
        }
        if (checksum(head.length, payload.first(head.length)) != head.checksum) {
            contents.damage = where + " is damaged (its checksum does not fit)";
            break;
        }
        contents.records.emplace_back(payload.begin(), payload.begin() + head.length);
        contents.begins.push_back(contents.good_bytes);
        contents.good_bytes += sizeof head + head.length;
    }
    return contents;
}

bool journal_in_use(const std::string& path)
{
    return std::filesystem::is_regular_file(path) && !PosixFile(path, PosixFile::Open::append).lock();
}

JournalWriter::JournalWriter(const std::string& path, std::uint64_t study)
    : JournalWriter(path, study, std::filesystem::exists(path))
{
}

JournalWriter::JournalWriter(const std::string& path, std::uint64_t study, bool exists)
    : end_(sizeof(Header)), file_(path, exists ? PosixFile::Open::append : PosixFile::Open::create)
{
    if (!file_.lock()) {
        throw InputError(path + " is being written by another prismopt; wait for it, or name another file with --out");
    }
    if (exists) {
        const JournalContents contents = read_journal(path);
        if (contents.study != study) {
            throw InputError(path +
                             " belongs to another study (its scenario, seed or program version differs); give another --out, "
                             "or delete the journal to start again");
        }
        end_ = contents.good_bytes;
        file_.truncate(end_);
    } else {
        Header header{.study = study};
        header.checksum = checksum(header);
        file_.write(std::as_bytes(std::span(&header, 1)));
    }
    file_.sync();
    sync_folder(path);
}

void JournalWriter::append(std::span<const std::byte> payload)
{
    if (payload.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("a journal record of " + std::to_string(payload.size()) +
                                " bytes is longer than its length field holds");
    }
    RecordHead head{.length = static_cast<std::uint32_t>(payload.size())};
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
    end_ = sizeof(Header);
    file_.truncate(end_);
}

void JournalWriter::sync() { file_.sync(); }

}  // namespace prismopt

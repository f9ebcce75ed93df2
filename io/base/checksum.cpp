#include "io/base/checksum.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace prismopt {

namespace {

static_assert(std::endian::native == std::endian::little);

using Crc64 = boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, true, true>;

struct SealHead {
    std::array<char, 8> magic{'P', 'R', 'I', 'S', 'M', 'R', 'E', 'S'};
    std::uint32_t version = 1;
    std::uint32_t checksum = 0;
    std::uint64_t bytes = 0;
    std::uint64_t content = 0;  // checksum
};
static_assert(sizeof(SealHead) == 32);

/// Of the whole block, whatever stands for the checksum now.
std::uint32_t checksum_of(Seal seal)
{
    std::fill_n(seal.begin() + offsetof(SealHead, checksum), sizeof(SealHead::checksum), std::byte{0});
    return crc32_of({seal});
}

}  // namespace

std::uint32_t crc32_of(const std::vector<std::span<const std::byte>>& spans)
{
    uLong crc = ::crc32_z(0, nullptr, 0);
    for (const std::span<const std::byte> own : spans) {
        if (!own.empty()) {  // for which zlib starts anew
            crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(own.data()), own.size());
        }
    }
    return static_cast<std::uint32_t>(crc);
}

std::uint64_t crc64_of(std::span<const std::byte> bytes)
{
    Crc64 crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

Seal seal_of(std::span<const std::byte> content)
{
    SealHead head{.bytes = content.size(), .content = crc64_of(content)};
    Seal seal{};
    std::memcpy(seal.data(), &head, sizeof head);
    head.checksum = checksum_of(seal);
    std::memcpy(seal.data(), &head, sizeof head);
    return seal;
}

bool has_seal(const std::string& path)
{
    std::array<char, sizeof(SealHead::magic)> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    return file.gcount() > 0 &&
           std::memcmp(begin.data(), SealHead{}.magic.data(), static_cast<std::size_t>(file.gcount())) == 0;
}

std::string broken_seal(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(fmt::format("cannot open {} ({})", path, std::strerror(errno)));
    }
    Seal seal{};
    file.read(reinterpret_cast<char*>(seal.data()), seal.size());
    if (static_cast<std::size_t>(file.gcount()) < seal.size()) {
        return fmt::format("it has {} bytes, which is less than its header", file.gcount());
    }
    SealHead head;
    std::memcpy(&head, seal.data(), sizeof head);
    if (head.checksum != checksum_of(seal)) {
        return "its first 512 bytes do not match their checksum";
    }
    if (head.version != SealHead{}.version) {
        return fmt::format("its header has version {}, which is newer than this program", head.version);
    }
    Crc64 crc;
    std::uint64_t bytes = 0;
    std::vector<char> piece(std::size_t{1} << 20);
    do {
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        crc.process_bytes(piece.data(), static_cast<std::size_t>(file.gcount()));
        bytes += static_cast<std::uint64_t>(file.gcount());
    } while (file);
    if (file.bad()) {
        throw std::runtime_error(fmt::format("cannot read {} ({})", path, std::strerror(errno)));
    }
    if (bytes != head.bytes) {
        return fmt::format("{} bytes follow its header, which announces {}", bytes, head.bytes);
    }
    return crc.checksum() == head.content ? "" : "its content does not match its checksum";
}

}  // namespace prismopt

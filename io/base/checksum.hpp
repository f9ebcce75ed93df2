#pragma once

/// Checksums of files, and the seal: a block at the start of a file that contains its checksum.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// CRC-32 of zlib over all parts in order.
std::uint32_t crc32_of(const std::vector<std::span<const std::byte>>& spans);

/// CRC-64/XZ: polynomial of ECMA-182 (0x42F0E1EBA9EA3693), bits reflected, complemented before and after.
std::uint64_t crc64_of(std::span<const std::byte> bytes);

/// Block in front of a file's content, by which a reader verifies the content before parsing it.
///
/// Little-endian: magic "PRISMRES", u32 version 1, u32 CRC-32 of the block with this field zero, u64 number
/// of bytes behind the block, u64 CRC-64/XZ of those bytes; the rest is zero. 512 bytes are the smallest user
/// block of HDF5, which skips it.
inline constexpr std::size_t seal_bytes = 512;
using Seal = std::array<std::byte, seal_bytes>;

Seal seal_of(std::span<const std::byte> content);

/// Whether the file begins with the magic number of a seal, or with a part of it if the file is shorter.
bool has_seal(const std::string& path);

/// Damage of a file that has a seal; empty: none. Throws std::runtime_error when the file cannot be read.
std::string broken_seal(const std::string& path);

}  // namespace prismopt

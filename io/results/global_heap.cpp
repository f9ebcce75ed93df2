#include "io/results/global_heap.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

constexpr std::string_view signature("GCOL\x01\0\0\0", 8);  // with the only version and reserved bytes
constexpr std::uint64_t head_bytes = 16;                    // of a heap and of each object
constexpr std::uint64_t size_at = 8;                        // within a head
constexpr std::uint64_t alignment = 8;

template <class T>
T number_at(std::span<const char> bytes, std::uint64_t at)
{
    T number{};
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

/// `bytes`: from the head of a heap to the end of the file.
bool is_walkable(std::span<const char> bytes)
{
    if (bytes.size() < head_bytes) {
        return true;  // HDF5 refuses it
    }
    const auto end = number_at<std::uint64_t>(bytes, size_at);
    if (end > bytes.size()) {
        return false;
    }
    std::uint64_t at = head_bytes;
    while (at + head_bytes <= end) {
        const bool free_space = number_at<std::uint16_t>(bytes, at) == 0;  // whose size includes its head
        const auto size = number_at<std::uint64_t>(bytes, at + size_at);
        const std::uint64_t left = end - at - (free_space ? 0 : head_bytes);
        if (size > left || (free_space && size < head_bytes)) {
            return false;
        }
        at += free_space ? size : head_bytes + (size + alignment - 1) / alignment * alignment;
    }
    return true;
}

}  // namespace

void check_global_heaps(std::span<const char> file)
{
    const std::string_view text(file.data(), file.size());
    for (std::size_t at = text.find(signature); at != std::string_view::npos;
         at = text.find(signature, at + 1)) {
        if (!is_walkable(file.subspan(at))) {
            throw std::runtime_error(fmt::format("the global heap of HDF5 at byte {} does not add up", at));
        }
    }
}

void check_global_heaps(const std::string& path)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        throw std::runtime_error(fmt::format("cannot open {} ({})", path, std::strerror(errno)));
    }
    std::vector<char> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error(fmt::format("cannot read {} ({})", path, std::strerror(errno)));
    }
    check_global_heaps(bytes);
}

}  // namespace prismopt

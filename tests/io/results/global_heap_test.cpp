#include "io/results/global_heap.hpp"
#include "io/results/hdf5_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace prismopt {

namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t head_bytes = 16;
constexpr std::size_t size_at = 8;

/// A file with texts in a global heap; HDF5 itself wrote it.
std::string file_with_texts()
{
    const Hdf5Object root = Hdf5Object::create_in_memory();
    root.set_list<std::string>("texts", {"short", "a text that is longer than the others", ""});
    const std::vector<std::byte> image = root.image();
    return {reinterpret_cast<const char*>(image.data()), image.size()};
}

std::size_t heap_in(const std::string& file) { return file.find("GCOL"); }

std::uint64_t size_of_object(const std::string& file, std::size_t object)
{
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + object + size_at, sizeof size);
    return size;
}

std::string with_size(std::string file, std::size_t object, std::uint64_t size)
{
    std::memcpy(file.data() + object + size_at, &size, sizeof size);
    return file;
}

/// The space behind the last object, which has index 0.
std::size_t free_space_in(const std::string& file)
{
    std::size_t at = heap_in(file) + head_bytes;
    while (file[at] != 0 || file[at + 1] != 0) {
        at += head_bytes + (size_of_object(file, at) + 7) / 8 * 8;
    }
    return at;
}

auto refused() { return ThrowsMessage<std::runtime_error>(HasSubstr("global heap of HDF5 at byte")); }

TEST(GlobalHeap, AsHdf5WritesItIsAccepted)
{
    const std::string file = file_with_texts();
    ASSERT_NE(heap_in(file), std::string::npos);
    EXPECT_NO_THROW(check_global_heaps(std::span<const char>(file)));
}

TEST(GlobalHeap, ObjectsThatDoNotEndInTheHeapAreRefused)
{
    const std::string file = file_with_texts();
    const std::size_t heap = heap_in(file);
    const std::size_t first = heap + head_bytes;
    const std::size_t free_space = free_space_in(file);
    ASSERT_EQ(free_space + size_of_object(file, free_space), heap + size_of_object(file, heap));
    const auto check = [&](std::size_t object, std::uint64_t size) {
        return [bytes = with_size(file, object, size)] { check_global_heaps(std::span<const char>(bytes)); };
    };
    EXPECT_THAT(check(free_space, 0), refused());  // HDF5 1.10.8 would not return
    EXPECT_THAT(check(free_space, size_of_object(file, free_space) + 8), refused());
    EXPECT_THAT(check(first, UINT64_MAX - head_bytes + 1), refused());  // head and size add up to 0
    EXPECT_THAT(check(first, size_of_object(file, heap)), refused());
    EXPECT_THAT(check(heap, file.size()), refused());
}

}  // namespace

}  // namespace prismopt

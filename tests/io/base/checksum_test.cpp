#include "io/base/checksum.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace prismopt {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The check values of both algorithms: R. Williams, "A painless guide to CRC error detection algorithms"
/// (1993), and G. Cook's catalogue of parametrised CRC algorithms (CRC-32/ISO-HDLC, CRC-64/XZ).
TEST(Checksum, HasTheKnownValues)
{
    EXPECT_EQ(crc32_of({bytes_of("123456789")}), 0xCBF43926U);
    EXPECT_EQ(crc32_of({bytes_of("1234"), {}, bytes_of("56789")}), 0xCBF43926U);
    EXPECT_EQ(crc32_of({}), 0U);
    EXPECT_EQ(crc64_of(bytes_of("123456789")), 0x995DC9BBDF1939FAU);
    EXPECT_EQ(crc64_of({}), 0U);
}

TEST(Checksum, ASealIsOfItsContent)
{
    const Seal seal = seal_of(bytes_of("123456789"));
    EXPECT_NE(seal, seal_of(bytes_of("123456788")));
    EXPECT_NE(seal, seal_of(bytes_of("12345678")));
}

}  // namespace

}  // namespace prismopt

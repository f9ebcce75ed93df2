#include "model/random.hpp"

#include "model/step/vector_clones.hpp"

#include <Random123/philox.h>

namespace prismopt {

namespace {

// Constants of Philox4x32: Salmon et al. 2011, table 2.
constexpr std::uint64_t multiplier_0 = 0xD2511F53;
constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9;
constexpr std::uint32_t weyl_1 = 0xBB67AE85;
constexpr int rounds = 10;

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t seed, const Counter& counter)
{
    const r123::Philox4x32 generator;
    const r123::Philox4x32::ctr_type c{{counter.fleet, counter.step_replica, counter.event, counter.use}};
    const r123::Philox4x32::key_type k{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const auto r = generator(c, k);
    return {r[0], r[1], r[2], r[3]};
}

// The state is kept in the low halves of 64-bit numbers, where the products need it: no packing between rounds; what the high
// halves hold does not matter. Thirty-two lanes at a time: a round waits for its products, and four vectors hide that.
PRISMOPT_VECTOR_CLONES
void philox_lanes(std::uint64_t seed, const Words& fleet, const Words& step_replica, std::uint32_t event, std::uint32_t use,
                  std::array<Words, 4>& words)
{
    constexpr int group = 32;
    constexpr std::uint64_t low_half = 0xFFFFFFFF;
    for (int first = 0; first < lanes; first += group) {
        std::uint64_t c0[group];
        std::uint64_t c1[group];
        std::uint64_t c2[group];
        std::uint64_t c3[group];
        for (int l = 0; l < group; ++l) {
            c0[l] = fleet.at[first + l];
            c1[l] = step_replica.at[first + l];
            c2[l] = event;
            c3[l] = use;
        }
        auto k0 = static_cast<std::uint32_t>(seed);
        auto k1 = static_cast<std::uint32_t>(seed >> 32);
#pragma GCC unroll 10
        for (int round = 0; round < rounds; ++round) {
            for (int l = 0; l < group; ++l) {
                const std::uint64_t product_0 = (c0[l] & low_half) * multiplier_0;
                const std::uint64_t product_1 = (c2[l] & low_half) * multiplier_1;
                c0[l] = (product_1 >> 32) ^ c1[l] ^ k0;
                c2[l] = (product_0 >> 32) ^ c3[l] ^ k1;
                c1[l] = product_1;
                c3[l] = product_0;
            }
            k0 += weyl_0;
            k1 += weyl_1;
        }
        for (int l = 0; l < group; ++l) {
            words[0].at[first + l] = static_cast<std::uint32_t>(c0[l]);
            words[1].at[first + l] = static_cast<std::uint32_t>(c1[l]);
            words[2].at[first + l] = static_cast<std::uint32_t>(c2[l]);
            words[3].at[first + l] = static_cast<std::uint32_t>(c3[l]);
        }
    }
}

}  // namespace prismopt

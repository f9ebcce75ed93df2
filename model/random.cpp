#include "model/random.hpp"

#include "model/vector_clones.hpp"

#include <Random123/philox.h>

namespace prismopt {

namespace {

// Constants of Philox4x32: Salmon et al. 2011, table 2.
constexpr std::uint32_t multiplier_0 = 0xD2511F53;
constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
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

PRISMOPT_VECTOR_CLONES
void philox_lanes(std::uint64_t seed, const Words& fleet, const Words& step_replica, std::uint32_t event, std::uint32_t use,
                  std::array<Words, 4>& words)
{
    const auto key_0 = static_cast<std::uint32_t>(seed);
    const auto key_1 = static_cast<std::uint32_t>(seed >> 32);
    for (int lane = 0; lane < lanes; ++lane) {
        std::uint32_t c0 = fleet.at[lane];
        std::uint32_t c1 = step_replica.at[lane];
        std::uint32_t c2 = event;
        std::uint32_t c3 = use;
        std::uint32_t k0 = key_0;
        std::uint32_t k1 = key_1;
#pragma GCC unroll 10
        for (int round = 0; round < rounds; ++round) {
            const std::uint64_t product_0 = static_cast<std::uint64_t>(multiplier_0) * c0;
            const std::uint64_t product_1 = static_cast<std::uint64_t>(multiplier_1) * c2;
            const auto high_0 = static_cast<std::uint32_t>(product_0 >> 32);
            const auto high_1 = static_cast<std::uint32_t>(product_1 >> 32);
            c0 = high_1 ^ c1 ^ k0;
            c2 = high_0 ^ c3 ^ k1;
            c1 = static_cast<std::uint32_t>(product_1);
            c3 = static_cast<std::uint32_t>(product_0);
            k0 += weyl_0;
            k1 += weyl_1;
        }
        words[0].at[lane] = c0;
        words[1].at[lane] = c1;
        words[2].at[lane] = c2;
        words[3].at[lane] = c3;
    }
}

}  // namespace prismopt

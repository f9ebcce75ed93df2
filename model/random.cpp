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

// The state is kept in the low halves of 64-bit numbers, where the products need it: no packing between rounds; what the high
// halves hold does not matter. Thirty-two lanes at a time: a round waits for its products, and four vectors hide that.
constexpr int group = 32;
constexpr std::uint64_t low_half = 0xFFFFFFFF;

struct State {
    std::uint64_t c0[group];
    std::uint64_t c1[group];
    std::uint64_t c2[group];
    std::uint64_t c3[group];
};

struct Key {
    std::uint32_t k0;
    std::uint32_t k1;
    explicit Key(std::uint64_t seed) : k0(static_cast<std::uint32_t>(seed)), k1(static_cast<std::uint32_t>(seed >> 32)) {}
    void next()
    {
        k0 += weyl_0;
        k1 += weyl_1;
    }
};

template <int First>
[[gnu::always_inline]] inline void finish(State& s, Key key, int lane, std::array<Words, 4>& words)
{
#pragma GCC unroll 10
    for (int round = First; round < rounds; ++round) {
        for (int l = 0; l < group; ++l) {
            const std::uint64_t product_0 = (s.c0[l] & low_half) * multiplier_0;
            const std::uint64_t product_1 = (s.c2[l] & low_half) * multiplier_1;
            s.c0[l] = (product_1 >> 32) ^ s.c1[l] ^ key.k0;
            s.c2[l] = (product_0 >> 32) ^ s.c3[l] ^ key.k1;
            s.c1[l] = product_1;
            s.c3[l] = product_0;
        }
        key.next();
    }
    for (int l = 0; l < group; ++l) {
        words[0].at[lane + l] = static_cast<std::uint32_t>(s.c0[l]);
        words[1].at[lane + l] = static_cast<std::uint32_t>(s.c1[l]);
        words[2].at[lane + l] = static_cast<std::uint32_t>(s.c2[l]);
        words[3].at[lane + l] = static_cast<std::uint32_t>(s.c3[l]);
    }
}

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
    for (int first = 0; first < lanes; first += group) {
        State s;
        for (int l = 0; l < group; ++l) {
            s.c0[l] = fleet.at[first + l];
            s.c1[l] = step_replica.at[first + l];
            s.c2[l] = event;
            s.c3[l] = use;
        }
        finish<0>(s, Key(seed), first, words);
    }
}

FleetPhilox::FleetPhilox(std::uint64_t seed, const Words& fleet) : seed_(seed)
{
    for (int l = 0; l < lanes; ++l) {
        const std::uint64_t product = fleet.at[l] * multiplier_0;
        high_.at[l] = static_cast<std::uint32_t>(product >> 32);
        low_.at[l] = static_cast<std::uint32_t>(product);
    }
}

PRISMOPT_VECTOR_CLONES
void FleetPhilox::draw(std::uint32_t step_replica, std::uint32_t event, std::uint32_t use, std::array<Words, 4>& words) const
{
    Key key(seed_);
    // Round 1: words 0 and 1 are the same in all lanes. Round 2: so is the product of word 0.
    const std::uint64_t shared_1 = event * multiplier_1;
    const std::uint64_t word_0 = (shared_1 >> 32) ^ step_replica ^ key.k0;
    const std::uint64_t word_1 = shared_1 & low_half;
    const std::uint64_t mixed_use = use ^ key.k1;
    key.next();
    const std::uint64_t shared_2 = word_0 * multiplier_0;
    const std::uint64_t into_0 = word_1 ^ key.k0;
    const std::uint64_t into_2 = (shared_2 >> 32) ^ key.k1;
    key.next();
    for (int first = 0; first < lanes; first += group) {
        State s;
        for (int l = 0; l < group; ++l) {
            const std::uint64_t product = (high_.at[first + l] ^ mixed_use) * multiplier_1;
            s.c0[l] = (product >> 32) ^ into_0;
            s.c1[l] = product;
            s.c2[l] = low_.at[first + l] ^ into_2;
            s.c3[l] = shared_2;
        }
        finish<2>(s, key, first, words);
    }
}

}  // namespace prismopt

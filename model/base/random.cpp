#include "model/base/random.hpp"

#include "model/base/registers.hpp"

#include <Random123/philox.h>

#include <algorithm>

namespace prismopt {

namespace {

// Constants of Philox4x32: Salmon et al. 2011, table 2.
constexpr std::uint64_t multiplier_0 = 0xD2511F53;
constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9;
constexpr std::uint32_t weyl_1 = 0xBB67AE85;
constexpr int rounds = 10;
constexpr std::uint64_t low_half = 0xFFFFFFFF;

// The state is kept in the low halves of 64-bit lanes, where the products need it: no packing between
// rounds; what the high halves hold does not matter. Several registers at a time: a round waits for its
// products, and the others hide that.
template <class R>
struct State {
    static constexpr int registers = R::width >= 16 ? 4 : 2;  // 16 or 8 in all, of the machine's 32 or 16
    static constexpr int lanes_together = registers * R::width / 2;
    using Wide = typename R::Wide;
    Wide c0[registers];
    Wide c1[registers];
    Wide c2[registers];
    Wide c3[registers];
};

struct Key {
    std::uint32_t k0;
    std::uint32_t k1;
    explicit Key(std::uint64_t seed)
        : k0(static_cast<std::uint32_t>(seed)), k1(static_cast<std::uint32_t>(seed >> 32))
    {
    }
    void next()
    {
        k0 += weyl_0;
        k1 += weyl_1;
    }
};

template <class R>
[[gnu::always_inline]] inline void pack(const typename R::Wide* c, int lane, Words& words)
{
    for (int i = 0; i < State<R>::registers; i += 2) {
        R::pack(c[i], c[i + 1], R::at(words, lane / R::width + i / 2));
    }
}

/// Rounds `First` to the last of the lanes from `lane` on.
template <class R, int First>
[[gnu::always_inline]] inline void finish(State<R>& s, Key key, int lane, std::array<Words, 4>& words)
{
    using Wide = typename R::Wide;
    Wide by_0;
    Wide by_1;
    R::fill(multiplier_0, by_0);
    R::fill(multiplier_1, by_1);
#pragma GCC unroll 10
    for (int round = First; round < rounds; ++round) {
#pragma GCC unroll 4
        for (int i = 0; i < State<R>::registers; ++i) {
            Wide product_0;
            Wide product_1;
            R::multiply_low(s.c0[i], by_0, product_0);
            R::multiply_low(s.c2[i], by_1, product_1);
            s.c0[i] = (product_1 >> 32) ^ s.c1[i] ^ key.k0;
            s.c2[i] = (product_0 >> 32) ^ s.c3[i] ^ key.k1;
            s.c1[i] = product_1;
            s.c3[i] = product_0;
        }
        key.next();
    }
    pack<R>(s.c0, lane, words[0]);
    pack<R>(s.c1, lane, words[1]);
    pack<R>(s.c2, lane, words[2]);
    pack<R>(s.c3, lane, words[3]);
}

using WideWords = Lanes<std::uint64_t>;

WideWords widened(const Words& words)
{
    WideWords wide;
    std::copy_n(words.at, lanes, wide.at);
    return wide;
}

/// The i-th register of those from lane `first` on.
template <class R>
[[gnu::always_inline]] inline const typename R::Wide& wide_at(const WideWords& words, int first, int i)
{
    return reinterpret_cast<const typename R::Wide*>(words.at + first)[i];
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t seed, const Counter& counter)
{
    const r123::Philox4x32 generator;
    const r123::Philox4x32::ctr_type c{{counter.fleet, counter.step_replica, counter.event, counter.use}};
    const r123::Philox4x32::key_type k{
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const auto r = generator(c, k);
    return {r[0], r[1], r[2], r[3]};
}

void philox_lanes(std::uint64_t seed, const Words& fleet, const Words& step_replica, std::uint32_t event,
                  std::uint32_t use, std::array<Words, 4>& words)
{
    const WideWords fleets = widened(fleet);
    const WideWords who = widened(step_replica);
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        typename R::Wide events;
        typename R::Wide uses;
        R::fill(event, events);
        R::fill(use, uses);
        State<R> s;
        for (int first = 0; first < lanes; first += s.lanes_together) {
            for (int i = 0; i < s.registers; ++i) {
                s.c0[i] = wide_at<R>(fleets, first, i);
                s.c1[i] = wide_at<R>(who, first, i);
                s.c2[i] = events;
                s.c3[i] = uses;
            }
            finish<R, 0>(s, Key(seed), first, words);
        }
    });
}

FleetPhilox::FleetPhilox(std::uint64_t seed, const Words& fleet) : seed_(seed)
{
    for (int l = 0; l < lanes; ++l) {
        const std::uint64_t product = fleet.at[l] * multiplier_0;
        high_.at[l] = product >> 32;
        low_.at[l] = product & low_half;
    }
}

void FleetPhilox::draw(std::uint32_t step_replica, std::uint32_t event, std::uint32_t use,
                       std::array<Words, 4>& words) const
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
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        using Wide = typename R::Wide;
        Wide by_1;
        Wide shared;
        R::fill(multiplier_1, by_1);
        R::fill(shared_2, shared);
        State<R> s;
        for (int first = 0; first < lanes; first += s.lanes_together) {
            for (int i = 0; i < s.registers; ++i) {
                Wide product;
                R::multiply_low(wide_at<R>(high_, first, i) ^ mixed_use, by_1, product);
                s.c0[i] = (product >> 32) ^ into_0;
                s.c1[i] = product;
                s.c2[i] = wide_at<R>(low_, first, i) ^ into_2;
                s.c3[i] = shared;
            }
            finish<R, 2>(s, key, first, words);
        }
    });
}

}  // namespace prismopt

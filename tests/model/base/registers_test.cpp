#include "model/base/registers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace prismopt {
namespace {

using Row = Lanes<float>;

/// Calls the body for every width that this machine has.
template <class Body>
void on_each_width(const Body& body)
{
    body(Registers<4>{});
#if defined(__x86_64__)
    if (register_lanes >= 8) {
        on_8_lanes(body);
    }
    if (register_lanes >= 16) {
        on_16_lanes(body);
    }
#endif
}

/// Numbers of many sizes and both signs.
Row numbers(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<float> exponent(0.0F, 3.0F);
    Row row;
    for (float& x : row.at) {
        x = (random() % 2 == 0 ? 1.0F : -1.0F) * std::exp2(exponent(random));
    }
    return row;
}

TEST(Registers, MultiplyAndAddRoundingOnce)
{
    const Row a = numbers(1);
    const Row b = numbers(2);
    Row c;
    for (int l = 0; l < lanes; ++l) {
        // What remains is the rounding of the product, which two roundings lose.
        c.at[l] = -a.at[l] * b.at[l];
    }
    on_each_width([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        Row sum;
        Row scaled;
        for (int v = 0; v < R::per_row; ++v) {
            R::multiply_add(R::at(a, v), R::at(b, v), R::at(c, v), R::at(sum, v));
            R::multiply_add(3.0F, R::at(b, v), 0.1F, R::at(scaled, v));
        }
        for (int l = 0; l < lanes; ++l) {
            ASSERT_EQ(sum.at[l], std::fma(a.at[l], b.at[l], c.at[l])) << R::width << " lanes, lane " << l;
            ASSERT_EQ(scaled.at[l], std::fma(3.0F, b.at[l], 0.1F)) << R::width << " lanes, lane " << l;
        }
    });
}

TEST(Registers, PickByTheFiveLowBits)
{
    alignas(64) std::array<float, 32> entries{};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i] = static_cast<float>(i);
    }
    std::mt19937_64 random(3);
    Words index;
    for (std::uint32_t& i : index.at) {
        i = static_cast<std::uint32_t>(random());
    }
    on_each_width([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        Row picked;
        for (int v = 0; v < R::per_row; ++v) {
            R::pick(entries, reinterpret_cast<const typename R::Int&>(R::at(index, v)), R::at(picked, v));
        }
        for (int l = 0; l < lanes; ++l) {
            ASSERT_EQ(picked.at[l], static_cast<float>(index.at[l] % 32)) << R::width << " lanes, lane " << l;
        }
    });
}

/// A pick from few entries says yes only where pick() finds all lanes there, and then picks the same.
template <class R>
[[gnu::always_inline]] inline void expect_picks_from_few(const std::array<float, 32>& entries,
                                                         const Words& index)
{
    for (int v = 0; v < R::per_row; ++v) {
        const auto& at = reinterpret_cast<const typename R::Int&>(R::at(index, v));
        bool last = true;
        bool near_zero = true;
        for (int l = 0; l < R::width; ++l) {
            const std::uint32_t entry = static_cast<std::uint32_t>(at[l]) % 32;
            last = last && entry >= 24;
            near_zero = near_zero && (entry >= 24 || entry < 8);
        }
        constexpr bool detects = R::width == 8 && PRISMOPT_PICKS_FEWER;  // others always say no
        ASSERT_EQ(R::all_pick_last(at), detects && last);
        ASSERT_EQ(R::all_pick_small(at), detects && near_zero);
        Row all;
        Row few;
        R::pick(entries, at, R::at(all, v));
        R::at(few, v) = R::at(all, v);
        if (last) {
            R::pick_last(entries, at, R::at(few, v));
        }
        if (near_zero) {
            R::pick_small(entries, at, R::at(all, v));
        }
        for (int l = v * R::width; l < (v + 1) * R::width; ++l) {
            ASSERT_EQ(all.at[l], static_cast<float>(index.at[l] % 32)) << R::width << " lanes, lane " << l;
            ASSERT_EQ(few.at[l], all.at[l]) << R::width << " lanes, lane " << l;
        }
    }
}

TEST(Registers, PickFromFewEntries)
{
    alignas(64) std::array<float, 32> entries{};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i] = static_cast<float>(i);
    }
    std::mt19937_64 random(5);
    for (const std::int32_t outsider : {-9, -8, 0, 7, 8, 23, 24, 31, 32}) {
        for (int outside = 0; outside < lanes; ++outside) {
            for (const bool small : {false, true}) {
                Words index;
                for (std::uint32_t& i : index.at) {
                    i = static_cast<std::uint32_t>(random() % 16 - 8);
                    i = (small ? i : i | 24U) + 32U * static_cast<std::uint32_t>(random());
                }
                index.at[outside] = static_cast<std::uint32_t>(outsider);
                on_each_width([&](auto registers) PRISMOPT_INLINE {
                    expect_picks_from_few<decltype(registers)>(entries, index);
                });
            }
        }
    }
}

TEST(Registers, MultiplyLowHalvesAndPackThem)
{
    std::mt19937_64 random(4);
    Lanes<std::uint64_t> a;
    Lanes<std::uint64_t> b;
    for (int l = 0; l < lanes; ++l) {
        a.at[l] = random();
        b.at[l] = random();
    }
    on_each_width([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        using Wide = typename R::Wide;
        Words packed;
        for (int v = 0; v < R::per_row; ++v) {
            std::array<Lanes<std::uint64_t>, 2> product;  // of which one register each is used
            for (int half = 0; half < 2; ++half) {
                R::multiply_low(reinterpret_cast<const Wide*>(a.at)[2 * v + half],
                                reinterpret_cast<const Wide*>(b.at)[2 * v + half],
                                *reinterpret_cast<Wide*>(product[static_cast<std::size_t>(half)].at));
                for (int l = 0; l < R::width / 2; ++l) {
                    const int at = v * R::width + half * R::width / 2 + l;
                    ASSERT_EQ(product[static_cast<std::size_t>(half)].at[l],
                              (a.at[at] & 0xFFFFFFFF) * (b.at[at] & 0xFFFFFFFF));
                }
            }
            R::pack(*reinterpret_cast<const Wide*>(product[0].at),
                    *reinterpret_cast<const Wide*>(product[1].at), R::at(packed, v));
        }
        for (int l = 0; l < lanes; ++l) {
            ASSERT_EQ(packed.at[l], static_cast<std::uint32_t>(a.at[l] * b.at[l]))
                << R::width << " lanes, lane " << l;
        }
    });
}

}  // namespace
}  // namespace prismopt

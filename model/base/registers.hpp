#pragma once

/// Loops over lanes, compiled once for each width of vector registers and selected at program start.
///
/// All widths give the same bits: the same operations in the same order, sums of products fused
/// everywhere (IEEE 754's fusedMultiplyAdd, which machines without it compute more slowly), nothing
/// else contracted or reassociated.

#include "model/base/random.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PRISMOPT_PICKS_FEWER 1
#else
#define PRISMOPT_PICKS_FEWER 0
#endif

namespace prismopt {

/// Lanes of the registers in use: this machine's widest, 16 (AVX-512), 8 (AVX2 and FMA) or 4.
/// PRISMOPT_LANES=8 or 4 in the environment selects fewer, to reproduce another machine.
extern const int register_lanes;

/// Vector types of GCC and clang; their operators work lane by lane.
template <int Width>
struct VectorTypes;
template <>
struct VectorTypes<16> {
    using Float [[gnu::vector_size(64), gnu::may_alias]] = float;
    using Int [[gnu::vector_size(64), gnu::may_alias]] = std::int32_t;
    using Word [[gnu::vector_size(64), gnu::may_alias]] = std::uint32_t;
    using Wide [[gnu::vector_size(64), gnu::may_alias]] = std::uint64_t;
};
template <>
struct VectorTypes<8> {
    using Float [[gnu::vector_size(32), gnu::may_alias]] = float;
    using Int [[gnu::vector_size(32), gnu::may_alias]] = std::int32_t;
    using Word [[gnu::vector_size(32), gnu::may_alias]] = std::uint32_t;
    using Wide [[gnu::vector_size(32), gnu::may_alias]] = std::uint64_t;
};
template <>
struct VectorTypes<4> {
    using Float [[gnu::vector_size(16), gnu::may_alias]] = float;
    using Int [[gnu::vector_size(16), gnu::may_alias]] = std::int32_t;
    using Word [[gnu::vector_size(16), gnu::may_alias]] = std::uint32_t;
    using Wide [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
};

/// Operations on `Width` draws side by side. Results are returned by reference: by value their calling
/// convention would differ between machines of different widths.
template <int Width>
struct Registers {
    using Float = typename VectorTypes<Width>::Float;
    using Int = typename VectorTypes<Width>::Int;
    using Word = typename VectorTypes<Width>::Word;
    using Wide = typename VectorTypes<Width>::Wide;  // half as many
    static constexpr int width = Width;
    static constexpr int per_row = lanes / Width;

    [[gnu::always_inline]] static Float& at(Lanes<float>& row, int v)
    {
        return reinterpret_cast<Float*>(row.at)[v];
    }
    [[gnu::always_inline]] static const Float& at(const Lanes<float>& row, int v)
    {
        return reinterpret_cast<const Float*>(row.at)[v];
    }
    [[gnu::always_inline]] static Word& at(Words& row, int v) { return reinterpret_cast<Word*>(row.at)[v]; }
    [[gnu::always_inline]] static const Word& at(const Words& row, int v)
    {
        return reinterpret_cast<const Word*>(row.at)[v];
    }

    /// Sets out = a * b + c, rounded once; each of a, b and c is a register or one number for all lanes.
    template <class A, class B, class C>
    [[gnu::always_inline]] static void multiply_add(const A& a, const B& b, const C& c, Float& out)
    {
        Float sum;
        for (int l = 0; l < Width; ++l) {
            sum[l] = std::fma(lane(a, l), lane(b, l), lane(c, l));
        }
        out = sum;
    }

    /// Sets each lane to its entry of 32, a table that fits into a machine's registers; only the
    /// five low bits of the index count.
    [[gnu::always_inline]] static void pick(const std::array<float, 32>& entries, const Int& index,
                                            Float& out)
    {
#if defined(__GNUC__) && !defined(__clang__)
        const auto* vectors = reinterpret_cast<const Float*>(entries.data());
        if constexpr (Width == 16) {
            out = __builtin_shuffle(vectors[0], vectors[1], index);
            return;
        } else if constexpr (Width == 8) {
            const Int second = index << 28;  // bits 3 and 4 as signs
            const Int third = index << 27;
            const Float low =
                second < 0 ? __builtin_shuffle(vectors[1], index) : __builtin_shuffle(vectors[0], index);
            const Float high =
                second < 0 ? __builtin_shuffle(vectors[3], index) : __builtin_shuffle(vectors[2], index);
            out = third < 0 ? high : low;
            return;
        }
#endif
        for (int l = 0; l < Width; ++l) {
            out[l] = entries[static_cast<std::uint32_t>(index[l]) % entries.size()];
        }
    }

    // Fewer entries cost less on 8 lanes, where pick() needs four selections of 8 entries each.
    // Other widths never ask for fewer.

    /// Whether all lanes pick from the last 8 entries, and whether this width has a faster pick for them.
    [[gnu::always_inline]] static bool all_pick_last([[maybe_unused]] const Int& index)
    {
#if PRISMOPT_PICKS_FEWER
        if constexpr (Width == 8) {
            return all_negative((index << 27) & (index << 28));
        }
#endif
        return false;
    }
    /// The same for the first and the last 8 entries: small numbers of either sign.
    [[gnu::always_inline]] static bool all_pick_small([[maybe_unused]] const Int& index)
    {
#if PRISMOPT_PICKS_FEWER
        if constexpr (Width == 8) {
            return all_negative(~((index << 27) ^ (index << 28)));
        }
#endif
        return false;
    }
    [[gnu::always_inline]] static void pick_last(const std::array<float, 32>& entries, const Int& index,
                                                 Float& out)
    {
#if PRISMOPT_PICKS_FEWER
        if constexpr (Width == 8) {
            out = __builtin_shuffle(reinterpret_cast<const Float*>(entries.data())[3], index);
            return;
        }
#endif
        pick(entries, index, out);
    }
    [[gnu::always_inline]] static void pick_small(const std::array<float, 32>& entries, const Int& index,
                                                  Float& out)
    {
#if PRISMOPT_PICKS_FEWER
        if constexpr (Width == 8) {
            const auto* vectors = reinterpret_cast<const Float*>(entries.data());
            const Int negative = index << 27;
            out = negative < 0 ? __builtin_shuffle(vectors[3], index) : __builtin_shuffle(vectors[0], index);
            return;
        }
#endif
        pick(entries, index, out);
    }

    /// Sets all lanes to the same number.
    [[gnu::always_inline]] static void fill(std::uint64_t value, Wide& out) { out = Wide{} + value; }

    /// Sets out = products of the low halves of 64-bit lanes; the high halves are ignored.
    [[gnu::always_inline]] static void multiply_low(const Wide& a, const Wide& b, Wide& out)
    {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
        // One instruction without a GCC operator: from masks GCC makes whole 64-bit products,
        // which take three times as long.
        if constexpr (Width > 4) {
            asm("vpmuludq %2, %1, %0" : "=v"(out) : "v"(a), "v"(b));
            return;
        }
#endif
        constexpr std::uint64_t low = 0xFFFFFFFF;
        out = (a & low) * (b & low);
    }

    /// Sets out = the low halves of a's 64-bit lanes, then of b's.
    [[gnu::always_inline]] static void pack(const Wide& a, const Wide& b, Word& out)
    {
        for (int l = 0; l < Width / 2; ++l) {
            out[l] = static_cast<std::uint32_t>(a[l]);
            out[Width / 2 + l] = static_cast<std::uint32_t>(b[l]);
        }
    }

private:
#if PRISMOPT_PICKS_FEWER
    [[gnu::always_inline]] static bool all_negative(const Int& x)
    {
        bool all = false;
        asm("vtestps %1, %2" : "=@ccc"(all) : "x"(Int{} - 1), "x"(x));
        return all;
    }
#endif
    [[gnu::always_inline]] static float lane(float all, int) { return all; }
    [[gnu::always_inline]] static float lane(const Float& x, int l) { return x[l]; }
};

/// Attribute of the lambdas passed to on_registers(): `[&](auto registers) PRISMOPT_INLINE { ... }`. They are
/// compiled for each register width together with all that they call inline.
#define PRISMOPT_INLINE __attribute__((always_inline))

#if defined(__x86_64__)
template <class Body>
[[gnu::target("arch=x86-64-v4")]] void on_16_lanes(const Body& body)
{
    body(Registers<16>{});
}
template <class Body>
[[gnu::target("arch=x86-64-v3")]] void on_8_lanes(const Body& body)
{
    body(Registers<8>{});
}
#endif

/// Calls body(Registers<...>{}) with this machine's width.
template <class Body>
void on_registers(const Body& body)
{
#if defined(__x86_64__)
    if (register_lanes == 16) {
        on_16_lanes(body);
        return;
    }
    if (register_lanes == 8) {
        on_8_lanes(body);
        return;
    }
#endif
    body(Registers<4>{});
}

}  // namespace prismopt

#include "model/step/sample/lane_kernels.hpp"

#include "model/base/registers.hpp"

#include <algorithm>

namespace prismopt {

void lookup(const QuantileTable& table, const Words& bits, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = table(bits.at[l]);
        }
    });
}

void multiply_by(const QuantileTable& table, const Words& bits, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] *= table(bits.at[l]);
        }
    });
}

void scaled_draw(float mean, const QuantileTable& table, const Words& bits, const Floats& factor, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = mean * factor.at[l] * table(bits.at[l]);
        }
    });
}

void wait_for(const Floats& a, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = a.at[l] > out.at[l] ? a.at[l] : out.at[l];
        }
    });
}

void wait_for_all(const Floats* rows, std::span<const std::int32_t> which, Floats& out)
{
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        for (int v = 0; v < R::per_row; ++v) {
            typename R::Float last = R::at(out, v);
            for (const std::int32_t row : which) {
                const typename R::Float& end = R::at(rows[row], v);
                last = end > last ? end : last;
            }
            R::at(out, v) = last;
        }
    });
}

void wait_for_scaled(float a, const Floats& row, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            const float time = a * row.at[l];
            out.at[l] = time > out.at[l] ? time : out.at[l];
        }
    });
}

void add(const Floats& a, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] += a.at[l];
        }
    });
}

void scale(float a, const Floats& row, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = a * row.at[l];
        }
    });
}

void mix(const Floats& a, const Floats& b, float share, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = a.at[l] + share * (b.at[l] - a.at[l]);
        }
    });
}

void wait_beside(const Exchange& exchange, const Floats& collective, const Floats* regime,
                 const Floats& compute, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        if (regime == nullptr) {
            for (int l = 0; l < lanes; ++l) {
                out.at[l] = exchange.exposed(collective.at[l], compute.at[l]);
            }
        } else {
            for (int l = 0; l < lanes; ++l) {
                out.at[l] = exchange.exposed(collective.at[l] * regime->at[l], compute.at[l]);
            }
        }
    });
}

void multiply(const Floats& a, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            out.at[l] *= a.at[l];
        }
    });
}

void store(const Floats& row, std::ptrdiff_t stride, double* out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        if (stride == 1) {
            std::copy_n(row.at, lanes, out);
        } else {
            for (int l = 0; l < lanes; ++l) {
                out[l * stride] = row.at[l];
            }
        }
    });
}

void stratify(const Words& keys, Words& words)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            words.at[l] = stratified(words.at[l], keys.at[l], static_cast<std::uint32_t>(l));
        }
    });
}

void stratify(std::uint32_t key, Words& words)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (int l = 0; l < lanes; ++l) {
            words.at[l] = stratified(words.at[l], key, static_cast<std::uint32_t>(l));
        }
    });
}

void longest_path(const Floats& shared, const float* weight, const Floats* factor, int n, Floats& out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        Floats sum = shared;
        for (int i = 0; i < n; ++i) {
            for (int l = 0; l < lanes; ++l) {
                sum.at[l] += weight[i] * factor[i].at[l];
            }
        }
        for (int l = 0; l < lanes; ++l) {
            out.at[l] = sum.at[l] > out.at[l] ? sum.at[l] : out.at[l];
        }
    });
}

void insert_largest(const Floats& value, int owner, int kept, Floats* best, Ints* owners)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        Floats carried = value;
        Ints carried_owner;
        std::fill_n(carried_owner.at, lanes, owner);
        for (int k = 0; k < kept; ++k) {
            for (int l = 0; l < lanes; ++l) {
                const float held = best[k].at[l];
                const std::int32_t held_owner = owners[k].at[l];
                const bool larger = carried.at[l] > held;
                best[k].at[l] = larger ? carried.at[l] : held;
                owners[k].at[l] = larger ? carried_owner.at[l] : held_owner;
                carried.at[l] = larger ? held : carried.at[l];
                carried_owner.at[l] = larger ? held_owner : carried_owner.at[l];
            }
        }
    });
}

}  // namespace prismopt

#pragma once

/// Inner loops of the sampler: 64 draws side by side, plain arithmetic, compiled for several vector widths.

#include "model/base/random.hpp"
#include "model/distribution/quantile_table.hpp"
#include "model/step/graph/exchange.hpp"

#include <cstddef>
#include <span>

namespace prismopt {

/// out = table(bits).
void lookup(const QuantileTable& table, const Words& bits, Floats& out);
/// out *= table(bits).
void multiply_by(const QuantileTable& table, const Words& bits, Floats& out);

/// out = mean * factor * table(bits): a collective or transfer with its own distribution of mean one.
void scaled_draw(float mean, const QuantileTable& table, const Words& bits, const Floats& factor,
                 Floats& out);

/// out = max(out, a).
void wait_for(const Floats& a, Floats& out);
/// out = max(out, rows[which[0]], rows[which[1]], ...).
void wait_for_all(const Floats* rows, std::span<const std::int32_t> which, Floats& out);
/// out = max(out, a * row).
void wait_for_scaled(float a, const Floats& row, Floats& out);
/// out += a.
void add(const Floats& a, Floats& out);
/// out = a * row.
void scale(float a, const Floats& row, Floats& out);
/// out = (1 - share) a + share b; exact if a and b are equal.
void mix(const Floats& a, const Floats& b, float share, Floats& out);

/// out = exposed time of the exchange; `regime`: factor of its network tier, may be null.
void wait_beside(const Exchange& exchange, const Floats& collective, const Floats* regime,
                 const Floats& compute, Floats& out);
/// out *= a.
void multiply(const Floats& a, Floats& out);

/// out[lane * stride] = row[lane].
void store(const Floats& row, std::ptrdiff_t stride, double* out);

/// Stratifies the words of an event over its block (see stratified()); keys[lane] are equal
/// for lanes with the same event.
void stratify(const Words& keys, Words& words);
void stratify(std::uint32_t key, Words& words);

/// out = max(out, shared + sum over i < n of weight[i] * factor[i]): the length of one path.
void longest_path(const Floats& shared, const float* weight, const Floats* factor, int n, Floats& out);

/// Inserts a value into the list of the `kept` largest values and their owners, largest
/// first; it goes after equal ones.
void insert_largest(const Floats& value, int owner, int kept, Floats* best, Ints* owners);

}  // namespace prismopt

#include "model/numerics/flash_tiles.hpp"

#include <algorithm>
#include <span>

namespace prismopt {

std::size_t visible_keys(const TileGrid& grid, std::size_t query, std::size_t j)
{
    const std::size_t keys = grid.keys_of(j);
    if (!grid.causal) {
        return keys;
    }
    return query < grid.first_key(j) ? 0 : std::min(keys, query + 1 - grid.first_key(j));
}

std::size_t visible_key_tiles(const TileGrid& grid, std::size_t i)
{
    const std::size_t last_query = grid.first_query(i) + grid.queries_of(i) - 1;
    std::size_t tiles = 0;
    while (tiles < grid.key_tiles() && visible_keys(grid, last_query, tiles) > 0) {
        ++tiles;
    }
    return tiles;
}

void TileRounding::accumulate(Matrix<float>& total, Matrix<float> term, AttentionTensor term_name,
                              TensorName total_name) const
{
    intermediate(term, term_name);
    for (std::size_t n = 0; n < total.values().size(); ++n) {
        total.values()[n] += term.values()[n];
    }
    arithmetic_.intermediate(total, total_name);
}

AttentionTiles cut_inputs(const AttentionInputs<float>& in, const TileShape& shape,
                          const Emulated& arithmetic)
{
    return {.q = tiles_of(in.q, shape.queries, AttentionTensor::q, AttentionTensor::q_operand, arithmetic),
            .k = tiles_of(in.k, shape.keys, AttentionTensor::k, AttentionTensor::k_operand, arithmetic),
            .v = tiles_of(in.v, shape.keys, AttentionTensor::v, AttentionTensor::v_operand, arithmetic)};
}

std::vector<Operands> tiles_of(const Matrix<float>& a, std::size_t count, AttentionTensor rows_name,
                               AttentionTensor columns_name, const Emulated& arithmetic)
{
    Matrix<float> rows = a;
    Matrix<float> columns = transposed(a);
    arithmetic.operand(rows, named(rows_name));
    arithmetic.operand(columns, named(columns_name));
    columns = transposed(columns);
    std::vector<Operands> tiles;
    for (std::size_t first = 0; first < a.rows(); first += count) {
        const std::size_t length = std::min(count, a.rows() - first);
        tiles.push_back({rows.rows_from(first, length), transposed(columns.rows_from(first, length))});
    }
    return tiles;
}

void multiply(Matrix<float>& a, float factor)
{
    for (float& x : a.values()) {
        x *= factor;
    }
}

void multiply(Matrix<float>& a, const Matrix<float>& b)
{
    for (std::size_t n = 0; n < a.values().size(); ++n) {
        a.values()[n] *= b.values()[n];
    }
}

void multiply_rows(Matrix<float>& a, const Matrix<float>& factors)
{
    for (std::size_t row = 0; row < a.rows(); ++row) {
        for (float& x : a.row(row)) {
            x *= factors.row(0)[row];
        }
    }
}

void divide_rows(Matrix<float>& a, const Matrix<float>& divisors)
{
    for (std::size_t row = 0; row < a.rows(); ++row) {
        for (float& x : a.row(row)) {
            x /= divisors.row(0)[row];
        }
    }
}

void subtract_from_rows(Matrix<float>& a, const Matrix<float>& values)
{
    for (std::size_t row = 0; row < a.rows(); ++row) {
        for (float& x : a.row(row)) {
            x -= values.row(0)[row];
        }
    }
}

Matrix<float> row_sums(const Matrix<float>& a)
{
    return of_rows(a, [](std::size_t, std::span<const float> row) { return sum(row); });
}

Matrix<float> tile_scores(const Operands& q, const Operands& k, float scale, const TileRounding& rounding)
{
    Matrix<float> s = product(q.rows, k.rows);
    rounding.intermediate(s, AttentionTensor::raw_scores);
    multiply(s, scale);
    rounding.intermediate(s, AttentionTensor::scores);
    return s;
}

Matrix<float> tile_exponentials(Matrix<float> s, const Matrix<float>& maxima, const TileGrid& grid,
                                TileIndex tile, const TileRounding& rounding)
{
    subtract_from_rows(s, maxima);
    rounding.intermediate(s, AttentionTensor::shifted);
    for (std::size_t row = 0; row < s.rows(); ++row) {
        const std::size_t seen = visible_keys(grid, grid.first_query(tile.i) + row, tile.j);
        for (float& x : s.row(row).first(seen)) {
            x = static_cast<float>(exponential(x));
        }
        const std::span<float> hidden = s.row(row).subspan(seen);
        std::fill(hidden.begin(), hidden.end(), 0.0F);
    }
    rounding.intermediate(s, AttentionTensor::exponentials);
    return s;
}

}  // namespace prismopt

#include "model/numerics/flash_attention.hpp"

#include "model/numerics/flash_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

using Tensor = AttentionTensor;

/// The larger of the maxima of rows and of what their queries see of these scores.
Matrix<float> larger_maxima(Matrix<float> maxima, const Matrix<float>& s, const TileGrid& grid,
                            TileIndex tile)
{
    for (std::size_t row = 0; row < s.rows(); ++row) {
        float& maximum = maxima.row(0)[row];
        for (const float x : s.row(row).first(visible_keys(grid, grid.first_query(tile.i) + row, tile.j))) {
            maximum = std::max(maximum, x);
        }
    }
    return maxima;
}

/// Maximum and sum of the exponentials of each row of a tile of queries.
struct RowStatistics {
    Matrix<float> maxima;
    Matrix<float> sums;
};

/// A tile of queries while it passes over the keys.
struct RunningOutput {
    RowStatistics rows;
    Matrix<float> output;  // times the sums
};

/// Multiplies the running sum and output by exp(old maximum - new maximum).
void rescale(const Matrix<float>& new_maxima, const TileRounding& rounding, RunningOutput& running)
{
    Matrix<float> factors = running.rows.maxima;
    for (std::size_t row = 0; row < factors.columns(); ++row) {
        factors.row(0)[row] -= new_maxima.row(0)[row];
    }
    rounding.intermediate(factors, Tensor::shifted_maxima);
    for (float& x : factors.values()) {
        x = static_cast<float>(exponential(x));
    }
    rounding.intermediate(factors, Tensor::factors);
    multiply(running.rows.sums, factors);
    rounding.intermediate(running.rows.sums, Tensor::old_sums);
    multiply_rows(running.output, factors);
    rounding.intermediate(running.output, Tensor::old_output);
}

/// Passes over the keys that a tile of queries sees. The output is divided by its sums at the end.
RunningOutput attend(std::size_t i, const AttentionTiles& tiles, const TileGrid& grid, float scale,
                     const Emulated& arithmetic)
{
    const std::size_t queries = grid.queries_of(i);
    RunningOutput running{.rows = {Matrix<float>(1, queries), Matrix<float>(1, queries)},
                          .output = Matrix<float>(queries, tiles.q[i].rows.columns())};
    const std::span<float> maxima = running.rows.maxima.values();
    std::fill(maxima.begin(), maxima.end(), std::numeric_limits<float>::lowest());
    const std::size_t key_tiles = visible_key_tiles(grid, i);
    for (std::size_t j = 0; j < key_tiles; ++j) {
        const TileRounding rounding(arithmetic, grid, {i, j});
        Matrix<float> s = tile_scores(tiles.q[i], tiles.k[j], scale, rounding);
        Matrix<float> larger = larger_maxima(running.rows.maxima, s, grid, {i, j});
        if (j > 0) {
            rescale(larger, rounding, running);
        }
        running.rows.maxima = std::move(larger);
        Matrix<float> e = tile_exponentials(std::move(s), running.rows.maxima, grid, {i, j}, rounding);
        rounding.accumulate(running.rows.sums, row_sums(e), Tensor::row_sums, rounding.name(Tensor::sums));
        rounding.operand(e, Tensor::probability_operand);
        rounding.accumulate(running.output, product(e, tiles.v[j].columns), Tensor::weighted_values,
                            rounding.name(Tensor::raw_output));
    }
    divide_rows(running.output, running.rows.sums);
    return running;
}

/// Output of the forward pass, and what the backward pass needs of it.
struct ForwardResult {
    Matrix<float> output;
    std::vector<RowStatistics> rows;  // [query tile]
};

ForwardResult forward(const AttentionTiles& tiles, const TileGrid& grid, float scale,
                      const Emulated& arithmetic)
{
    const std::size_t head = tiles.q.front().rows.columns();
    ForwardResult result{Matrix<float>(grid.positions, head), std::vector<RowStatistics>(grid.query_tiles())};
    parallel_for(static_cast<std::int64_t>(grid.query_tiles()), [&](int, std::int64_t tile) {
        const auto i = static_cast<std::size_t>(tile);
        RunningOutput of_tile = attend(i, tiles, grid, scale, arithmetic);
        result.output.set_rows(grid.first_query(i), of_tile.output);
        result.rows[i] = std::move(of_tile.rows);
    });
    arithmetic.stored(result.output, named(Tensor::output));
    return result;
}

struct TileGradients {
    Matrix<float> probabilities;
    Matrix<float> score_gradient;  // dS / sqrt(d)
};

/// A tile of queries in the backward pass.
struct DifferentiatedQueries {
    const Operands& q;
    const Operands& output_gradient;
    const RowStatistics& rows;
    const Matrix<float>& deltas;
};

/// Probabilities of a tile, computed again, and the gradient of its scores.
TileGradients tile_gradients(const DifferentiatedQueries& queries, const Operands& k, const Operands& v,
                             const TileGrid& grid, TileIndex tile, float scale, const TileRounding& rounding)
{
    Matrix<float> p = tile_exponentials(tile_scores(queries.q, k, scale, rounding), queries.rows.maxima, grid,
                                        tile, rounding);
    divide_rows(p, queries.rows.sums);
    rounding.intermediate(p, Tensor::probabilities);
    Matrix<float> gradient = product(queries.output_gradient.rows, v.rows);
    rounding.intermediate(gradient, Tensor::score_gradients);
    subtract_from_rows(gradient, queries.deltas);
    rounding.intermediate(gradient, Tensor::differences);
    multiply(gradient, p);
    rounding.intermediate(gradient, Tensor::products);
    multiply(gradient, scale);
    rounding.intermediate(gradient, Tensor::score_gradients_scaled);
    return {std::move(p), std::move(gradient)};
}

/// sum(dO * O) of each row.
Matrix<float> deltas_of(std::size_t i, const Matrix<float>& output_gradient, const Matrix<float>& output,
                        const TileGrid& grid, const Emulated& arithmetic)
{
    Matrix<float> products = output_gradient.rows_from(grid.first_query(i), grid.queries_of(i));
    arithmetic.intermediate(products, named(Tensor::output_gradient, i + 1));
    multiply(products, output.rows_from(grid.first_query(i), grid.queries_of(i)));
    const TileRounding beyond_tiles(arithmetic, grid, {i, grid.key_tiles() * grid.query_tiles()});
    beyond_tiles.intermediate(products, Tensor::products);
    Matrix<float> deltas = row_sums(products);
    arithmetic.intermediate(deltas, named(Tensor::deltas, i));
    return deltas;
}

Matrix<float> q_gradient_of(const DifferentiatedQueries& queries, std::size_t i, const AttentionTiles& tiles,
                            const TileGrid& grid, float scale, const Emulated& arithmetic)
{
    Matrix<float> gradient(grid.queries_of(i), queries.q.rows.columns());
    const std::size_t key_tiles = visible_key_tiles(grid, i);
    for (std::size_t j = 0; j < key_tiles; ++j) {
        const TileRounding rounding(arithmetic, grid, {i, j});
        Matrix<float> of_scores =
            tile_gradients(queries, tiles.k[j], tiles.v[j], grid, {i, j}, scale, rounding).score_gradient;
        rounding.operand(of_scores, Tensor::difference_operand);
        rounding.accumulate(gradient, product(of_scores, tiles.k[j].columns), Tensor::q_terms,
                            rounding.next_name(Tensor::q_gradient));
    }
    return gradient;
}

/// Gradients of a tile of keys and its values.
struct KeyGradients {
    Matrix<float> k;
    Matrix<float> v;
};

KeyGradients key_gradients_of(const std::vector<DifferentiatedQueries>& queries, std::size_t j,
                              const AttentionTiles& tiles, const TileGrid& grid, float scale,
                              const Emulated& arithmetic)
{
    const std::size_t head = tiles.k[j].rows.columns();
    KeyGradients gradients{Matrix<float>(grid.keys_of(j), head), Matrix<float>(grid.keys_of(j), head)};
    for (std::size_t i = 0; i < queries.size(); ++i) {
        if (j >= visible_key_tiles(grid, i)) {
            continue;
        }
        const TileRounding rounding(arithmetic, grid, {i, j});
        const TileGradients tile =
            tile_gradients(queries[i], tiles.k[j], tiles.v[j], grid, {i, j}, scale, rounding);
        Matrix<float> of_scores = transposed(tile.score_gradient);
        Matrix<float> probabilities = transposed(tile.probabilities);
        rounding.operand(of_scores, Tensor::difference_operand);
        rounding.operand(probabilities, Tensor::probability_operand);
        rounding.accumulate(gradients.k, product(of_scores, queries[i].q.columns), Tensor::k_terms,
                            rounding.next_name(Tensor::k_gradient));
        rounding.accumulate(gradients.v, product(probabilities, queries[i].output_gradient.columns),
                            Tensor::v_terms, rounding.next_name(Tensor::v_gradient));
    }
    return gradients;
}

}  // namespace

/// Each pass over keys or queries computes the probabilities of its tiles again.
AttentionOutputs<float> flash_attention(const AttentionInputs<float>& in, const TileShape& tile,
                                        const Emulated& arithmetic)
{
    const TileGrid grid{in.q.rows(), tile, in.causal};
    const float scale = score_scale(in);
    const std::size_t head = in.q.columns();
    const AttentionTiles tiles = cut_inputs(in, tile, arithmetic);
    const std::vector<Operands> output_gradients =
        tiles_of(in.output_gradient, tile.queries, Tensor::output_gradient, Tensor::output_gradient_operand,
                 arithmetic);
    ForwardResult passed = forward(tiles, grid, scale, arithmetic);
    AttentionOutputs<float> out{.output = std::move(passed.output),
                                .q_gradient = Matrix<float>(grid.positions, head),
                                .k_gradient = Matrix<float>(grid.positions, head),
                                .v_gradient = Matrix<float>(grid.positions, head)};
    std::vector<Matrix<float>> deltas(grid.query_tiles());
    std::vector<DifferentiatedQueries> queries;
    for (std::size_t i = 0; i < grid.query_tiles(); ++i) {
        queries.push_back(DifferentiatedQueries{tiles.q[i], output_gradients[i], passed.rows[i], deltas[i]});
    }
    parallel_for(static_cast<std::int64_t>(grid.query_tiles()), [&](int, std::int64_t query_tile) {
        const auto i = static_cast<std::size_t>(query_tile);
        deltas[i] = deltas_of(i, in.output_gradient, out.output, grid, arithmetic);
        out.q_gradient.set_rows(grid.first_query(i),
                                q_gradient_of(queries[i], i, tiles, grid, scale, arithmetic));
    });
    parallel_for(static_cast<std::int64_t>(grid.key_tiles()), [&](int, std::int64_t key_tile) {
        const auto j = static_cast<std::size_t>(key_tile);
        const KeyGradients gradients = key_gradients_of(queries, j, tiles, grid, scale, arithmetic);
        out.k_gradient.set_rows(grid.first_key(j), gradients.k);
        out.v_gradient.set_rows(grid.first_key(j), gradients.v);
    });
    arithmetic.stored(out.q_gradient, named(Tensor::q_gradient));
    arithmetic.stored(out.k_gradient, named(Tensor::k_gradient));
    arithmetic.stored(out.v_gradient, named(Tensor::v_gradient));
    return out;
}

Matrix<float> flash_output(const AttentionInputs<float>& in, const TileShape& tile,
                           const Emulated& arithmetic)
{
    const TileGrid grid{in.q.rows(), tile, in.causal};
    return forward(cut_inputs(in, tile, arithmetic), grid, score_scale(in), arithmetic).output;
}

}  // namespace prismopt

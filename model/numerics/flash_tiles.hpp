#pragma once

/// Tiles of flash attention: their places, operands and roundings, and the steps that both passes compute.

#include "model/numerics/attention_tensors.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Positions of a sequence in tiles of queries and of keys.
struct TileGrid {
    std::size_t positions;
    TileShape shape;
    bool causal;

    std::size_t query_tiles() const { return (positions + shape.queries - 1) / shape.queries; }
    std::size_t key_tiles() const { return (positions + shape.keys - 1) / shape.keys; }
    std::size_t first_query(std::size_t i) const { return i * shape.queries; }
    std::size_t first_key(std::size_t j) const { return j * shape.keys; }
    std::size_t queries_of(std::size_t i) const
    {
        return std::min(shape.queries, positions - first_query(i));
    }
    std::size_t keys_of(std::size_t j) const { return std::min(shape.keys, positions - first_key(j)); }
};

/// Keys of tile j that a query sees.
std::size_t visible_keys(const TileGrid& grid, std::size_t query, std::size_t j);
/// Tiles of keys that some query of a tile sees: the first ones.
std::size_t visible_key_tiles(const TileGrid& grid, std::size_t i);

/// Queries i by keys j.
struct TileIndex {
    std::size_t i;
    std::size_t j;
};

/// Rounding of the tensors of one tile. The arithmetic must outlive it.
class TileRounding {
public:
    TileRounding(const Emulated& arithmetic, const TileGrid& grid, TileIndex tile)
        : arithmetic_(arithmetic), number_(tile.i * grid.key_tiles() + tile.j)
    {
    }

    void intermediate(Matrix<float>& a, AttentionTensor tensor) const
    {
        arithmetic_.intermediate(a, named(tensor, number_));
    }
    void operand(Matrix<float>& a, AttentionTensor tensor) const
    {
        arithmetic_.operand(a, named(tensor, number_));
    }

    /// Adds a product to a running sum.
    void accumulate(Matrix<float>& total, Matrix<float> term, AttentionTensor term_name,
                    TensorName total_name) const;
    TensorName name(AttentionTensor tensor) const { return named(tensor, number_); }
    TensorName next_name(AttentionTensor tensor) const { return named(tensor, number_ + 1); }

private:
    const Emulated& arithmetic_;
    std::size_t number_;
};

/// Rows of the operands of one tile.
struct Operands {
    Matrix<float> rows;     // of products that sum over the head
    Matrix<float> columns;  // transposed, of products that sum over positions
};

/// Operands of both passes.
struct AttentionTiles {
    std::vector<Operands> q;  // [query tile]
    std::vector<Operands> k;  // [key tile]
    std::vector<Operands> v;  // [key tile]
};

AttentionTiles cut_inputs(const AttentionInputs<float>& in, const TileShape& shape,
                          const Emulated& arithmetic);
/// Rounded before they are cut, so that factors of whole tensors are those of the tensor.
std::vector<Operands> tiles_of(const Matrix<float>& a, std::size_t count, AttentionTensor rows_name,
                               AttentionTensor columns_name, const Emulated& arithmetic);

void multiply(Matrix<float>& a, float factor);
void multiply(Matrix<float>& a, const Matrix<float>& b);
void multiply_rows(Matrix<float>& a, const Matrix<float>& factors);
void divide_rows(Matrix<float>& a, const Matrix<float>& divisors);
void subtract_from_rows(Matrix<float>& a, const Matrix<float>& values);
/// One sum for each row.
Matrix<float> row_sums(const Matrix<float>& a);

Matrix<float> tile_scores(const Operands& q, const Operands& k, float scale, const TileRounding& rounding);
/// exp(scores - maxima), 0 where a key is not visible.
Matrix<float> tile_exponentials(Matrix<float> s, const Matrix<float>& maxima, const TileGrid& grid,
                                TileIndex tile, const TileRounding& rounding);

}  // namespace prismopt

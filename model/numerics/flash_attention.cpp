#include "model/numerics/flash_attention.hpp"

#include "model/numerics/attention_parts.hpp"

#include <limits>
#include <vector>

namespace prismopt {

namespace {

using Tensor = AttentionTensor;

/// Rows of the operands of one tile.
struct Operands {
    Matrix<float> rows;     // of products that sum over the head
    Matrix<float> columns;  // transposed, of products that sum over positions
};

class FlashAttention {
public:
    FlashAttention(const AttentionInputs<float>& in, const TileShape& tile, const Emulated& arithmetic)
        : in_(in), tile_(tile), arithmetic_(arithmetic), scale_(score_scale(in)), positions_(in.q.rows()),
          key_tiles_((positions_ + tile.keys - 1) / tile.keys), query_tiles_((positions_ + tile.queries - 1) / tile.queries),
          q_(tiles_of(in.q, tile.queries, Tensor::q, Tensor::q_operand)),
          k_(tiles_of(in.k, tile.keys, Tensor::k, Tensor::k_operand)),
          v_(tiles_of(in.v, tile.keys, Tensor::v, Tensor::v_operand)),
          output_gradient_(tiles_of(in.output_gradient, tile.queries, Tensor::output_gradient, Tensor::output_gradient_operand)),
          maxima_(query_tiles_), sums_(query_tiles_), deltas_(query_tiles_)
    {
    }

    Matrix<float> forward()
    {
        Matrix<float> output(positions_, in_.q.columns());
        parallel_for(static_cast<std::int64_t>(query_tiles_),
                     [&](int, std::int64_t i) { forward(static_cast<std::size_t>(i), output); });
        arithmetic_.stored(output, named(Tensor::output));
        return output;
    }

    /// Forward and backward. Each pass over keys or queries computes the probabilities of its tiles again.
    AttentionOutputs<float> run()
    {
        const std::size_t head = in_.q.columns();
        AttentionOutputs<float> out{.output = forward(),
                                    .q_gradient = Matrix<float>(positions_, head),
                                    .k_gradient = Matrix<float>(positions_, head),
                                    .v_gradient = Matrix<float>(positions_, head)};
        parallel_for(static_cast<std::int64_t>(query_tiles_),
                     [&](int, std::int64_t i) { differentiate_queries(static_cast<std::size_t>(i), out); });
        parallel_for(static_cast<std::int64_t>(key_tiles_),
                     [&](int, std::int64_t j) { differentiate_keys(static_cast<std::size_t>(j), out); });
        arithmetic_.stored(out.q_gradient, named(Tensor::q_gradient));
        arithmetic_.stored(out.k_gradient, named(Tensor::k_gradient));
        arithmetic_.stored(out.v_gradient, named(Tensor::v_gradient));
        return out;
    }

private:
    TensorName at(Tensor tensor, std::size_t i, std::size_t j) const { return named(tensor, i * key_tiles_ + j); }

    /// Rounded before they are cut, so that factors of whole tensors are those of the tensor.
    std::vector<Operands> tiles_of(const Matrix<float>& a, std::size_t count, Tensor rows_name, Tensor columns_name) const
    {
        Matrix<float> rows = a;
        Matrix<float> columns = transposed(a);
        arithmetic_.operand(rows, named(rows_name));
        arithmetic_.operand(columns, named(columns_name));
        columns = transposed(columns);
        std::vector<Operands> tiles;
        for (std::size_t first = 0; first < a.rows(); first += count) {
            const std::size_t length = std::min(count, a.rows() - first);
            tiles.push_back({rows.rows_from(first, length), transposed(columns.rows_from(first, length))});
        }
        return tiles;
    }

    std::size_t first_query(std::size_t i) const { return i * tile_.queries; }
    std::size_t first_key(std::size_t j) const { return j * tile_.keys; }
    /// Keys of tile j that a query sees.
    std::size_t visible(std::size_t query, std::size_t j) const
    {
        const std::size_t keys = k_[j].rows.rows();
        if (!in_.causal) {
            return keys;
        }
        return query < first_key(j) ? 0 : std::min(keys, query + 1 - first_key(j));
    }
    bool any_visible(std::size_t i, std::size_t j) const { return visible(first_query(i) + q_[i].rows.rows() - 1, j) > 0; }

    Matrix<float> scores(std::size_t i, std::size_t j) const
    {
        Matrix<float> s = product(q_[i].rows, k_[j].rows);
        arithmetic_.intermediate(s, at(Tensor::raw_scores, i, j));
        for (float& x : s.values()) {
            x *= scale_;
        }
        arithmetic_.intermediate(s, at(Tensor::scores, i, j));
        return s;
    }

    /// exp(scores - maxima), 0 where a key is not visible.
    Matrix<float> exponentials(Matrix<float> s, const Matrix<float>& maxima, std::size_t i, std::size_t j) const
    {
        for (std::size_t row = 0; row < s.rows(); ++row) {
            for (float& x : s.row(row)) {
                x -= maxima.row(0)[row];
            }
        }
        arithmetic_.intermediate(s, at(Tensor::shifted, i, j));
        for (std::size_t row = 0; row < s.rows(); ++row) {
            const std::size_t seen = visible(first_query(i) + row, j);
            for (float& x : s.row(row).first(seen)) {
                x = static_cast<float>(exponential(x));
            }
            std::fill(s.row(row).begin() + static_cast<std::ptrdiff_t>(seen), s.row(row).end(), 0.0F);
        }
        arithmetic_.intermediate(s, at(Tensor::exponentials, i, j));
        return s;
    }

    static void multiply_rows(Matrix<float>& a, const Matrix<float>& factors)
    {
        for (std::size_t row = 0; row < a.rows(); ++row) {
            for (float& x : a.row(row)) {
                x *= factors.row(0)[row];
            }
        }
    }
    static void add(Matrix<float>& a, const Matrix<float>& b)
    {
        for (std::size_t n = 0; n < a.values().size(); ++n) {
            a.values()[n] += b.values()[n];
        }
    }
    static void multiply(Matrix<float>& a, const Matrix<float>& b)
    {
        for (std::size_t n = 0; n < a.values().size(); ++n) {
            a.values()[n] *= b.values()[n];
        }
    }

    /// Adds a product to a running sum.
    void accumulate(Matrix<float>& total, Matrix<float> term, TensorName term_name, TensorName total_name) const
    {
        arithmetic_.intermediate(term, term_name);
        add(total, term);
        arithmetic_.intermediate(total, total_name);
    }

    void forward(std::size_t i, Matrix<float>& out)
    {
        const std::size_t rows = q_[i].rows.rows();
        Matrix<float> maxima(1, rows);
        std::fill(maxima.values().begin(), maxima.values().end(), std::numeric_limits<float>::lowest());
        Matrix<float> sums(1, rows);
        Matrix<float> output(rows, in_.q.columns());
        for (std::size_t j = 0; j < key_tiles_ && any_visible(i, j); ++j) {
            Matrix<float> s = scores(i, j);
            Matrix<float> larger = maxima;
            for (std::size_t row = 0; row < rows; ++row) {
                for (const float x : s.row(row).first(visible(first_query(i) + row, j))) {
                    larger.row(0)[row] = std::max(larger.row(0)[row], x);
                }
            }
            if (j > 0) {
                rescale(maxima, larger, sums, output, i, j);
            }
            maxima = larger;
            Matrix<float> e = exponentials(std::move(s), maxima, i, j);
            Matrix<float> row_sums = of_rows(e, [](std::size_t, std::span<const float> row) { return sum(row); });
            accumulate(sums, std::move(row_sums), at(Tensor::row_sums, i, j), at(Tensor::sums, i, j));
            arithmetic_.operand(e, at(Tensor::probability_operand, i, j));
            accumulate(output, product(e, v_[j].columns), at(Tensor::weighted_values, i, j), at(Tensor::raw_output, i, j));
        }
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t d = 0; d < output.columns(); ++d) {
                out.row(first_query(i) + row)[d] = output.row(row)[d] / sums.row(0)[row];
            }
        }
        maxima_[i] = std::move(maxima);
        sums_[i] = std::move(sums);
    }

    /// Multiplies the running sum and output by exp(old maximum - new maximum).
    void rescale(Matrix<float> maxima, const Matrix<float>& larger, Matrix<float>& sums, Matrix<float>& output, std::size_t i,
                 std::size_t j) const
    {
        for (std::size_t row = 0; row < maxima.columns(); ++row) {
            maxima.row(0)[row] -= larger.row(0)[row];
        }
        arithmetic_.intermediate(maxima, at(Tensor::shifted_maxima, i, j));
        for (float& x : maxima.values()) {
            x = static_cast<float>(exponential(x));
        }
        arithmetic_.intermediate(maxima, at(Tensor::factors, i, j));
        multiply(sums, maxima);
        arithmetic_.intermediate(sums, at(Tensor::old_sums, i, j));
        multiply_rows(output, maxima);
        arithmetic_.intermediate(output, at(Tensor::old_output, i, j));
    }

    struct TileGradients {
        Matrix<float> probabilities;
        Matrix<float> score_gradient;  // dS / sqrt(d)
    };

    /// Probabilities of a tile, computed again, and the gradient of its scores.
    TileGradients tile_gradients(std::size_t i, std::size_t j, const Matrix<float>& deltas) const
    {
        TileGradients result;
        Matrix<float>& p = result.probabilities;
        p = exponentials(scores(i, j), maxima_[i], i, j);
        for (std::size_t row = 0; row < p.rows(); ++row) {
            for (float& x : p.row(row)) {
                x /= sums_[i].row(0)[row];
            }
        }
        arithmetic_.intermediate(p, at(Tensor::probabilities, i, j));
        Matrix<float>& gradient = result.score_gradient;
        gradient = product(output_gradient_[i].rows, v_[j].rows);
        arithmetic_.intermediate(gradient, at(Tensor::score_gradients, i, j));
        for (std::size_t row = 0; row < gradient.rows(); ++row) {
            for (float& x : gradient.row(row)) {
                x -= deltas.row(0)[row];
            }
        }
        arithmetic_.intermediate(gradient, at(Tensor::differences, i, j));
        multiply(gradient, p);
        arithmetic_.intermediate(gradient, at(Tensor::products, i, j));
        for (float& x : gradient.values()) {
            x *= scale_;
        }
        arithmetic_.intermediate(gradient, at(Tensor::score_gradients_scaled, i, j));
        return result;
    }

    /// sum(dO * O) of each row.
    Matrix<float> deltas(std::size_t i, const AttentionOutputs<float>& out) const
    {
        Matrix<float> products = in_.output_gradient.rows_from(first_query(i), q_[i].rows.rows());
        arithmetic_.intermediate(products, named(Tensor::output_gradient, i + 1));
        multiply(products, out.output.rows_from(first_query(i), q_[i].rows.rows()));
        arithmetic_.intermediate(products, at(Tensor::products, i, key_tiles_ * query_tiles_));
        Matrix<float> result = of_rows(products, [](std::size_t, std::span<const float> row) { return sum(row); });
        arithmetic_.intermediate(result, named(Tensor::deltas, i));
        return result;
    }

    void differentiate_queries(std::size_t i, AttentionOutputs<float>& out)
    {
        deltas_[i] = deltas(i, out);
        Matrix<float> gradient(q_[i].rows.rows(), in_.q.columns());
        for (std::size_t j = 0; j < key_tiles_ && any_visible(i, j); ++j) {
            Matrix<float> of_scores = tile_gradients(i, j, deltas_[i]).score_gradient;
            arithmetic_.operand(of_scores, at(Tensor::difference_operand, i, j));
            accumulate(gradient, product(of_scores, k_[j].columns), at(Tensor::q_terms, i, j), at(Tensor::q_gradient, i, j + 1));
        }
        copy_rows(gradient, first_query(i), out.q_gradient);
    }

    void differentiate_keys(std::size_t j, AttentionOutputs<float>& out) const
    {
        const std::size_t keys = k_[j].rows.rows();
        Matrix<float> k_gradient(keys, in_.q.columns());
        Matrix<float> v_gradient(keys, in_.q.columns());
        for (std::size_t i = 0; i < query_tiles_; ++i) {
            if (!any_visible(i, j)) {
                continue;
            }
            const TileGradients tile = tile_gradients(i, j, deltas_[i]);
            Matrix<float> of_scores = transposed(tile.score_gradient);
            Matrix<float> probabilities = transposed(tile.probabilities);
            arithmetic_.operand(of_scores, at(Tensor::difference_operand, i, j));
            arithmetic_.operand(probabilities, at(Tensor::probability_operand, i, j));
            accumulate(k_gradient, product(of_scores, q_[i].columns), at(Tensor::k_terms, i, j),
                       at(Tensor::k_gradient, i, j + 1));
            accumulate(v_gradient, product(probabilities, output_gradient_[i].columns), at(Tensor::v_terms, i, j),
                       at(Tensor::v_gradient, i, j + 1));
        }
        copy_rows(k_gradient, first_key(j), out.k_gradient);
        copy_rows(v_gradient, first_key(j), out.v_gradient);
    }

    static void copy_rows(const Matrix<float>& from, std::size_t first, Matrix<float>& to)
    {
        for (std::size_t row = 0; row < from.rows(); ++row) {
            std::copy(from.row(row).begin(), from.row(row).end(), to.row(first + row).begin());
        }
    }

    const AttentionInputs<float>& in_;
    TileShape tile_;
    const Emulated& arithmetic_;
    float scale_;
    std::size_t positions_;
    std::size_t key_tiles_;
    std::size_t query_tiles_;
    std::vector<Operands> q_;
    std::vector<Operands> k_;
    std::vector<Operands> v_;
    std::vector<Operands> output_gradient_;
    std::vector<Matrix<float>> maxima_;  // [query tile], of each row
    std::vector<Matrix<float>> sums_;
    std::vector<Matrix<float>> deltas_;
};

}  // namespace

AttentionOutputs<float> flash_attention(const AttentionInputs<float>& in, const TileShape& tile, const Emulated& arithmetic)
{
    return FlashAttention(in, tile, arithmetic).run();
}

Matrix<float> flash_output(const AttentionInputs<float>& in, const TileShape& tile, const Emulated& arithmetic)
{
    return FlashAttention(in, tile, arithmetic).forward();
}

}  // namespace prismopt

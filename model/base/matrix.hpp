#pragma once

/// Dense matrices, row by row, and products that are summed in the order of their indices.

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

template <class T>
class Matrix {
public:
    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::span<T> row(std::size_t i) { return std::span(values_).subspan(i * columns_, columns_); }
    std::span<const T> row(std::size_t i) const { return std::span(values_).subspan(i * columns_, columns_); }
    std::span<T> values() { return values_; }
    std::span<const T> values() const { return values_; }

    /// Rows [first, first + count).
    Matrix rows_from(std::size_t first, std::size_t count) const;
    /// Sets the rows from `first` on.
    void set_rows(std::size_t first, const Matrix& rows);

private:
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::vector<T> values_;
};

template <class T>
Matrix<T> transposed(const Matrix<T>& a);

/// The same numbers as doubles.
Matrix<double> widened(const Matrix<float>& a);

/// a b^T, both operands with the summed index last. Each element is the sum of rounded products, in the order
/// of that index; the result does not depend on threads or vector registers.
template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b);

}  // namespace prismopt

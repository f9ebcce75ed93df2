#include "model/base/matrix.hpp"

#include "model/base/parallel.hpp"
#include "model/base/registers.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace prismopt {

namespace {

constexpr std::size_t panel_rows = 64;  // of the left operand, for one thread
constexpr std::size_t rows_together = 4;
constexpr std::size_t panel_bytes = 128;  // of the right operand's columns: two of the widest registers

template <class T>
constexpr std::size_t panel_columns = panel_bytes / sizeof(T);

/// The right operand in panels: [panel][summed index][column of the panel], filled up with zeros.
template <class T>
std::vector<T> packed(const Matrix<T>& b)
{
    constexpr std::size_t width = panel_columns<T>;
    const std::size_t depth = b.columns();
    std::vector<T> panels((b.rows() + width - 1) / width * width * depth);
    for (std::size_t j = 0; j < b.rows(); ++j) {
        T* out = &panels[j / width * width * depth + j % width];
        const auto row = b.row(j);
        for (std::size_t k = 0; k < depth; ++k) {
            out[k * width] = row[k];
        }
    }
    return panels;
}

/// Products of four rows with a panel.
template <class R, class T>
[[gnu::always_inline]] inline void multiply_panel(const T* const* rows, const T* panel, std::size_t depth,
                                                  T* out)
{
    constexpr std::size_t bytes = R::width * sizeof(float);
    using Vector [[gnu::vector_size(bytes), gnu::may_alias, gnu::aligned(sizeof(T))]] = T;
    constexpr std::size_t lanes_of_t = bytes / sizeof(T);
    constexpr std::size_t registers = panel_bytes / bytes;
    // As many registers at a time as the narrowest machine has.
    constexpr std::size_t at_once = std::min<std::size_t>(registers, 2);
    for (std::size_t first = 0; first < registers; first += at_once) {
        Vector sums[rows_together][at_once] = {};
        for (std::size_t k = 0; k < depth; ++k) {
            const T* from = panel + k * panel_columns<T> + first * lanes_of_t;
            for (std::size_t v = 0; v < at_once; ++v) {
                const Vector column = *reinterpret_cast<const Vector*>(from + v * lanes_of_t);
                for (std::size_t r = 0; r < rows_together; ++r) {
                    sums[r][v] += rows[r][k] * column;
                }
            }
        }
        for (std::size_t r = 0; r < rows_together; ++r) {
            std::memcpy(out + r * panel_columns<T> + first * lanes_of_t, sums[r], sizeof(sums[r]));
        }
    }
}

template <class T>
void multiply_rows(const Matrix<T>& a, const std::vector<T>& panels, std::size_t first, std::size_t last,
                   Matrix<T>& out)
{
    constexpr std::size_t width = panel_columns<T>;
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        for (std::size_t column = 0; column < out.columns(); column += width) {
            const T* panel = &panels[column * a.columns()];
            const std::size_t kept = std::min(width, out.columns() - column);
            for (std::size_t i = first; i < last; i += rows_together) {
                const T* rows[rows_together];
                for (std::size_t r = 0; r < rows_together; ++r) {
                    rows[r] = a.row(std::min(i + r, last - 1)).data();
                }
                T sums[rows_together * width];
                multiply_panel<R>(rows, panel, a.columns(), sums);
                for (std::size_t r = 0; r < std::min(rows_together, last - i); ++r) {
                    std::copy_n(sums + r * width, kept, &out.row(i + r)[column]);
                }
            }
        }
    });
}

}  // namespace

template <class T>
Matrix<T> Matrix<T>::rows_from(std::size_t first, std::size_t count) const
{
    Matrix taken(count, columns_);
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first * columns_), count * columns_,
                taken.values_.begin());
    return taken;
}

template <class T>
void Matrix<T>::set_rows(std::size_t first, const Matrix& rows)
{
    assert(rows.columns_ == columns_ && first + rows.rows_ <= rows_);
    std::copy(rows.values_.begin(), rows.values_.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(first * columns_));
}

template <class T>
Matrix<T> transposed(const Matrix<T>& a)
{
    Matrix<T> result(a.columns(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        const auto row = a.row(i);
        for (std::size_t j = 0; j < a.columns(); ++j) {
            result.row(j)[i] = row[j];
        }
    }
    return result;
}

Matrix<double> widened(const Matrix<float>& a)
{
    Matrix<double> wide(a.rows(), a.columns());
    std::copy(a.values().begin(), a.values().end(), wide.values().begin());
    return wide;
}

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b)
{
    assert(a.columns() == b.columns());
    Matrix<T> result(a.rows(), b.rows());
    const std::vector<T> panels = packed(b);
    const std::size_t panel_count = (a.rows() + panel_rows - 1) / panel_rows;
    parallel_for(static_cast<std::int64_t>(panel_count), [&](int, std::int64_t panel_index) {
        const std::size_t first = static_cast<std::size_t>(panel_index) * panel_rows;
        multiply_rows(a, panels, first, std::min(first + panel_rows, a.rows()), result);
    });
    return result;
}

template class Matrix<float>;
template class Matrix<double>;
template Matrix<float> transposed(const Matrix<float>& a);
template Matrix<double> transposed(const Matrix<double>& a);
template Matrix<float> product(const Matrix<float>& a, const Matrix<float>& b);
template Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace prismopt

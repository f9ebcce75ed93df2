#pragma once

/// How an operation computes: exactly, or in an emulated format.

#include "model/base/names.hpp"
#include "model/numerics/formats/number_format.hpp"

#include <array>

namespace prismopt {

/// Which numbers are rounded to the format.
enum class Arithmetic {
    // results of all operations on tensors, as in Golden et al., arXiv 2405.02803; products sum in FP32
    all_rounded,
    // operands of products, and what is written to memory;
    // sums, softmax and statistics in FP32, as kernels do
    fp32_accumulation
};
template <>
inline constexpr auto names_of<Arithmetic> = std::to_array<Named<Arithmetic>>(
    {{Arithmetic::all_rounded, "all-rounded"}, {Arithmetic::fp32_accumulation, "fp32-accumulation"}});

/// Doubles, without rounding: the reference.
class ExactArithmetic {
public:
    using Value = double;
    void operand(Matrix<double>&, TensorName) const {}
    void intermediate(Matrix<double>&, TensorName) const {}
    void stored(Matrix<double>&, TensorName) const {}
};

/// A format, emulated in floats.
class Emulated {
public:
    using Value = float;
    Emulated(const NumberFormat& format, Arithmetic arithmetic, const RoundingChoice& how = {})
        : format_(format), arithmetic_(arithmetic), how_(how)
    {
    }

    /// Rounds an operand of a product.
    void operand(Matrix<float>& a, TensorName name) const { quantise(a, format_, how_, name); }
    /// Rounds what a kernel keeps in registers.
    void intermediate(Matrix<float>& a, TensorName name) const
    {
        if (arithmetic_ == Arithmetic::all_rounded) {
            quantise(a, format_, how_, name);
        }
    }
    /// Rounds what is written to memory.
    void stored(Matrix<float>& a, TensorName name) const
    {
        if (arithmetic_ == Arithmetic::all_rounded) {
            quantise(a, format_, how_, name);
        } else {
            round_elements(a, format_.stored, {}, name);
        }
    }

private:
    NumberFormat format_;
    Arithmetic arithmetic_;
    RoundingChoice how_;
};

}  // namespace prismopt

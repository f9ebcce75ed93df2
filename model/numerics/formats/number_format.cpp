#include "model/numerics/formats/number_format.hpp"

#include "model/base/random.hpp"
#include "model/base/registers.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr std::size_t words = 4;  // of one random event

/// Rounds numbers divided by their scale, and multiplies by it again. `row`,
/// `first`: their place in the tensor.
void round_span(std::span<float> values, double scale, const Rounder& rounder, const RoundingChoice& how,
                TensorName name, std::size_t row, std::size_t first)
{
    switch (how.rounding) {
        case Rounding::nearest_even:
            on_registers([&](auto) PRISMOPT_INLINE {
                for (float& x : values) {
                    x = static_cast<float>(rounder.nearest_even(x / scale) * scale);
                }
            });
            break;
        case Rounding::toward_zero:
            on_registers([&](auto) PRISMOPT_INLINE {
                for (float& x : values) {
                    x = static_cast<float>(rounder.toward_zero(x / scale) * scale);
                }
            });
            break;
        case Rounding::stochastic: {
            std::array<std::uint32_t, words> random{};
            for (std::size_t i = 0; i < values.size(); ++i) {
                const std::size_t column = first + i;
                if (i == 0 || column % words == 0) {
                    random = philox(how.seed, {static_cast<std::uint32_t>(row),
                                               static_cast<std::uint32_t>(column / words), name.tile,
                                               use(Stream::rounding, Purpose::search, name.tensor)});
                }
                const double uniform = random[column % words] * 0x1p-32;
                values[i] = static_cast<float>(rounder.stochastic(values[i] / scale, uniform) * scale);
            }
            break;
        }
    }
}

float largest_size(std::span<const float> values)
{
    float largest = 0.0F;
    for (const float x : values) {
        largest = std::max(largest, std::fabs(x));
    }
    return largest;
}

double e8m0(int exponent) { return std::ldexp(1.0, std::clamp(exponent, -127, 127)); }

/// Factor of a block: the largest element's power of two over that of the format.
double mx_scale(float largest, const ElementFormat& format)
{
    return e8m0(std::ilogb(largest) - format.largest_exponent());
}

/// The least factor with which the largest element does not exceed the format's largest number.
double mx_scale_up(float largest, const ElementFormat& format)
{
    const double ratio = largest / format.largest();
    const int below = std::ilogb(ratio);
    return e8m0(std::ldexp(1.0, below) < ratio ? below + 1 : below);
}

class Scales {
public:
    Scales(const Matrix<float>& tensor, const NumberFormat& format) : format_(format), e4m3_(element::e4m3)
    {
        if (format.scaling == Scaling::tensor) {
            tensor_ = fp32(largest_size(tensor.values()) / format.element.largest());
        } else if (format.scaling == Scaling::nvfp4) {
            tensor_ =
                fp32(largest_size(tensor.values()) / (element::e4m3.largest() * format.element.largest()));
        }
    }

    /// 0: the block has no element that is representable other than 0.
    double of(std::span<const float> block) const
    {
        const bool of_block = format_.scaling != Scaling::none && format_.scaling != Scaling::tensor;
        const float largest = of_block ? largest_size(block) : 0.0F;
        switch (format_.scaling) {
            case Scaling::none: return 1.0;
            case Scaling::tensor: return tensor_;
            case Scaling::block: return fp32(largest / format_.element.largest());
            case Scaling::mx: return largest > 0.0F ? mx_scale(largest, format_.element) : 0.0;
            case Scaling::mx_up: return largest > 0.0F ? mx_scale_up(largest, format_.element) : 0.0;
            case Scaling::nvfp4:
                return tensor_ > 0.0
                           ? tensor_ * e4m3_.nearest_even(largest / format_.element.largest() / tensor_)
                           : 0.0;
        }
        return 1.0;
    }

private:
    static double fp32(double x) { return static_cast<float>(x); }

    const NumberFormat& format_;
    Rounder e4m3_;
    double tensor_ = 1.0;
};

}  // namespace

const NumberFormat* number_format(std::string_view name)
{
    const auto* found = std::find_if(number_formats.begin(), number_formats.end(),
                                     [name](const NumberFormat& format) { return format.name == name; });
    return found == number_formats.end() ? nullptr : found;
}

std::string number_format_names()
{
    std::string names;
    for (const NumberFormat& format : number_formats) {
        names += (names.empty() ? "" : ", ") + std::string(format.name);
    }
    return names;
}

void round_elements(Matrix<float>& values, const ElementFormat& format, const RoundingChoice& how,
                    TensorName name)
{
    const Rounder rounder(format);
    for (std::size_t row = 0; row < values.rows(); ++row) {
        round_span(values.row(row), 1.0, rounder, how, name, row, 0);
    }
}

void quantise(Matrix<float>& values, const NumberFormat& format, const RoundingChoice& how, TensorName name)
{
    const Rounder rounder(format.element);
    const Scales scales(values, format);
    const std::size_t block = format.block > 0 ? format.block : values.columns();
    for (std::size_t row = 0; row < values.rows(); ++row) {
        for (std::size_t first = 0; first < values.columns(); first += block) {
            const auto within = values.row(row).subspan(first, std::min(block, values.columns() - first));
            if (const double scale = scales.of(within); scale == 0.0) {
                std::fill(within.begin(), within.end(), 0.0F);
            } else {
                round_span(within, scale, rounder, how, name, row, first);
            }
        }
    }
}

}  // namespace prismopt

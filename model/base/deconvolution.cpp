#include "model/base/deconvolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace prismopt {

namespace {

constexpr std::size_t bins = 128;
constexpr double reach = 8.0;
constexpr double width = 2.0 * reach / bins;
static_assert(width == deconvolution_bin);
constexpr int iterations = 10;

using Bins = std::array<double, bins>;
/// By distance in bins: [bins + distance]. Zero outside [first, end), so that sums over it skip most of it.
struct Kernel {
    explicit Kernel(const std::array<double, 2 * bins>& shares) : of_distance(shares)
    {
        const auto positive = [](double share) { return share > 0.0; };
        first = std::find_if(shares.begin(), shares.end(), positive) - shares.begin();
        end = shares.rend() - std::find_if(shares.rbegin(), shares.rend(), positive);
    }

    std::array<double, 2 * bins> of_distance;
    std::ptrdiff_t first = 0;
    std::ptrdiff_t end = 0;
};

/// Shares of the values, each split between the two bins whose middles it lies between; `first`:
/// place of the first bin's middle.
template <std::size_t Size>
std::array<double, Size> shares(std::span<const double> values, double first)
{
    std::array<double, Size> result{};
    const double each = 1.0 / static_cast<double>(values.size());
    constexpr double last = static_cast<double>(Size) - 1.001;
    for (const double value : values) {
        const double place = std::clamp((value - first) / width, 0.0, last);
        const auto below = static_cast<std::size_t>(place);
        const double fraction = place - static_cast<double>(below);
        result[below] += each * (1.0 - fraction);
        result[below + 1] += each * fraction;
    }
    return result;
}

/// sum over c of kernel[a - c] values[c].
Bins convolved(const Bins& values, const Kernel& kernel)
{
    Bins result{};
    constexpr auto all = static_cast<std::ptrdiff_t>(bins);
    for (std::ptrdiff_t c = 0; c < all; ++c) {
        const double value = values[static_cast<std::size_t>(c)];
        const std::ptrdiff_t shift = all - c;
        const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, kernel.first - shift);
        const std::ptrdiff_t end = value == 0.0 ? 0 : std::min(all, kernel.end - shift);
        const double* const of_distance = kernel.of_distance.data() + shift;
        for (std::ptrdiff_t a = first; a < end; ++a) {
            result[static_cast<std::size_t>(a)] += value * of_distance[a];
        }
    }
    return result;
}

/// [i]: the quantile at (i + 1/2) / count, even within bins.
std::vector<double> quantiles_of(const Bins& distribution, std::size_t count)
{
    std::vector<double> result;
    result.reserve(count);
    double below = 0.0;
    std::size_t bin = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double wanted = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
        while (bin + 1 < bins && below + distribution[bin] < wanted) {
            below += distribution[bin];
            ++bin;
        }
        const double fraction =
            distribution[bin] > 0.0 ? std::min(1.0, (wanted - below) / distribution[bin]) : 0.5;
        result.push_back(-reach + width * (static_cast<double>(bin) + fraction));
    }
    return result;
}

}  // namespace

std::vector<double> deconvolved(std::span<const double> sums, std::span<const double> noise,
                                std::span<const double> start)
{
    constexpr double first_middle = -reach + 0.5 * width;
    // of the sums in the first distribution: what has no weight there never gets any
    constexpr double floor = 1e-3;
    const Bins observed = shares<bins>(sums, first_middle);
    const std::array<double, 2 * bins> of_noise = shares<2 * bins>(noise, -static_cast<double>(bins) * width);
    std::array<double, 2 * bins> mirrored{};
    for (std::size_t distance = 1; distance < 2 * bins; ++distance) {
        mirrored[2 * bins - distance] = of_noise[distance];
    }
    const Kernel kernel(of_noise);
    const Kernel reversed(mirrored);
    Bins distribution = shares<bins>(start, first_middle);
    for (std::size_t b = 0; b < bins; ++b) {
        distribution[b] = (1.0 - floor) * distribution[b] + floor * observed[b];
    }
    for (int i = 0; i < iterations; ++i) {
        Bins ratio = convolved(distribution, kernel);
        for (std::size_t b = 0; b < bins; ++b) {
            ratio[b] = ratio[b] > 0.0 ? observed[b] / ratio[b] : 0.0;
        }
        const Bins factor = convolved(ratio, reversed);
        double sum = 0.0;
        for (std::size_t b = 0; b < bins; ++b) {
            distribution[b] *= factor[b];
            sum += distribution[b];
        }
        for (double& share : distribution) {
            share /= sum;
        }
    }
    return quantiles_of(distribution, sums.size());
}

}  // namespace prismopt

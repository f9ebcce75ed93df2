#include "model/distribution/grid_distribution.hpp"

#include "model/base/registers.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

// With 16 cells a deviation p50 to p99.9 of chains of any spread are within 0.002 % of 64 cells
// (tests/model/distribution/chain_distribution_test.cpp holds them against closed forms and drawn chains).
constexpr double cells_a_deviation = 16.0;
// Keeps a distribution with a very long tail affordable (a sum takes cells^2 products); the
// default cap of 20 means needs 500.
constexpr double most_cells = 2048.0;
constexpr double negligible = KernelDistribution::beyond;
constexpr std::ptrdiff_t margin = 2;  // cubic weights reach two nodes beyond a distribution's ends

/// Adds mass at place x, in steps from `mass`, by cubic weights to two nodes on either side.
void deposit(double x, double amount, double* mass)
{
    const double node = std::floor(x);
    const double t = x - node;
    double* at = mass + static_cast<std::ptrdiff_t>(node);
    const double outer = amount * t * (t - 1.0) * (1.0 / 6.0);
    const double inner = amount * (t + 1.0) * (t - 2.0) * 0.5;
    at[-1] -= outer * (t - 2.0);
    at[0] += inner * (t - 1.0);
    at[1] -= inner * t;
    at[2] += outer * (t + 1.0);
}

/// out[i + j] += a[i] * b[j]. size_a is a multiple of four; three zeros lie before b and after it.
void convolve(const double* a, std::size_t size_a, const double* b, std::size_t size_b, double* out)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        for (std::size_t i = 0; i < size_a; i += 4) {
            const double a0 = a[i];
            const double a1 = a[i + 1];
            const double a2 = a[i + 2];
            const double a3 = a[i + 3];
            double* to = out + i;
            for (std::ptrdiff_t j = 0; j < static_cast<std::ptrdiff_t>(size_b + 3); ++j) {
                to[j] += (a0 * b[j] + a1 * b[j - 1]) + (a2 * b[j - 2] + a3 * b[j - 3]);
            }
        }
    });
}

template <class Iterator>
std::ptrdiff_t negligible_end(Iterator first, Iterator last)
{
    double sum = std::abs(*first);
    Iterator at = first;
    while (last - at > 1 && sum < negligible) {
        ++at;
        sum += std::abs(*at);
    }
    return at - first;
}

/// Drops the ends that sum to nothing.
void trim(GridDistribution& distribution)
{
    distribution.mass.resize(distribution.mass.size() -
                             negligible_end(distribution.mass.rbegin(), distribution.mass.rend()));
    const auto below = negligible_end(distribution.mass.begin(), distribution.mass.end());
    distribution.mass.erase(distribution.mass.begin(), distribution.mass.begin() + below);
    distribution.origin += static_cast<double>(below) * distribution.step;
}

GridDistribution regridded(const GridDistribution& distribution, double step)
{
    if (distribution.mass.size() == 1 || distribution.step == step) {
        return distribution;
    }
    GridDistribution result = distribution;
    const double ratio = distribution.step / step;
    result.step = step;
    result.origin = distribution.origin - margin * step;
    result.mass.assign(
        static_cast<std::size_t>(static_cast<double>(distribution.mass.size()) * ratio) + 3 * margin, 0.0);
    for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
        deposit(margin + static_cast<double>(i) * ratio, distribution.mass[i], result.mass.data());
    }
    trim(result);
    return result;
}

/// Masses of the sum of two distributions on grids of one step.
void add_masses(const GridDistribution& other, GridDistribution& sum)
{
    const bool longer = sum.mass.size() > other.mass.size();
    const std::vector<double>& narrow = longer ? other.mass : sum.mass;
    const std::vector<double>& wide = longer ? sum.mass : other.mass;
    std::vector<double> a((narrow.size() + 3) / 4 * 4, 0.0);
    std::copy(narrow.begin(), narrow.end(), a.begin());
    std::vector<double> b(wide.size() + 6, 0.0);
    std::copy(wide.begin(), wide.end(), b.begin() + 3);
    std::vector<double> out(a.size() + wide.size() + 3, 0.0);
    convolve(a.data(), a.size(), b.data() + 3, wide.size(), out.data());
    out.resize(narrow.size() + wide.size() - 1);
    sum.mass = std::move(out);
    sum.origin += other.origin;
    sum.step = std::max(sum.step, other.step);
    trim(sum);
}

/// Probabilities below and above the edges between masses, each summed from its own
/// tail: tails keep their digits.
struct Cumulated {
    std::vector<double> below;  // [edge]: edge i lies half a step before mass i
    std::vector<double> above;

    explicit Cumulated(const std::vector<double>& mass)
    {
        const std::size_t cells = mass.size();
        below.assign(cells + 1, 0.0);
        above.assign(cells + 1, 0.0);
        // The integral of a smooth density over a cell is its mass plus a twenty-fourth of
        // the second difference; summed:
        const auto bend = [&mass](std::size_t edge) { return (mass[edge] - mass[edge - 1]) * (1.0 / 24.0); };
        double sum = 0.0;
        for (std::size_t i = 1; i < cells; ++i) {
            sum += mass[i - 1];
            below[i] = std::clamp(sum + bend(i), below[i - 1], 1.0);
        }
        below[cells] = 1.0;
        sum = 0.0;
        for (std::size_t i = cells - 1; i > 0; --i) {
            sum += mass[i];
            above[i] = std::clamp(sum - bend(i), above[i + 1], 1.0);
        }
        above[0] = 1.0;
    }

    std::size_t cells() const { return below.size() - 1; }

    /// Probability of cell i, nothing outside the grid.
    double cell(std::ptrdiff_t i) const
    {
        if (i < 0 || i >= static_cast<std::ptrdiff_t>(cells())) {
            return 0.0;
        }
        return below[i + 1] < 0.5 ? below[i + 1] - below[i] : std::max(0.0, above[i] - above[i + 1]);
    }

    /// Of the larger of two independent durations, one of this distribution, one of `other`.
    void join(const Cumulated& other)
    {
        for (std::size_t i = 0; i < below.size(); ++i) {
            below[i] *= other.below[i];
            above[i] += other.above[i] * (1.0 - above[i]);
        }
    }
};

Cumulated joined(const Cumulated& one, int n)
{
    if (n == 1) {
        return one;
    }
    Cumulated result = joined(one, n / 2);
    result.join(Cumulated(result));
    if (n % 2 == 1) {
        result.join(one);
    }
    return result;
}

/// Mean and variance from the masses, which are brought to a total of one.
void measure(GridDistribution& distribution)
{
    // Relative to a place near the mean, squares keep their digits.
    const double middle = (distribution.mean - distribution.origin) / distribution.step;
    double total = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
        const double d = static_cast<double>(i) - middle;
        total += distribution.mass[i];
        first += distribution.mass[i] * d;
        second += distribution.mass[i] * d * d;
    }
    for (double& m : distribution.mass) {
        m /= total;
    }
    first /= total;
    distribution.mean += first * distribution.step;
    distribution.variance =
        std::max(0.0, second / total - first * first) * distribution.step * distribution.step;
}

class Inverse {
public:
    explicit Inverse(const GridDistribution& distribution)
        : distribution_(distribution), cumulated_(distribution.mass)
    {
    }

    double operator()(double p, bool upper) const
    {
        const auto cells = static_cast<std::ptrdiff_t>(cumulated_.cells());
        const std::ptrdiff_t i = upper
                                     ? cells - reached(cumulated_.above.rbegin(), cumulated_.above.rend(), p)
                                     : reached(cumulated_.below.begin(), cumulated_.below.end(), p) - 1;
        const double before = upper ? cumulated_.above[i + 1] : cumulated_.below[i];
        const double cell = (upper ? cumulated_.above[i] : cumulated_.below[i + 1]) - before;
        const std::ptrdiff_t inwards = upper ? -1 : 1;
        const double within =
            place((p - before) / cell, (cumulated_.cell(i + inwards) - cumulated_.cell(i - inwards)) / cell);
        const double at =
            distribution_.origin +
            (static_cast<double>(i) + (upper ? 0.5 - within : within - 0.5)) * distribution_.step;
        return (std::clamp(at, distribution_.shortest, distribution_.longest) - distribution_.mean) /
               distribution_.deviation();
    }

private:
    /// Edges to go inwards from a tail until p lies behind: the first whose probability is at least p.
    template <class Iterator>
    static std::ptrdiff_t reached(Iterator first, Iterator last, double p)
    {
        return std::lower_bound(first, last, p) - first;
    }

    /// Place t in a cell that has this share of the cell behind it, if the density is 1 + slope (t - 1/2),
    /// its slope half the difference of the neighbouring cells: share = t + slope (t^2 - t) / 2.
    static double place(double share, double difference)
    {
        const double slope = std::clamp(0.5 * difference, -2.0, 2.0);
        const double linear = 1.0 - 0.5 * slope;
        const double root = linear + std::sqrt(std::max(0.0, linear * linear + 2.0 * slope * share));
        return root > 0.0 ? std::min(1.0, 2.0 * share / root) : 0.0;
    }

    GridDistribution distribution_;
    Cumulated cumulated_;
};

}  // namespace

double GridDistribution::place(std::size_t node) const
{
    return mass.size() > 1 ? origin + static_cast<double>(node) * step : origin;
}

double GridDistribution::last() const { return place(mass.size() - 1); }

double GridDistribution::deviation() const { return std::sqrt(variance); }

GridDistribution kernel_duration(const KernelDistribution& residual, double seconds, double core_of_sum)
{
    GridDistribution distribution;
    distribution.mean = seconds;
    distribution.origin = seconds;
    distribution.shortest = seconds * residual.quantile(0);
    distribution.longest = seconds * residual.quantile(residual.pieces());
    if (residual.cv() == 0.0 || seconds == 0.0) {
        return distribution;
    }
    distribution.variance = seconds * residual.cv() * (seconds * residual.cv());
    distribution.core = seconds * residual.core() * (seconds * residual.core());
    distribution.step = std::max(core_of_sum / cells_a_deviation,
                                 (distribution.longest - distribution.shortest) / most_cells);
    distribution.origin = distribution.shortest - margin * distribution.step;
    distribution.mass.assign(
        static_cast<std::size_t>((distribution.longest - distribution.shortest) / distribution.step) +
            3 * margin,
        0.0);
    const double scale = seconds / distribution.step;
    const auto place = [&](std::size_t knot) {
        return margin + (residual.quantile(knot) - residual.quantile(0)) * scale;
    };
    deposit(place(0), KernelDistribution::beyond, distribution.mass.data());
    deposit(place(residual.pieces()), KernelDistribution::beyond, distribution.mass.data());
    for (std::size_t k = 0; k < residual.pieces(); ++k) {
        const double from = place(k);
        const double width = place(k + 1) - from;
        const int points = 1 + static_cast<int>(2.0 * width);  // even density: at least two points a step
        const double share = residual.mass(k) / points;
        for (int i = 0; i < points; ++i) {
            deposit(from + width * (i + 0.5) / points, share, distribution.mass.data());
        }
    }
    trim(distribution);
    return distribution;
}

GridDistribution sum_of(std::span<const GridDistribution* const> distributions)
{
    GridDistribution sum;
    double step = 0.0;
    for (const GridDistribution* distribution : distributions) {
        sum.mean += distribution->mean;
        sum.variance += distribution->variance;
        sum.core += distribution->core;
        sum.shortest += distribution->shortest;
        sum.longest += distribution->longest;
        step = std::max(step, distribution->mass.size() > 1 ? distribution->step : 0.0);
    }
    step = std::max(step, std::sqrt(sum.core) / cells_a_deviation);
    for (const GridDistribution* distribution : distributions) {
        add_masses(regridded(*distribution, step), sum);
    }
    return sum;
}

GridDistribution product_of(const GridDistribution& a, const GridDistribution& b)
{
    GridDistribution product;
    product.mean = a.mean * b.mean;
    product.variance = a.variance * b.variance + a.variance * b.mean * b.mean + b.variance * a.mean * a.mean;
    product.core = a.core * b.core + a.core * b.mean * b.mean + b.core * a.mean * a.mean;
    product.shortest = a.shortest * b.shortest;
    product.longest = a.longest * b.longest;
    // Nodes of both at most half a cell apart, at the mean of the other: masses lie evenly.
    const double spacing =
        std::max(a.mass.size() > 1 ? a.step * b.mean : 0.0, b.mass.size() > 1 ? b.step * a.mean : 0.0);
    product.step = std::max({std::sqrt(product.core) / cells_a_deviation,
                             (product.longest - product.shortest) / most_cells, 2.0 * spacing});
    if (product.step == 0.0) {
        product.origin = product.mean;
        return product;
    }
    // What is narrower than a cell needs few nodes: cubic weights keep its moments.
    const GridDistribution one = regridded(a, std::max(a.step, 0.5 * product.step / b.mean));
    const GridDistribution other = regridded(b, std::max(b.step, 0.5 * product.step / a.mean));
    const double least =
        std::min({one.origin * other.origin, one.origin * other.last(), one.last() * other.origin});
    product.origin = least - margin * product.step;
    product.mass.assign(
        static_cast<std::size_t>((one.last() * other.last() - least) / product.step) + 3 * margin, 0.0);
    for (std::size_t i = 0; i < one.mass.size(); ++i) {
        for (std::size_t j = 0; j < other.mass.size(); ++j) {
            const double at = one.place(i) * other.place(j);
            deposit((at - product.origin) / product.step, one.mass[i] * other.mass[j], product.mass.data());
        }
    }
    trim(product);
    return product;
}

GridDistribution shifted(GridDistribution distribution, double seconds)
{
    distribution.origin += seconds;
    distribution.mean += seconds;
    distribution.shortest = std::max(0.0, distribution.shortest + seconds);
    distribution.longest += seconds;
    return distribution;
}

GridDistribution longest_of(const GridDistribution& distribution, int n)
{
    if (n == 1 || distribution.mass.size() == 1) {
        return distribution;
    }
    const Cumulated all = joined(Cumulated(distribution.mass), n);
    GridDistribution result = distribution;
    for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
        // From cells' probabilities back to density * step at their middles.
        const auto cell = static_cast<std::ptrdiff_t>(i);
        result.mass[i] =
            all.cell(cell) * (13.0 / 12.0) - (all.cell(cell - 1) + all.cell(cell + 1)) * (1.0 / 24.0);
    }
    measure(result);
    result.core = std::min(result.core, result.variance);
    trim(result);
    return result;
}

Quantile standardised(const GridDistribution& distribution)
{
    if (distribution.mass.size() == 1) {
        return [](double, bool) { return 0.0; };
    }
    return Inverse(distribution);
}

}  // namespace prismopt

#include "model/productive_times.hpp"

#include "model/base/deconvolution.hpp"
#include "model/base/powers.hpp"
#include "model/base/statistics.hpp"
#include "model/run/drift.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

namespace prismopt {

namespace {

double mean_of(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// [fleet * steps + k]: all steps of the run at the time of step k, seconds.
std::vector<double> runs_by_step(const std::vector<Phase>& phases, const PhaseDraws& draws)
{
    std::vector<double> runs(draws.front().size(), 0.0);
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i] += phases[phase].steps() * draws[phase][i];
        }
    }
    return runs;
}

/// Third cumulant of fleets' true means as one fleet shows it, from the deviations of
/// its steps from the mean of all.
///
/// Noises of different steps are independent, so the mean product of three steps has none of them.
/// Of two steps, a and b, the mean of a a b is taken: too large by the covariance of a fleet's mean
/// and the variance of its noise.
double third_cumulant(std::span<const double> deviations)
{
    double sum = 0.0;
    double squares = 0.0;
    double cubes = 0.0;
    for (const double d : deviations) {
        sum += d;
        squares += square(d);
        cubes += cube(d);
    }
    const auto k = static_cast<double>(deviations.size());
    if (deviations.size() == 2) {
        return (sum * squares - cubes) / 2.0;
    }
    // Newton's identity.
    return (cube(sum) - 3.0 * sum * squares + 2.0 * cubes) / (k * (k - 1.0) * (k - 2.0));
}

/// Standardised quantile of the Pearson distribution of type III with this skewness, at the standard
/// normal quantile z. Source: Wilson and Hilferty, Proc. Natl. Acad. Sci. 17 (1931) 684-688; of the
/// exponential's p99, 3.605, it gives 3.611.
double pearson_score(double skewness, double z)
{
    // below, the form's digits cancel, and the distribution is normal to as many
    constexpr double normal = 1e-6;
    return std::abs(skewness) < normal
               ? z
               : 2.0 / skewness * (cube(1.0 + skewness * z / 6.0 - square(skewness / 6.0)) - 1.0);
}

/// About mean 0, with standard deviation 1 where they differ.
void standardise(std::vector<double>& scores)
{
    const double mean = mean_of(scores);
    double squares = 0.0;
    for (double& score : scores) {
        score -= mean;
        squares += square(score) / static_cast<double>(scores.size());
    }
    for (double& score : scores) {
        score /= squares > 0.0 ? std::sqrt(squares) : 1.0;
    }
}

/// Fleets have persistent factors with long upper tails and wait for their slowest GPU: Gumbel's
/// distribution, of maxima, has skewness 1.14, a normal one none, a rare slow GPU more. What draws say is
/// weighed against this by precision.
constexpr double expected_skewness = 1.0;
constexpr double expected_skewness_deviation = 1.0;
/// Beyond, Wilson and Hilferty's form is no longer that of the distribution.
constexpr double largest_pearson_skewness = 3.0;

/// Noise of the mean of so many steps of a fleet, in units of `unit`: half the steps of a fleet
/// less the other half, both ways round, which has its variance, bent to its skewness (the
/// first term of Cornish and Fisher).
std::vector<double> noise_of_means(std::span<const double> deviations, std::size_t steps, double skewness,
                                   double noise, double unit)
{
    constexpr double bent_to = 3.0;  // standard deviations: beyond, the parabola is no approximation
    const std::size_t half = steps / 2;
    const double scale =
        std::sqrt(static_cast<double>(2 * half) / static_cast<double>(steps)) / static_cast<double>(2 * half);
    const double deviation = std::sqrt(noise);
    std::vector<double> result;
    result.reserve(2 * deviations.size() / steps);
    for (std::size_t first = 0; first < deviations.size(); first += steps) {
        const auto begin = deviations.begin() + static_cast<std::ptrdiff_t>(first);
        const auto middle = begin + static_cast<std::ptrdiff_t>(half);
        const double difference =
            scale * (std::accumulate(begin, middle, 0.0) -
                     std::accumulate(middle, middle + static_cast<std::ptrdiff_t>(half), 0.0));
        for (const double z : {difference / deviation, -difference / deviation}) {
            const double bent = std::abs(z) < bent_to ? z + skewness / 6.0 * (z * z - 1.0) : z;
            result.push_back(bent * deviation / unit);
        }
    }
    return result;
}

/// Variances of the mean of the steps of a fleet: of noise alone, and all.
struct Scatter {
    double noise = 0.0;
    double total = 0.0;
};
Scatter scatter_of(std::span<const double> deviations, std::size_t steps)
{
    const std::size_t fleets = deviations.size() / steps;
    Scatter scatter;
    for (std::size_t first = 0; first < deviations.size(); first += steps) {
        const auto fleet = deviations.subspan(first, steps);
        const double mean = mean_of(fleet);
        scatter.total += square(mean) / static_cast<double>(std::max<std::size_t>(1, fleets - 1));
        for (const double d : fleet) {
            scatter.noise += square(d - mean) /
                             static_cast<double>(std::max<std::size_t>(1, steps - 1) * deviations.size());
        }
    }
    return scatter;
}

/// Third cumulants in units of the fleets' standard deviation, cubed.
struct Cumulants {
    double of_fleets = 0.0;  // of true means
    double error = 0.0;      // standard error of that
    double of_noise = 0.0;   // of one step
};
Cumulants cumulants_of(std::span<const double> deviations, std::size_t steps, double unit)
{
    if (steps < 2) {
        return {};
    }
    std::vector<double> of_fleet;
    double of_steps = 0.0;
    std::vector<double> fleet(steps);
    for (std::size_t first = 0; first < deviations.size(); first += steps) {
        std::transform(deviations.begin() + static_cast<std::ptrdiff_t>(first),
                       deviations.begin() + static_cast<std::ptrdiff_t>(first + steps), fleet.begin(),
                       [unit](double d) { return d / unit; });
        of_fleet.push_back(third_cumulant(fleet));
        for (const double d : fleet) {
            of_steps += cube(d) / static_cast<double>(deviations.size());
        }
    }
    Cumulants cumulants;
    cumulants.of_fleets = mean_of(of_fleet);
    cumulants.of_noise = of_steps - cumulants.of_fleets;
    double squares = 0.0;
    for (const double c : of_fleet) {
        squares += square(c - cumulants.of_fleets);
    }
    cumulants.error = std::sqrt(squares) / static_cast<double>(of_fleet.size());
    return cumulants;
}

/// Where the deconvolution starts: scores of the fleets by rank, in units of
/// their measured standard deviation.
std::vector<double> start_of(const ProductiveTimes& times, double shrink)
{
    std::vector<double> start;
    const auto fleets = static_cast<double>(times.measured.size());
    for (std::size_t rank = 0; rank < times.measured.size(); ++rank) {
        const double z = normal_quantile((static_cast<double>(rank) + 0.5) / fleets);
        start.push_back(
            shrink * std::lerp(times.measured[rank], pearson_score(times.skewness, z), times.shape_weight));
    }
    return start;
}

/// What a unit of skewness adds to a score: Cornish and Fisher's expansion, Rev.
/// Inst. Int. Stat. 5 (1938) 307-320.
double skewness_effect(double probability) { return (square(normal_quantile(probability)) - 1.0) / 6.0; }

std::size_t rank_of(double probability, std::size_t fleets)
{
    return std::min(fleets - 1, static_cast<std::size_t>(probability * static_cast<double>(fleets)));
}

/// Sets the skewness of fleets: the mean of what was measured and what is expected, weighted by their errors.
void set_skewness(const Cumulants& cumulants, ProductiveTimes& result)
{
    const double measured_weight = 1.0 / (1.0 + square(cumulants.error / expected_skewness_deviation));
    result.skewness = std::clamp(std::lerp(expected_skewness, cumulants.of_fleets, measured_weight),
                                 -largest_pearson_skewness, largest_pearson_skewness);
    result.skewness_deviation = std::sqrt(measured_weight) * cumulants.error;
    result.skewness_bias = std::sqrt(measured_weight * (1.0 - measured_weight)) * cumulants.error;
}

/// Returns the fleets in the order of their times.
std::vector<std::size_t> fleets_by_time(const std::vector<double>& seconds)
{
    std::vector<std::size_t> order(seconds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return seconds[a] < seconds[b]; });
    return order;
}

}  // namespace

double ProductiveTimes::deviation_at(double probability) const
{
    if (scores.empty()) {
        return 0.0;
    }
    const std::size_t rank = rank_of(probability, scores.size());
    // The true shape lies between the two, or as far on the other side: a uniform
    // distribution of twice their distance.
    const double shape = shape_weight * (measured[rank] - scores[rank]) / std::numbers::sqrt3;
    const double of_skewness = shape_weight * skewness_deviation * skewness_effect(probability);
    return deviation *
           std::sqrt(square(scores[rank] * spread_deviation) + square(shape) + square(of_skewness));
}

double ProductiveTimes::shape_deviation_at(double probability) const
{
    if (scores.empty()) {
        return 0.0;
    }
    const std::size_t rank = rank_of(probability, scores.size());
    // of a triangular distribution as wide
    const double shape = (measured[rank] - scores[rank]) / std::sqrt(24.0);
    return deviation * shape_weight * std::hypot(shape, skewness_bias * skewness_effect(probability));
}

ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps)
{
    std::vector<double> deviations = runs_by_step(phases, draws);  // [fleet * steps + k]
    const auto k = static_cast<std::size_t>(steps);
    ProductiveTimes result;
    for (std::size_t first = 0; first < deviations.size(); first += k) {
        result.seconds.push_back(mean_of(std::span(deviations).subspan(first, k)));
    }
    result.mean = mean_of(result.seconds);
    for (double& d : deviations) {
        d -= result.mean;
    }
    const Scatter scatter = scatter_of(deviations, k);
    const double unit = std::sqrt(scatter.total);
    // of sums and single-precision steps: what differs by no more does not differ
    constexpr double rounding = 1e-9;
    if (unit <= rounding * result.mean) {
        return result;
    }
    const auto fleets = static_cast<double>(result.seconds.size());
    const double noise_share = std::min(1.0, scatter.noise / scatter.total);
    const double shrink = std::sqrt(1.0 - noise_share);
    // Both variances have relative errors sqrt(2 / degrees of freedom); shrink^2 = 1 - noise / total.
    const double share_error =
        noise_share * std::sqrt(2.0 / fleets + 2.0 / (fleets * std::max(1, steps - 1)));
    // At least what cannot be distinguished from zero.
    const double seen = std::max(shrink, std::sqrt(share_error));
    const double mean_deviation =
        result.seconds.size() > 1 ? mean_error(result.seconds, {1, block_fleets}) : 0.0;
    result.mean_variance = noise_share * square(mean_deviation);
    // Of the root of a variance; limits reach down to none where that cannot be distinguished from it.
    constexpr double limits = 1.96;
    result.spread_deviation =
        (1.0 - std::sqrt(std::max(0.0, 1.0 - limits * share_error / square(seen)))) / limits;
    result.deviation = seen * unit;
    result.shape_weight = noise_share * (2.0 - noise_share);

    const Cumulants cumulants = cumulants_of(deviations, k, result.deviation);
    set_skewness(cumulants, result);

    const std::vector<std::size_t> order = fleets_by_time(result.seconds);
    for (const std::size_t fleet : order) {
        result.measured.push_back((result.seconds[fleet] - result.mean) / unit);
    }
    result.scores = result.measured;
    if (noise_share > square(deconvolution_bin) && shrink > 0.0) {
        constexpr double most = 1.5;  // beyond, the parabola of noise_of_means() turns
        const double skewness = cumulants.of_noise /
                                std::pow(scatter.noise * steps / square(result.deviation), 1.5) /
                                std::sqrt(steps);
        const std::vector<double> noise =
            noise_of_means(deviations, k, std::clamp(skewness, -most, most), scatter.noise, unit);
        result.scores = deconvolved(result.measured, noise, start_of(result, shrink));
        standardise(result.scores);
        result.deconvolved = true;
    }
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        result.seconds[order[rank]] = result.mean + shrink * unit * result.scores[rank];
    }
    return result;
}

std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws)
{
    std::vector<double> shares;
    double sum = 0.0;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        shares.push_back(phases[phase].steps() * mean_of(draws[phase]));
        sum += shares.back();
    }
    for (double& share : shares) {
        share /= sum;
    }
    return shares;
}

void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options)
{
    const double cv = mean_drift_cv(problem.reliability.drift, productive.mean);
    for (std::size_t f = 0; cv > 0.0 && f < productive.seconds.size(); ++f) {
        productive.seconds[f] *= drift_factor(cv, problem.noise.scores, options.seed, options.purpose,
                                              static_cast<std::uint32_t>(f));
    }
}

}  // namespace prismopt

#include "model/calibration/fit/likelihoods.hpp"

#include "model/base/median.hpp"
#include "model/base/root.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/maximise.hpp"

#include <boost/math/constants/constants.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/tools/minima.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace prismopt {

namespace {

using Values = std::span<const double>;
using Fit = std::optional<FittedFamily>;

constexpr double impossible = -std::numeric_limits<double>::infinity();
const double log_root_two_pi = 0.5 * std::log(2.0 * boost::math::constants::pi<double>());

double normal_log_density(double z) { return -0.5 * z * z - log_root_two_pi; }

double mean_log(Values values)
{
    double sum = 0.0;
    for (const double value : values) {
        sum += std::log(value);
    }
    return sum / static_cast<double>(values.size());
}

template <class LogDensity>
double mean_likelihood(Values values, LogDensity log_density)
{
    double sum = 0.0;
    for (const double value : values) {
        sum += log_density(value);
    }
    return sum / static_cast<double>(values.size());
}

double spread(Values values)
{
    const auto n = static_cast<double>(values.size());
    return std::sqrt(variance_of(values) * (n - 1.0) / n);
}

Fit fit_normal(Values values)
{
    const double mean = mean_of(values);
    const double sd = spread(values);
    return FittedFamily{Normal{sd / mean}, mean,
                        [=](double x) { return normal_log_density((x - mean) / sd) - std::log(sd); }};
}

Fit fit_lognormal(Values values)
{
    std::vector<double> logs(values.size());
    std::transform(values.begin(), values.end(), logs.begin(), [](double x) { return std::log(x); });
    const double mean = mean_of(logs);
    const double sd = spread(logs);
    const double unit = std::exp(mean + 0.5 * sd * sd);
    if (!std::isfinite(unit)) {
        return std::nullopt;
    }
    return FittedFamily{LogNormal{std::sqrt(std::expm1(sd * sd))}, unit, [=](double x) {
                            return x > 0.0 ? normal_log_density((std::log(x) - mean) / sd) - std::log(sd * x)
                                           : impossible;
                        }};
}

/// Shape k with log k - digamma(k) = log(mean) - mean(log).
/// Source: Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1 (1994), chapter 17.
class GammaFit {
public:
    GammaFit(double k, double unit) : shape(k), scale(unit), constant_(std::lgamma(k) + k * std::log(unit)) {}

    double shape;
    double scale;
    double log_density(double x) const
    {
        return x > 0.0 ? (shape - 1.0) * std::log(x) - x / scale - constant_ : impossible;
    }

private:
    double constant_;
};
/// Empty where the values hardly differ, so that the shape has no upper limit.
std::optional<GammaFit> gamma_of(Values values, double shift)
{
    double mean = 0.0;
    double logs = 0.0;
    for (const double value : values) {
        mean += value - shift;
        logs += std::log(value - shift);
    }
    mean /= static_cast<double>(values.size());
    const double excess = std::log(mean) - logs / static_cast<double>(values.size());
    const auto equation = [&](double log_shape) {
        const double shape = std::exp(log_shape);
        return log_shape - boost::math::digamma(shape) - excess;
    };
    constexpr double least_excess = 1e-13;  // half the squared cv; below, it is rounding, and may be negative
    if (!(excess > least_excess)) {
        return std::nullopt;
    }
    // 1/(2k) < log k - digamma(k) < 1/k.
    const auto log_shape = root_between(equation, std::log(0.49 / excess), std::log(1.01 / excess), 40);
    if (!log_shape) {
        return std::nullopt;
    }
    const double shape = std::exp(*log_shape);
    return GammaFit{shape, mean / shape};
}

Fit fit_gamma(Values values)
{
    const std::optional<GammaFit> fit = gamma_of(values, 0.0);
    if (!fit) {
        return std::nullopt;
    }
    return FittedFamily{Gamma{1.0 / std::sqrt(fit->shape)}, fit->shape * fit->scale,
                        [of = *fit](double x) { return of.log_density(x); }};
}

/// The shift maximises the likelihood of the gamma distribution above it. It stays below the least value by a
/// hundredth of the median's distance: nearer, the likelihood of shapes below one grows without end.
Fit fit_shifted_gamma(Values values)
{
    const double least = *std::min_element(values.begin(), values.end());
    const double margin = 0.01 * (median_of({values.begin(), values.end()}) - least);
    if (!(margin > 0.0)) {
        return std::nullopt;
    }
    const auto loss = [&](double shift) {
        const std::optional<GammaFit> fit = gamma_of(values, shift);
        return fit ? -mean_likelihood(values, [&](double x) { return fit->log_density(x - shift); })
                   : -impossible;
    };
    constexpr int bits = 16;
    std::uintmax_t most_steps = 200;  // 30 suffice for a smooth loss
    const double shift =
        boost::math::tools::brent_find_minima(loss, 0.0, least - margin, bits, most_steps).first;
    const std::optional<GammaFit> fit = gamma_of(values, shift);
    if (!fit) {
        return std::nullopt;
    }
    const double mean = shift + fit->shape * fit->scale;
    return FittedFamily{ShiftedGamma{std::sqrt(fit->shape) * fit->scale / mean, shift / mean}, mean,
                        [of = *fit, shift](double x) { return of.log_density(x - shift); }};
}

/// Shape k with sum(x^k log x) / sum(x^k) - 1/k = mean(log x). Source: as gamma, chapter 21.
Fit fit_weibull(Values values)
{
    const double centre = mean_log(values);
    std::vector<double> logs(values.size());
    std::transform(values.begin(), values.end(), logs.begin(),
                   [centre](double x) { return std::log(x) - centre; });
    const auto sums = [&](double k) {
        double power = 0.0;
        double weighted = 0.0;
        for (const double log : logs) {
            const double term = std::exp(k * log);
            power += term;
            weighted += term * log;
        }
        return std::pair{power / static_cast<double>(values.size()), weighted / power};
    };
    const auto equation = [&](double log_k) { return sums(std::exp(log_k)).second - std::exp(-log_k); };
    const double low = std::log(0.1);
    double high = std::log(10.0);
    while (equation(high) < 0.0 && high < 15.0) {
        high += 2.0;
    }
    const auto log_k = root_between(equation, low, high, 30);
    if (!log_k) {
        return std::nullopt;
    }
    const double k = std::exp(*log_k);
    const double log_scale = centre + std::log(sums(k).first) / k;
    const double cv2 = std::expm1(std::lgamma(1.0 + 2.0 / k) - 2.0 * std::lgamma(1.0 + 1.0 / k));
    return FittedFamily{
        Weibull{std::sqrt(cv2)}, std::exp(log_scale + std::lgamma(1.0 + 1.0 / k)), [=](double x) {
            const double z = std::log(x) - log_scale;
            return x > 0.0 ? std::log(k) - log_scale + (k - 1.0) * z - std::exp(k * z) : impossible;
        }};
}

/// Robust start: median and half the distance between the quantiles of +-1 standard deviation.
std::pair<double, double> centre_and_width(Values values)
{
    std::vector<double> rising(values.begin(), values.end());
    std::sort(rising.begin(), rising.end());
    return {quantile_of(rising, 0.5), 0.5 * (quantile_of(rising, 0.84) - quantile_of(rising, 0.16))};
}

/// The logarithm of Student's density.
auto student_density(double place, double width, double degrees)
{
    const double constant = std::lgamma(0.5 * (degrees + 1.0)) - std::lgamma(0.5 * degrees) -
                            0.5 * std::log(degrees * boost::math::constants::pi<double>()) - std::log(width);
    return [=](double x) {
        const double z = (x - place) / width;
        return constant - 0.5 * (degrees + 1.0) * std::log1p(z * z / degrees);
    };
}

Fit fit_student(Values values)
{
    const auto [centre, width] = centre_and_width(values);
    if (!(width > 0.0)) {
        return std::nullopt;
    }
    // Variables of order one: place in widths, log width, log(degrees - 1): the
    // reader takes 1 degree and more.
    const auto parameters = [c = centre, w = width](const Eigen::VectorXd& v) {
        return std::array{c + w * v[0], w * std::exp(v[1]), 1.0 + std::exp(v[2])};
    };
    const auto best = maximise(
        [&](const Eigen::VectorXd& v) {
            const auto [place, scale, degrees] = parameters(v);
            // A normal distribution is the limit: beyond 1e4 degrees nothing changes, and the
            // maximum would lie at infinity.
            return std::abs(v[2]) > 9.2 ? impossible
                                        : mean_likelihood(values, student_density(place, scale, degrees));
        },
        Eigen::Vector3d(0.0, -0.2, 1.0));
    if (!best) {
        return std::nullopt;
    }
    const auto [place, scale, degrees] = parameters(*best);
    return FittedFamily{StudentT{degrees, scale / place}, place, student_density(place, scale, degrees)};
}

/// The logarithm of the density of extreme values.
auto gev_density(double place, double scale, double shape)
{
    return [=, log_scale = std::log(scale)](double x) {
        const double z = (x - place) / scale;
        if (std::abs(shape) < 1e-7) {
            return -log_scale - z - std::exp(-z);
        }
        const double t = 1.0 + shape * z;
        if (t <= 0.0) {
            return impossible;
        }
        const double log_t = std::log(t);
        return -log_scale - (1.0 + 1.0 / shape) * log_t - std::exp(-log_t / shape);
    };
}

Fit fit_gev(Values values)
{
    const auto [centre, width] = centre_and_width(values);
    if (!(width > 0.0)) {
        return std::nullopt;
    }
    const auto parameters = [c = centre, w = width](const Eigen::VectorXd& v) {
        return std::array{c + w * v[0], w * std::exp(v[1]), v[2]};
    };
    const auto best = maximise(
        [&](const Eigen::VectorXd& v) {
            const auto [place, scale, shape] = parameters(v);
            return shape < -0.9 || shape > 1.9 ? impossible  // what the reader takes, less a margin
                                               : mean_likelihood(values, gev_density(place, scale, shape));
        },
        Eigen::Vector3d(-0.35, -0.2, 0.01));
    if (!best) {
        return std::nullopt;
    }
    const auto [place, scale, shape] = parameters(*best);
    const double y = -std::log(std::log(2.0));
    const double median = place + scale * (std::abs(shape) < 1e-7 ? y : std::expm1(shape * y) / shape);
    if (!(median > 0.0)) {
        return std::nullopt;
    }
    return FittedFamily{GeneralizedExtremeValue{shape, scale / median}, median,
                        gev_density(place, scale, shape)};
}

/// A core with a density and the upper quantile that a tail begins at.
struct Core {
    Mixture family;
    double unit;
    std::function<double(double)> log_density;
    std::function<double(double)> upper_quantile;
    double steepest = 1.9;  // shape of a tail: what the reader takes, less a margin
};

/// The generalized Pareto distribution of what is above the core's quantile with `share` above it.
/// Source of the tail's density: Davison and Smith, J. R. Statist. Soc. B 52 (1990) 393-442.
void add_tail(Values values, const Core& core, double share, std::vector<FittedFamily>& tails)
{
    constexpr std::size_t least_peaks = 25;
    const double threshold = core.upper_quantile(share);
    std::vector<double> peaks;
    for (const double value : values) {
        if (value > threshold) {
            peaks.push_back(value - threshold);
        }
    }
    if (peaks.size() < least_peaks) {
        return;
    }
    const double unit = mean_of(peaks);
    const auto tail = [unit](double excess, const Eigen::VectorXd& v) {
        const double scale = unit * std::exp(v[0]);
        const double shape = v[1];
        if (std::abs(shape) < 1e-7) {
            return -std::log(scale) - excess / scale;
        }
        const double t = 1.0 + shape * excess / scale;
        return t <= 0.0 ? impossible : -std::log(scale) - (1.0 + 1.0 / shape) * std::log(t);
    };
    const auto best = maximise(
        [&](const Eigen::VectorXd& v) {
            return v[1] < -0.9 || v[1] > core.steepest
                       ? impossible
                       : mean_likelihood(peaks, [&](double excess) { return tail(excess, v); });
        },
        Eigen::Vector2d(-0.1, 0.1));
    if (!best) {
        return;
    }
    ParetoTail family;
    family.core = core.family;
    family.probability = share;
    family.shape = (*best)[1];
    family.scale = unit * std::exp((*best)[0]) / core.unit;
    tails.push_back({family, core.unit, [=, v = *best, of_core = core.log_density](double x) {
                         return x > threshold ? std::log(share) + tail(x - threshold, v) : of_core(x);
                     }});
}

/// The most likely of several thresholds: a tail begins where the core ends, which is not known.
Fit fit_likeliest_tail(Values values, const Core& core)
{
    std::vector<FittedFamily> tails;
    for (const double share : {0.05, 0.02, 0.01, 0.005, 0.002}) {
        add_tail(values, core, share, tails);
    }
    if (tails.empty()) {
        return std::nullopt;
    }
    std::vector<double> likelihoods(tails.size());
    std::transform(tails.begin(), tails.end(), likelihoods.begin(),
                   [&](const FittedFamily& tail) { return mean_likelihood(values, tail.log_density); });
    return tails[static_cast<std::size_t>(std::max_element(likelihoods.begin(), likelihoods.end()) -
                                          likelihoods.begin())];
}

/// Peaks over a threshold, above a lognormal core whose median and width are
/// those of the middle of the values.
Fit fit_tail_up_to(double steepest, Values values)
{
    std::vector<double> logs(values.size());
    std::transform(values.begin(), values.end(), logs.begin(), [](double x) { return std::log(x); });
    const auto [centre, width] = centre_and_width(logs);
    if (!(width > 0.0)) {
        return std::nullopt;
    }
    const boost::math::normal_distribution<double> distribution(centre, width);
    return fit_likeliest_tail(
        values, {Mixture{{{1.0, 1.0, LogNormal{std::sqrt(std::expm1(width * width))}}}},
                 std::exp(centre + 0.5 * width * width),
                 [c = centre, w = width](double x) {
                     return x > 0.0 ? normal_log_density((std::log(x) - c) / w) - std::log(w * x)
                                    : impossible;
                 },
                 [distribution](double share) { return std::exp(quantile(complement(distribution, share))); },
                 steepest});
}

Fit fit_pareto_tail(Values values) { return fit_tail_up_to(1.9, values); }

/// From a shape of one on a tail has no mean, and the cap alone says how long a draw is.
Fit fit_tail_with_mean(Values values) { return fit_tail_up_to(0.9, values); }

/// Two lognormal modes, by expectation and maximisation (Dempster, Laird, Rubin, J. R. Statist. Soc. B 39
/// (1977) 1-38), started at Otsu's threshold.
Fit fit_mixture(Values values)
{
    constexpr double least_values = 5.0;  // of a mode
    std::vector<double> logs(values.size());
    std::transform(values.begin(), values.end(), logs.begin(), [](double x) { return std::log(x); });
    const double threshold = otsu(logs).threshold;
    const double least_width = 1e-3 * spread(logs);
    struct Mode {
        double weight, mean, width, constant;
        double log_density(double x) const { return constant + normal_log_density((x - mean) / width); }
    };
    std::array<Mode, 2> modes{};
    std::vector<double> second(logs.size());  // probability of the second mode
    std::transform(logs.begin(), logs.end(), second.begin(),
                   [&](double x) { return x > threshold ? 1.0 : 0.0; });
    double before = impossible;
    for (int iteration = 0; iteration < 500; ++iteration) {
        for (std::size_t m = 0; m < 2; ++m) {
            double weight = 0.0;
            double sum = 0.0;
            double squares = 0.0;
            for (std::size_t i = 0; i < logs.size(); ++i) {
                const double w = m == 1 ? second[i] : 1.0 - second[i];
                weight += w;
                sum += w * logs[i];
                squares += w * logs[i] * logs[i];
            }
            if (weight < least_values) {
                return std::nullopt;
            }
            const double mean = sum / weight;
            const double share = weight / static_cast<double>(logs.size());
            const double width =
                std::max(least_width, std::sqrt(std::max(0.0, squares / weight - mean * mean)));
            modes[m] = {share, mean, width, std::log(share / width)};
        }
        double likelihood = 0.0;
        for (std::size_t i = 0; i < logs.size(); ++i) {
            const double a = modes[0].log_density(logs[i]);
            const double b = modes[1].log_density(logs[i]);
            const double most = std::max(a, b);
            const double sum = std::exp(a - most) + std::exp(b - most);
            second[i] = std::exp(b - most) / sum;
            likelihood += most + std::log(sum);
        }
        if (likelihood - before < 1e-7 * static_cast<double>(logs.size())) {
            break;
        }
        before = likelihood;
    }
    Mixture family;
    const double mean = mean_of(values);
    for (const Mode& mode : modes) {
        const double at = std::exp(mode.mean + 0.5 * mode.width * mode.width) / mean;
        if (!std::isfinite(at)) {
            return std::nullopt;
        }
        family.components.push_back(
            {mode.weight, at, LogNormal{std::sqrt(std::expm1(mode.width * mode.width))}});
    }
    return FittedFamily{family, mean, [modes](double x) {
                            if (x <= 0.0) {
                                return impossible;
                            }
                            const double log = std::log(x);
                            const double a = modes[0].log_density(log);
                            const double b = modes[1].log_density(log);
                            const double most = std::max(a, b);
                            return most + std::log(std::exp(a - most) + std::exp(b - most)) - log;
                        }};
}

/// Peaks over a threshold above two lognormal modes: spikes, of which the longest
/// follow a distribution of their own.
Fit fit_mixture_tail(Values values)
{
    const Fit modes = fit_mixture(values);
    if (!modes) {
        return std::nullopt;
    }
    const auto functions = functions_of(modes->family);
    return fit_likeliest_tail(values, {std::get<Mixture>(modes->family), modes->unit, modes->log_density,
                                       [functions, unit = modes->unit](double share) {
                                           return unit * functions.quantile(share, true);
                                       }});
}

}  // namespace

std::vector<FittedFamily> pool_with_tails(std::span<const double> rising, const std::vector<double>& pool)
{
    constexpr std::size_t least_values = 250;
    if (rising.size() < least_values) {
        return {};
    }
    const double unit = mean_of(pool);
    const auto functions = functions_of(Empirical{pool});
    const Core core{Mixture{{{1.0, 1.0, Empirical{pool}}}}, unit, [](double) { return 0.0; },
                    [functions, unit](double share) { return unit * functions.quantile(share, true); }};
    std::vector<FittedFamily> tails;
    for (const double share : {0.1, 0.05, 0.02, 0.01, 0.005}) {
        add_tail(rising, core, share, tails);
    }
    return tails;
}

const std::vector<FamilyRecipe>& family_recipes()
{
    static const std::vector<FamilyRecipe> list{{"normal", 2, fit_normal},
                                                {"lognormal", 2, fit_lognormal},
                                                {"gamma", 2, fit_gamma},
                                                {"weibull", 2, fit_weibull},
                                                {"shifted-gamma", 3, fit_shifted_gamma},
                                                {"student-t", 3, fit_student},
                                                {"gev", 3, fit_gev},
                                                {"pareto-tail", 4, fit_pareto_tail},
                                                {"pareto-tail with a mean", 4, fit_tail_with_mean},
                                                {"mixture", 5, fit_mixture},
                                                {"mixture-tail", 7, fit_mixture_tail}};
    return list;
}

}  // namespace prismopt

#include "model/calibration/fit/fit_distribution.hpp"

#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/fit/likelihoods.hpp"
#include "model/distribution/chain_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr std::size_t folds = 5;
constexpr std::size_t least_values = 20;     // to fit three parameters on four fifths of them
constexpr std::size_t most_compared = 4000;  // for the choice of a family
constexpr std::size_t most_fitted = 65'536;  // for its parameters: the spread of so many is known to 0.3 %
constexpr std::size_t least_for_tails = 1000;
constexpr double usual_cap = 20.0;  // of a distribution

/// Evenly spaced values, in their order.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most)
{
    if (values.size() <= most) {
        return values;
    }
    std::vector<double> chosen(most);
    for (std::size_t i = 0; i < most; ++i) {
        chosen[i] = values[i * values.size() / most];
    }
    return chosen;
}

/// Means of equal parts of the rising values: the mean stays, and the ends are nearly kept.
std::vector<double> pool_of(const std::vector<double>& rising, std::size_t most)
{
    if (rising.size() <= most) {
        return rising;
    }
    std::vector<double> pool(most);
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t begin = i * rising.size() / most;
        const std::size_t end = (i + 1) * rising.size() / most;
        pool[i] = mean_of(std::span(rising).subspan(begin, end - begin));
    }
    return pool;
}

/// Mean log-likelihood of each fold under the fit of the others; not a number where a fit fails.
double held_out_likelihood(const FamilyRecipe& recipe, const std::vector<double>& values)
{
    double sum = 0.0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        const std::size_t begin = fold * values.size() / folds;
        const std::size_t end = (fold + 1) * values.size() / folds;
        std::vector<double> others(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin));
        others.insert(others.end(), values.begin() + static_cast<std::ptrdiff_t>(end), values.end());
        const auto fitted = recipe.fit(others);
        if (!fitted) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        for (std::size_t i = begin; i < end; ++i) {
            // A value outside a distribution's support would rule it out for one value; it costs
            // as much as one at ten to the -9.
            constexpr double worst = -20.7;
            const double density = fitted->log_density(values[i]);
            sum += std::isfinite(density) ? std::max(density, worst) : worst;
        }
    }
    return sum / static_cast<double>(values.size());
}

/// Beyond the longest of the values there is room for half as much again: they
/// are few, the sampler draws many.
double cap_for(const Family& family, double longest)
{
    if (std::holds_alternative<Empirical>(family)) {
        return std::clamp(2.0 * longest, usual_cap, farthest_cap_of_ops);
    }
    return std::clamp(std::ceil(1.5 * longest), usual_cap, farthest_cap_of_ops);
}

/// `unit`: where the family's unit lies. Not by means: that of a sample with a long tail says little.
double ks_of(const Distribution& distribution, double unit, const std::vector<double>& rising)
{
    const DistributionQuantile quantile(distribution);
    const double mean = unit * distribution.cap / quantile.longest();  // of the truncated distribution
    return ks_distance(rising, [&](double x) { return quantile.probability(x / mean, false); });
}

constexpr double beyond = 10.0;  // values

double beyond_of(const Distribution& distribution, double unit, const std::vector<double>& rising)
{
    const auto count = static_cast<std::size_t>(beyond);
    if (rising.size() <= count) {
        return beyond;
    }
    const DistributionQuantile quantile(distribution);
    const double mean = unit * distribution.cap / quantile.longest();
    return static_cast<double>(rising.size()) *
           quantile.probability(rising[rising.size() - count] / mean, true);
}

std::vector<double> normalised(const std::vector<double>& values)
{
    const double mean = mean_of(values);
    std::vector<double> factors(values.size());
    std::transform(values.begin(), values.end(), factors.begin(), [mean](double x) {
        // a factor is above zero, however small it is
        constexpr double least = std::numeric_limits<double>::min();
        return std::max(double{least}, x / mean);
    });
    return factors;
}

/// The distribution with these parameters, and how it follows all values.
void set_distribution(const FittedFamily& fitted, const std::vector<double>& rising, FamilyFit& fit)
{
    fit.distribution.family = fitted.family;
    fit.distribution.cap = cap_for(fitted.family, rising.back());
    fit.ks = ks_of(fit.distribution, fitted.unit, rising);
    fit.beyond = beyond_of(fit.distribution, fitted.unit, rising);
    // Both are of mean one.
    fit.spread = DistributionQuantile(fit.distribution).moments().cv() / std::sqrt(variance_of(rising));
}

FamilyFit fit_family(const FamilyRecipe& recipe, const FittedFamily& fitted,
                     const std::vector<double>& factors, const std::vector<double>& rising,
                     const FitOptions& options)
{
    FamilyFit fit;
    fit.family = recipe.name;
    set_distribution(fitted, rising, fit);
    fit.held_out = held_out_likelihood(recipe, factors);
    const bool foretells = std::isfinite(fit.held_out);
    if (!foretells) {  // too little in a fold for one of its parameters
        fit.held_out = -std::numeric_limits<double>::infinity();
    }
    // Of fewer values nothing else would reveal a distribution that is many times as wide as they are.
    const bool can_be_judged = foretells || factors.size() >= least_for_tails;
    fit.fits = can_be_judged && (fit.ks <= options.near_enough ||
                                 ks_probability(fit.ks, static_cast<double>(rising.size())) > 0.05);
    return fit;
}

/// How far off the far tail is: the logarithms of how many times the values' part the distribution has there,
/// and of how many times their cv.
double tail_error(const FamilyFit& fit)
{
    constexpr double least = 1e-300;
    return std::abs(std::log(std::max(least, fit.beyond) / beyond)) +
           std::abs(std::log(std::max(least, fit.spread)));
}

/// Whether the family is right about what is rare: the tenth longest value, and, past all
/// values, a variance that is theirs. A tail that reaches to the cap may be right at the tenth
/// longest, and several times as wide.
bool tail_holds(const FamilyFit& fit, std::size_t values)
{
    return far_tail_holds(fit.beyond, values) && spread_holds(fit.spread, values);
}

/// The family again, by as many values as there are.
void fit_again(const std::vector<double>& values, const std::vector<double>& rising,
               const FitOptions& options, FamilyFit& fit)
{
    const auto& recipes = family_recipes();
    const auto recipe = std::find_if(recipes.begin(), recipes.end(),
                                     [&](const FamilyRecipe& r) { return r.name == fit.family; });
    const auto fitted = recipe->fit(thinned(values, most_fitted));
    FamilyFit better = fit;
    if (fitted) {
        set_distribution(*fitted, rising, better);
    }
    if (better.ks < fit.ks || (better.ks <= options.near_enough && tail_error(better) < tail_error(fit))) {
        fit = better;
    }
}

/// A pool ends where the mean of its longest values lies. Where values go on beyond it, so does
/// a tail that is fitted to them.
void add_tail_to_pool(const std::vector<double>& pool, const std::vector<double>& rising,
                      const FitOptions& options, DistributionFit& result)
{
    constexpr double same = 0.95;
    if (pool.back() > same * rising.back()) {
        return;
    }
    FamilyFit of_pool;
    of_pool.beyond = result.beyond;
    of_pool.spread =
        DistributionQuantile(result.distribution).moments().cv() / std::sqrt(variance_of(rising));
    double least_error = tail_error(of_pool);
    for (const FittedFamily& fitted : pool_with_tails(rising, pool)) {
        FamilyFit fit;
        set_distribution(fitted, rising, fit);
        if (fit.ks <= std::max(options.near_enough, 2.0 * result.ks) && tail_error(fit) < least_error) {
            least_error = tail_error(fit);
            result.distribution = fit.distribution;
            result.family = "empirical with a tail";
            result.beyond = fit.beyond;
            result.spread = fit.spread;
        }
    }
    if (result.family != "empirical") {
        result.ks = ks_of(result.distribution, mean_of(pool), rising);
    }
}

/// Families that fit come first, by their likelihood of held-out values; the others by their distance.
bool fits_better(const FamilyFit& a, const FamilyFit& b)
{
    if (a.fits != b.fits) {
        return a.fits;
    }
    return a.fits ? a.held_out > b.held_out : a.ks < b.ks;
}

}  // namespace

double highest_claim(std::size_t values) { return std::max(0.0, 1.0 - beyond / static_cast<double>(values)); }

bool far_tail_holds(double beyond_found, std::size_t values)
{
    constexpr double times = 3.0;
    return values < least_for_tails || (beyond_found > beyond / times && beyond_found < beyond * times);
}

bool spread_holds(double spread, std::size_t values)
{
    constexpr double times = 1.5;
    return values < least_for_tails || (spread > 1.0 / times && spread < times);
}

DistributionFit constant_distribution(const std::string& source)
{
    DistributionFit fit;
    fit.distribution.source = source;
    fit.family = "constant";
    return fit;
}

DistributionFit longest_of_fit(const DistributionFit& fit, double times, const std::string& source)
{
    constexpr int places = 8000;
    const Quantile longest = largest_of([quantile = DistributionQuantile(fit.distribution)](
                                            double p, bool upper) { return quantile(p, upper); },
                                        times);
    std::vector<double> values;
    for (int i = 0; i < places; ++i) {  // every fold of neighbours has values of all sizes
        const double p = (static_cast<double>((i * 1999LL) % places) + 0.5) / places;
        values.push_back(p < 0.5 ? longest(p, false) : longest(1.0 - p, true));
    }
    DistributionFit carried = fit_distribution(values, source);
    carried.values = fit.values;
    carried.claims_to = fit.claims_to;
    return carried;
}

DistributionFit fit_distribution(const std::vector<double>& values, const std::string& source,
                                 const FitOptions& options)
{
    DistributionFit result = constant_distribution(source);
    result.values = values.size();
    if (values.empty()) {
        return result;
    }
    result.claims_to = highest_claim(values.size());
    const std::vector<double> all = normalised(values);
    std::vector<double> rising = all;
    std::sort(rising.begin(), rising.end());
    constexpr double no_spread = 1e-6;
    if (rising.back() - rising.front() < no_spread) {
        return result;
    }
    const std::vector<double> factors = thinned(all, most_compared);
    if (values.size() >= least_values) {
        for (const FamilyRecipe& recipe : family_recipes()) {
            try {
                if (const auto fitted = recipe.fit(factors)) {
                    result.tried.push_back(fit_family(recipe, *fitted, factors, rising, options));
                }
            } catch (const std::domain_error&) {  // parameters outside the family's range: it does not suit
            }
        }
    }
    for (FamilyFit& fit : result.tried) {
        if (fit.fits && values.size() > most_compared) {
            fit_again(all, rising, options, fit);
        }
    }
    const auto far = [&](const FamilyFit& fit) { return tail_holds(fit, values.size()); };
    const bool any_far = std::any_of(result.tried.begin(), result.tried.end(),
                                     [&](const FamilyFit& fit) { return fit.fits && far(fit); });
    std::sort(result.tried.begin(), result.tried.end(), [&](const FamilyFit& a, const FamilyFit& b) {
        if (a.fits && b.fits && far(a) != far(b)) {
            return far(a);
        }
        if (a.fits && b.fits && !any_far) {
            return tail_error(a) < tail_error(b);
        }
        return fits_better(a, b);
    });
    if (!result.tried.empty() && result.tried.front().fits) {
        result.distribution = result.tried.front().distribution;
        result.family = result.tried.front().family;
        result.ks = result.tried.front().ks;
        result.beyond = result.tried.front().beyond;
        result.spread = result.tried.front().spread;
    } else {
        const std::vector<double> pool = pool_of(rising, options.pool);
        result.distribution.family = Empirical{pool};
        result.distribution.cap = cap_for(result.distribution.family, rising.back());
        result.family = "empirical";
        result.ks = ks_of(result.distribution, 1.0, rising);
        result.beyond = beyond_of(result.distribution, 1.0, rising);
        add_tail_to_pool(pool, rising, options, result);
    }
    result.distribution.source = source;
    return result;
}

}  // namespace prismopt

#include "search/strategies/nlopt_search.hpp"

#include <nlopt.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>

namespace prismopt {
namespace {

/// Replaces an infinite cost, because the models of NLopt need finite numbers.
constexpr double hopeless = 1e30;

/// The cost in coordinates from 0 to 1, which makes step sizes and tolerances equal for all hardware
/// parameters; remembers the best.
class Recorder {
public:
    Recorder(const Cost& cost, const Box& box) : cost_(cost), box_(box) {}

    double at(const std::vector<double>& unit)
    {
        std::vector<double> x;
        for (std::size_t k = 0; k < unit.size(); ++k) {
            // BOBYQA may leave its bounds by a rounding error.
            x.push_back(
                std::clamp(box_.low[k] + unit[k] * (box_.high[k] - box_.low[k]), box_.low[k], box_.high[k]));
        }
        const double value = cost_(x);
        ++best_.evaluations;
        if (best_.x.empty() || value < best_.value) {
            best_.x = x;
            best_.value = value;
            unit_ = unit;
        }
        return std::isfinite(value) ? value : hopeless;
    }

    /// As at(); what the cost throws waits for rethrow(), since NLopt would lose it.
    double try_at(const std::vector<double>& unit)
    {
        if (failure_) {
            return hopeless;
        }
        try {
            return at(unit);
        } catch (...) {
            failure_ = std::current_exception();
            throw nlopt::forced_stop();
        }
    }

    void rethrow() const
    {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

    const Tuned& best() const { return best_; }
    const std::vector<double>& unit() const { return unit_; }

private:
    const Cost& cost_;
    const Box& box_;
    Tuned best_;
    std::vector<double> unit_;
    std::exception_ptr failure_;
};

double evaluate(const std::vector<double>& unit, std::vector<double>& /*gradient*/, void* recorder)
{
    return static_cast<Recorder*>(recorder)->try_at(unit);
}

void run(nlopt::algorithm algorithm, int evaluations, double tolerance, Recorder& recorder)
{
    std::vector<double> unit = recorder.unit();
    nlopt::opt optimiser(algorithm, static_cast<unsigned>(unit.size()));
    optimiser.set_lower_bounds(0.0);
    optimiser.set_upper_bounds(1.0);
    optimiser.set_min_objective(evaluate, &recorder);
    optimiser.set_maxeval(evaluations);
    optimiser.set_xtol_abs(tolerance);
    optimiser.set_initial_step(0.1);
    double value = 0.0;
    try {
        optimiser.optimize(unit, value);
    } catch (const nlopt::roundoff_limited&) {
        // The best point so far is recorded.
    } catch (const std::runtime_error&) {
        // BOBYQA and others give up on flat or broken costs with a general
        // failure; the best point is recorded.
    }
    recorder.rethrow();
}

nlopt::algorithm algorithm_of(TuneMethod method)
{
    switch (method) {
        case TuneMethod::bobyqa: return nlopt::LN_BOBYQA;
        case TuneMethod::direct_l: return nlopt::GN_DIRECT_L;
        case TuneMethod::crs2: return nlopt::GN_CRS2_LM;
        default: return nlopt::LN_SBPLX;
    }
}

}  // namespace

Tuned minimise(const Cost& cost, const Box& box, std::span<const double> start, const TuneOptions& options)
{
    if (box.low.size() != start.size() || box.high.size() != start.size() || options.max_evaluations < 1) {
        throw std::invalid_argument(
            "continuous search: bounds and start need one number per hardware parameter, and max_evaluations "
            "must be at least 1");
    }
    std::vector<double> unit;
    for (std::size_t k = 0; k < start.size(); ++k) {
        if (!(box.low[k] < box.high[k]) || start[k] < box.low[k] || start[k] > box.high[k]) {
            throw std::invalid_argument("continuous search: hardware parameter " + std::to_string(k) +
                                        " starts outside its range");
        }
        unit.push_back((start[k] - box.low[k]) / (box.high[k] - box.low[k]));
    }
    Recorder recorder(cost, box);
    recorder.at(unit);
    if (start.empty()) {
        return recorder.best();
    }
    nlopt::srand(options.seed);
    const bool both = options.method == TuneMethod::global_then_local;
    if (both) {
        run(nlopt::GN_DIRECT_L, options.max_evaluations / 2, options.tolerance, recorder);
    }
    const int left = options.max_evaluations - recorder.best().evaluations;
    // BOBYQA needs two variables.
    const TuneMethod local =
        options.method == TuneMethod::bobyqa && start.size() < 2 ? TuneMethod::sbplx : options.method;
    if (left > 0) {
        run(algorithm_of(local), left, options.tolerance, recorder);
    }
    return recorder.best();
}

double Scalarisation::operator()(std::span<const double> values) const
{
    double largest = -std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double width = nadir[k] > ideal[k] ? nadir[k] - ideal[k] : 1.0;
        const double term = weight[k] * (values[k] - ideal[k]) / width;
        largest = std::max(largest, term);
        sum += term;
    }
    return largest + share * sum;
}

}  // namespace prismopt

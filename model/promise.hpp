#pragma once

/// Training times that can be promised: those that are kept with a given
/// probability. docs/methods/question.md.

#include <vector>

namespace prismopt {

/// Which time can be promised.
struct Promise {
    double probability = 0.0;  // with which it is kept; 0: nobody asks
    bool model_error = true;   // whether that includes the error of the model

    bool asked() const { return probability > 0.0; }
    bool includes_model_error() const { return asked() && model_error; }
};

/// No fit leaves a plan's deviation larger when plans are excluded by bounds: its times could be 2.7 times
/// those predicted. An assumption.
inline constexpr double largest_model_deviation = 0.5;

/// The least that is known of the logarithm of measured over predicted time, before the error of a plan is
/// computed: a mixture of normal distributions, one for each software that the job may have.
struct LeastModelError {
    struct Component {
        double weight = 1.0;                    // probability; all sum to one
        double mean = 0.0;                      // minus infinity: the software may be as fast as it likes
        double deviation = 0.0;                 // at most that of each plan
        double most = largest_model_deviation;  // at least that of each plan
    };
    std::vector<Component> components{{}};
};

/// Probabilities of the quantiles of the training time whose bounds are used. `least`: the smallest one of
/// which a quantile is not below the bound of the mean. Empty: nothing bounds the promised time.
std::vector<double> promise_quantiles(const Promise& promise, double least);

/// The promised time is at least so many times the training time's quantile of this
/// probability; zero where nothing is known.
double promise_factor(const Promise& promise, double quantile, const LeastModelError& error);

}  // namespace prismopt

#include "model/calibration/posterior/discrepancy.hpp"

#include "model/base/powers.hpp"
#include "model/calibration/fit/maximise.hpp"

#include <Eigen/Cholesky>

#include <cmath>
#include <limits>

namespace prismopt {

namespace {

// Priors of logarithms: means of deviations, lengths, and how wide they are. Assumptions: wide enough that
// groups which say something decide, and what no group varies stays at the mean.
constexpr double usual_source = 0.05;
constexpr double usual_delta = 0.06;
constexpr double usual_length = 4.0;
constexpr double prior_of_variances = 2.0;
constexpr double prior_of_lengths = 1.0;

/// Variables of the fit: logarithms of two variances and of the lengths.
Discrepancy discrepancy_of(const Eigen::VectorXd& x, double repeat)
{
    Discrepancy result;
    result.deviation = std::exp(0.5 * x[0]);
    result.source = std::exp(0.5 * x[1]);
    result.repeat = repeat;
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        result.lengths[k] = std::exp(x[static_cast<Eigen::Index>(2 + k)]);
    }
    return result;
}

Eigen::MatrixXd covariance_of(const MeasuredGroup& group, const Discrepancy& discrepancy)
{
    const std::size_t n = group.traits.size();
    Eigen::MatrixXd result(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                covariance(discrepancy, group.traits[i], group.traits[j]) + group.constants[i * n + j] +
                discrepancy.source * discrepancy.source +
                (i == j ? discrepancy.repeat * discrepancy.repeat : 0.0);
        }
    }
    return result;
}

double log_likelihood(const MeasuredGroup& group, const Discrepancy& discrepancy)
{
    const Eigen::LLT<Eigen::MatrixXd> factor(covariance_of(group, discrepancy));
    if (factor.info() != Eigen::Success) {
        return -std::numeric_limits<double>::infinity();
    }
    const Eigen::Map<const Eigen::VectorXd> ratio(group.log_ratio.data(),
                                                  static_cast<Eigen::Index>(group.log_ratio.size()));
    const Eigen::VectorXd white = factor.matrixL().solve(ratio);
    return -0.5 * white.squaredNorm() - Eigen::MatrixXd(factor.matrixL()).diagonal().array().log().sum();
}

}  // namespace

PlanTraits traits_of(const ParallelPlan& plan)
{
    PlanTraits traits;
    const std::array<int, PlanTraits::degree_names.size()> degrees{plan.tp,     plan.cp, plan.pp,
                                                                   plan.chunks, plan.ep, plan.microbatch};
    for (std::size_t k = 0; k < degrees.size(); ++k) {
        traits.degrees[k] = std::log2(degrees[k]);
    }
    const Schedule schedule = plan.pp == 1
                                  ? Schedule::one_f_one_b
                                  : plan.schedule;  // with one stage, schedules do not differ in time
    // Where states are: sharded over GPUs, and in the memory of hosts.
    const int states = static_cast<int>(plan.sharding) +
                       static_cast<int>(names_of<Sharding>.size()) * static_cast<int>(plan.offload);
    traits.kinds = {static_cast<int>(schedule), static_cast<int>(plan.recompute), states};
    return traits;
}

MemoryScatter Discrepancy::memory_on(const std::string& stack) const
{
    const auto found = memory_of_stack.find(stack);
    return found != memory_of_stack.end() ? found->second
                                          : MemoryScatter{0, std::hypot(memory, memory_of_plan)};
}

MemoryError Discrepancy::memory_error_on(const std::string& stack) const
{
    const double of_all = std::hypot(memory, memory_of_plan);
    const double wider = of_all > 0.0 ? memory_on(stack).deviation / of_all : 1.0;
    return {.mean = 0.0, .deviation = wider * memory, .own = wider * memory_of_plan, .ran = {}, .failed = {}};
}

double covariance(const Discrepancy& discrepancy, const PlanTraits& a, const PlanTraits& b)
{
    double distance = 0.0;
    for (std::size_t k = 0; k < a.degrees.size(); ++k) {
        distance += std::abs(a.degrees[k] - b.degrees[k]) / discrepancy.lengths[k];
    }
    for (std::size_t k = 0; k < a.kinds.size(); ++k) {
        distance += (a.kinds[k] == b.kinds[k] ? 0.0 : 1.0) / discrepancy.lengths[a.degrees.size() + k];
    }
    return square(discrepancy.deviation) * std::exp(-distance);
}

double repeat_deviation(const std::vector<std::vector<std::vector<double>>>& repeats)
{
    double sum = 0.0;
    double sources = 0.0;
    for (const auto& plans : repeats) {
        double squares = 0.0;
        double freedom = 0.0;
        for (const std::vector<double>& values : plans) {
            double mean = 0.0;
            for (const double value : values) {
                mean += value / static_cast<double>(values.size());
            }
            for (const double value : values) {
                squares += square(value - mean);
            }
            freedom += static_cast<double>(values.size()) - 1.0;
        }
        if (freedom > 0.0) {
            sum += squares / freedom;
            sources += 1.0;
        }
    }
    return sources > 0.0 ? std::sqrt(sum / sources) : 0.0;
}

Discrepancy fit_discrepancy(std::span<const MeasuredGroup> groups, double repeat)
{
    Eigen::VectorXd start(2 + PlanTraits::count);
    start.setConstant(std::log(usual_length));
    start[0] = std::log(square(usual_delta));
    start[1] = std::log(square(usual_source));
    const auto posterior = [&](const Eigen::VectorXd& x) {
        const Discrepancy discrepancy = discrepancy_of(x, repeat);
        double sum = -0.5 * (x.head(2) - start.head(2)).squaredNorm() / square(prior_of_variances) -
                     0.5 * (x.tail(PlanTraits::count) - start.tail(PlanTraits::count)).squaredNorm() /
                         square(prior_of_lengths);
        for (const MeasuredGroup& group : groups) {
            sum += group.weight * log_likelihood(group, discrepancy);
        }
        return sum;
    };
    const auto found = maximise(posterior, start);
    Discrepancy result = discrepancy_of(found.value_or(start), repeat);
    result.groups = static_cast<int>(groups.size());
    return result;
}

}  // namespace prismopt

#include "optimizer/fit/least_squares.hpp"

#include "io/words/infeasible_text.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/accuracy/robust.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr double difference = 1e-3;  // of a logarithm
/// Assumption: a prior counts as the only row of a source, 1.5 % off where its constant is one spread off.
constexpr double prior_weight = 0.015;
constexpr double believed_members = 4.0;
constexpr Eigen::Index none = -1;

/// none: no constant has this name.
Eigen::Index index_of(const std::vector<FitConstant>& constants, const std::string& name)
{
    const auto found = std::find_if(constants.begin(), constants.end(),
                                    [&name](const FitConstant& constant) { return constant.name() == name; });
    return found == constants.end() ? none : found - constants.begin();
}

double time_of(const FittedRow& row, const Machines& machines, const NoiseByProfile& noise)
{
    const Cluster cluster = machines.cluster_of(row.run);
    PlanCompiler compiler(
        {row.run.workload, row.run.phase(), cluster, noise.at(row.run.variability), no_memory_limit});
    const auto compiled = compiler.compile(row.run.plan, CompileFor::noise_free_step);
    if (const auto* refusal = std::get_if<Infeasible>(&compiled)) {
        throw std::logic_error(row.run.row + ": " + detail_text(*refusal));
    }
    return row.inflation * noise_free_step(std::get<CompiledPlan>(compiled).graph).step_s;
}

Machines machines_at(const std::vector<FitConstant>& constants, const Eigen::VectorXd& logarithms)
{
    Machines machines = Machines::of_catalog();
    for (std::size_t k = 0; k < constants.size(); ++k) {
        set_constant(machines, constants[k], std::exp(logarithms[static_cast<Eigen::Index>(k)]));
    }
    return machines;
}

/// Residuals of all rows, then of the priors, then of what components say.
class Residuals {
public:
    using Scalar = double;
    using InputType = Eigen::VectorXd;
    using ValueType = Eigen::VectorXd;
    using JacobianType = Eigen::MatrixXd;
    // Names that Eigen asks for. NOLINTNEXTLINE(readability-identifier-naming)
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

    Residuals(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& constants,
              const NoiseByProfile& noise)
        : rows_(rows), constants_(constants), noise_(noise)
    {
        for (const FitConstant& constant : constants) {
            parent_.push_back(index_of(constants, constant.parent));
            observations_ += constant.observations.size();
        }
    }

    int inputs() const { return static_cast<int>(constants_.size()); }
    int values() const { return static_cast<int>(rows_.size() + constants_.size() + observations_); }

    int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const
    {
        const Machines machines = machines_at(constants_, x);
        const auto count = static_cast<Eigen::Index>(rows_.size());
        for (Eigen::Index i = 0; i < count; ++i) {
            residuals[i] = residual(rows_[static_cast<std::size_t>(i)], machines);
        }
        for (Eigen::Index k = 0; k < x.size(); ++k) {
            const FitConstant& constant = constants_[static_cast<std::size_t>(k)];
            const Eigen::Index parent = parent_[static_cast<std::size_t>(k)];
            const double mean = parent == none ? std::log(constant.value) : x[parent];
            residuals[count + k] = prior_weight * (x[k] - mean) / constant.spread;
        }
        for_observations([&](Eigen::Index row, Eigen::Index k, const FitConstant::Observation& observation) {
            residuals[row] = prior_weight * (x[k] - std::log(observation.value)) / observation.deviation;
        });
        return 0;
    }

    /// Forward differences, of the rows that a constant concerns.
    int df(const Eigen::VectorXd& x, Eigen::MatrixXd& jacobian) const
    {
        Eigen::VectorXd base(values());
        (*this)(x, base);
        jacobian.setZero(values(), inputs());
        const auto count = static_cast<Eigen::Index>(rows_.size());
        for (Eigen::Index k = 0; k < x.size(); ++k) {
            const FitConstant& constant = constants_[static_cast<std::size_t>(k)];
            Eigen::VectorXd moved = x;
            moved[k] -= difference;  // downwards: never beyond a largest value
            const Machines machines = machines_at(constants_, moved);
            for (Eigen::Index i = 0; i < count; ++i) {
                const FittedRow& row = rows_[static_cast<std::size_t>(i)];
                if (constant.concerns(row.run)) {
                    jacobian(i, k) = (base[i] - residual(row, machines)) / difference;
                }
            }
            const Eigen::Index parent = parent_[static_cast<std::size_t>(k)];
            jacobian(count + k, k) = prior_weight / constant.spread;
            if (parent != none) {
                jacobian(count + k, parent) = -jacobian(count + k, k);
            }
        }
        for_observations([&](Eigen::Index row, Eigen::Index k, const FitConstant::Observation& observation) {
            jacobian(row, k) = prior_weight / observation.deviation;
        });
        return 0;
    }

private:
    /// Calls visit(row of the residuals, constant, observation).
    template <class Visit>
    void for_observations(Visit&& visit) const
    {
        auto row = static_cast<Eigen::Index>(rows_.size() + constants_.size());
        for (std::size_t k = 0; k < constants_.size(); ++k) {
            for (const FitConstant::Observation& observation : constants_[k].observations) {
                visit(row++, static_cast<Eigen::Index>(k), observation);
            }
        }
    }

    double residual(const FittedRow& row, const Machines& machines) const
    {
        return row.weight * robust(std::log(time_of(row, machines, noise_) / row.run.measured_s));
    }

    const std::vector<FittedRow>& rows_;
    const std::vector<FitConstant>& constants_;
    const NoiseByProfile& noise_;
    std::vector<Eigen::Index> parent_;  // [constant]
    std::size_t observations_ = 0;
};

Eigen::VectorXd logarithms(const std::vector<FitConstant>& constants)
{
    Eigen::VectorXd x(static_cast<Eigen::Index>(constants.size()));
    for (std::size_t k = 0; k < constants.size(); ++k) {
        x[static_cast<Eigen::Index>(k)] = std::log(constants[k].value);
    }
    return x;
}

}  // namespace

std::vector<FittedRow> fitted_rows(const std::vector<MeasuredRun>& runs, const std::vector<double>& inflation)
{
    std::map<std::string, double> rows_of;
    for (const MeasuredRun& run : runs) {
        rows_of[run.source] += 1.0;
    }
    std::vector<FittedRow> rows;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        rows.push_back({runs[i], inflation[i], std::pow(rows_of[runs[i].source], -0.35)});
    }
    return rows;
}

double weighted_quantile(std::vector<std::pair<double, double>> values_and_weights, double share)
{
    std::sort(values_and_weights.begin(), values_and_weights.end());
    double all = 0.0;
    for (const auto& [value, weight] : values_and_weights) {
        all += weight;
    }
    double sum = 0.0;
    for (const auto& [value, weight] : values_and_weights) {
        sum += weight;
        if (sum >= share * all) {
            return value;
        }
    }
    return values_and_weights.empty() ? 0.0 : values_and_weights.back().first;
}

namespace {

/// By kind of run: what 95 % of the rows' |log(measured / predicted)| stay below, over 1.96: the errors have
/// longer tails than the normal distribution, and their limits count. Rows have their weights, so that no
/// source decides alone; all rows where there are none of a kind.
std::vector<double> scatter_of(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& constants,
                               const NoiseByProfile& noise)
{
    const std::vector<double> times = predicted_times(rows, constants, noise);
    std::vector<std::vector<std::pair<double, double>>> errors(run_kinds + 1);  // the last: all kinds
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double error = std::abs(std::log(times[i] / rows[i].run.measured_s));
        const double weight = rows[i].weight * rows[i].weight;
        errors[static_cast<std::size_t>(kind_of(rows[i].run.workload, rows[i].run.cluster))].emplace_back(
            error, weight);
        errors.back().emplace_back(error, weight);
    }
    std::vector<double> scatter;
    for (std::size_t kind = 0; kind < run_kinds; ++kind) {
        scatter.push_back(weighted_quantile(errors[kind].empty() ? errors.back() : errors[kind], 0.95) /
                          two_sided_95);
    }
    return scatter;
}

/// Factor of the constants' variance that puts the row on its limit.
double widening_for(const HeldOut& row)
{
    const double variance = std::pow(row.error / two_sided_95, 2.0) - std::pow(row.scatter, 2.0);
    if (variance <= 0.0) {
        return 0.0;
    }
    const double of_constants = std::pow(row.constants, 2.0);
    return of_constants <= 0.0 ? std::numeric_limits<double>::infinity() : variance / of_constants;
}

}  // namespace

Fit fit_constants(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed,
                  const std::vector<FitConstant>& start, const NoiseByProfile& noise, int most_steps)
{
    Residuals problem(rows, believed, noise);
    Eigen::VectorXd x = logarithms(start);
    Eigen::LevenbergMarquardt<Residuals> solver(problem);
    solver.parameters.ftol = 1e-5;
    solver.parameters.xtol = 1e-4;
    solver.parameters.factor = 10.0;
    solver.minimizeInit(x);
    Fit fit;
    for (int step = 0; step < most_steps; ++step) {
        if (solver.minimizeOneStep(x) != Eigen::LevenbergMarquardtSpace::Running) {
            break;
        }
    }
    fit.evaluations = static_cast<int>(solver.nfev);
    Eigen::VectorXd residuals(problem.values());
    Eigen::MatrixXd jacobian(problem.values(), problem.inputs());
    problem(x, residuals);
    problem.df(x, jacobian);
    fit.cost = residuals.squaredNorm();
    const Eigen::MatrixXd covariance =
        (jacobian.transpose() * jacobian).inverse() * (prior_weight * prior_weight);
    fit.constants = believed;
    for (Eigen::Index k = 0; k < x.size(); ++k) {
        FitConstant& constant = fit.constants[static_cast<std::size_t>(k)];
        constant.value = std::min(std::exp(x[k]), constant.largest);
        fit.deviation.push_back(std::sqrt(covariance(k, k)));
        for (Eigen::Index j = 0; j < x.size(); ++j) {
            fit.covariance.push_back(covariance(k, j));
        }
    }
    fit.scatter = scatter_of(rows, fit.constants, noise);
    return fit;
}

std::vector<FitConstant> with_estimated_spreads(std::vector<FitConstant> believed, const Fit& fit,
                                                const std::vector<FittedRow>& rows)
{
    struct Members {
        double squares = 0.0;
        double count = 0.0;
    };
    std::map<std::string, Members> families;  // by their means
    const std::size_t n = fit.constants.size();
    for (std::size_t k = 0; k < n; ++k) {
        const FitConstant& constant = fit.constants[k];
        const auto concerned = [&constant](const FittedRow& row) { return constant.concerns(row.run); };
        if (constant.spread_known || std::none_of(rows.begin(), rows.end(), concerned)) {
            continue;
        }
        const auto parent = static_cast<std::size_t>(index_of(fit.constants, constant.parent));
        const double distance = std::log(constant.value / fit.constants[parent].value);
        const double variance = fit.covariance[k * n + k] + fit.covariance[parent * n + parent] -
                                2.0 * fit.covariance[k * n + parent];
        Members& members = families[constant.parent];
        members.squares += distance * distance + variance;
        members.count += 1.0;
    }
    for (FitConstant& constant : believed) {
        if (!constant.spread_known) {
            const Members& members = families[constant.parent];
            constant.spread =
                std::sqrt((believed_members * constant.spread * constant.spread + members.squares) /
                          (believed_members + members.count));
        }
    }
    return believed;
}

HierarchicalFit fit_hierarchy(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed,
                              const NoiseByProfile& noise, int most_steps)
{
    constexpr int rounds = 3;  // spreads then change by less than their own errors
    HierarchicalFit result{fit_constants(rows, believed, believed, noise, most_steps), believed};
    for (int round = 1; round < rounds; ++round) {
        result.believed = with_estimated_spreads(believed, result.fit, rows);
        const int before = result.fit.evaluations;
        result.fit = fit_constants(rows, result.believed, result.fit.constants, noise, most_steps);
        result.fit.evaluations += before;
    }
    return result;
}

double widening_of(const std::vector<HeldOut>& held_out)
{
    std::vector<std::pair<double, double>> needed;
    for (const HeldOut& row : held_out) {
        needed.emplace_back(widening_for(row), row.weight);
    }
    return std::max(1.0, weighted_quantile(needed, 0.95));
}

std::vector<double> constants_covariance(const std::vector<FittedRow>& rows, const Fit& fit,
                                         const NoiseByProfile& noise)
{
    const std::vector<double> base = predicted_times(rows, fit.constants, noise);
    const auto n = static_cast<Eigen::Index>(fit.constants.size());
    Eigen::MatrixXd gradient = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()), n);
    for (Eigen::Index k = 0; k < n; ++k) {
        std::vector<FitConstant> moved = fit.constants;
        moved[static_cast<std::size_t>(k)].value *= std::exp(-difference);
        const Machines machines = machines_at(moved, logarithms(moved));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (moved[static_cast<std::size_t>(k)].concerns(rows[i].run)) {
                gradient(static_cast<Eigen::Index>(i), k) =
                    std::log(base[i] / time_of(rows[i], machines, noise)) / difference;
            }
        }
    }
    // Symmetric: the order does not matter.
    const Eigen::Map<const Eigen::MatrixXd> covariance(fit.covariance.data(), n, n);
    const Eigen::MatrixXd result = gradient * covariance * gradient.transpose();
    return {result.data(), result.data() + result.size()};
}

std::vector<double> constants_deviations(const std::vector<FittedRow>& rows, const Fit& fit,
                                         const NoiseByProfile& noise)
{
    const std::vector<double> covariance = constants_covariance(rows, fit, noise);
    std::vector<double> deviations;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        deviations.push_back(std::sqrt(std::max(0.0, covariance[i * rows.size() + i])));
    }
    return deviations;
}

std::vector<double> predicted_times(const std::vector<FittedRow>& rows,
                                    const std::vector<FitConstant>& constants, const NoiseByProfile& noise,
                                    const std::string& lender)
{
    Machines machines = machines_at(constants, logarithms(constants));
    if (!lender.empty()) {
        const Efficiency lent = machines.accelerators.at(lender).efficiency;
        for (auto& [name, accelerator] : machines.accelerators) {
            accelerator.efficiency = lent;
        }
    }
    std::vector<double> times(rows.size());
    const auto count = static_cast<std::ptrdiff_t>(rows.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        times[static_cast<std::size_t>(i)] = time_of(rows[static_cast<std::size_t>(i)], machines, noise);
    }
    return times;
}

}  // namespace prismopt

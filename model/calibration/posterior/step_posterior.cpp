#include "model/calibration/posterior/step_posterior.hpp"

#include "model/base/powers.hpp"
#include "model/calibration/posterior/posterior_draws.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace prismopt {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// [component][draw]
MatrixXd normals(std::uint64_t seed, std::size_t draws, PosteriorKind kind, std::size_t components)
{
    MatrixXd result(static_cast<Index>(components), static_cast<Index>(draws));
    for (std::size_t d = 0; d < draws; ++d) {
        for (std::size_t k = 0; k < components; ++k) {
            result(static_cast<Index>(k), static_cast<Index>(d)) = posterior_normal(seed, d, kind, k);
        }
    }
    return result;
}

/// A square root of a covariance, which rounding may have made slightly indefinite.
MatrixXd root_of(const MatrixXd& covariance)
{
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance);
    return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

const PlanOfPosterior& plan_of(const PlanOfPosterior& plan) { return plan; }
const PlanOfPosterior& plan_of(const StepObservation& observation) { return observation.plan; }

/// [constant][plan]
template <class Plans>
MatrixXd gradients(const Plans& plans, std::size_t constants)
{
    MatrixXd result(static_cast<Index>(constants), static_cast<Index>(plans.size()));
    for (std::size_t i = 0; i < plans.size(); ++i) {
        result.col(static_cast<Index>(i)) =
            Eigen::Map<const VectorXd>(plan_of(plans[i]).gradient.data(), static_cast<Index>(constants));
    }
    return result;
}

template <class Rows, class Columns>
MatrixXd covariance_of_delta(
    const Discrepancy& discrepancy, const Rows& rows, const Columns& columns, const Pause& pause = [] {})
{
    MatrixXd result(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        pause();
        for (std::size_t j = 0; j < columns.size(); ++j) {
            result(static_cast<Index>(i), static_cast<Index>(j)) =
                covariance(discrepancy, plan_of(rows[i]).traits, plan_of(columns[j]).traits);
        }
    }
    return result;
}

constexpr Index block = 64;  // columns between two pauses: tenths of a second of the largest matrices

/// The Cholesky factor, by blocks of columns (Golub and Van Loan, "Matrix
/// Computations", 4th ed., section 4.2.6).
MatrixXd lower_root(MatrixXd matrix, const Pause& pause)
{
    for (Index k = 0; k < matrix.rows(); k += block) {
        pause();
        const Index size = std::min(block, matrix.rows() - k);
        const Index rest = matrix.rows() - k - size;
        const Eigen::LLT<MatrixXd> corner(matrix.block(k, k, size, size));
        matrix.block(k, k, size, size) = corner.matrixL();
        if (rest == 0) {
            break;
        }
        auto below = matrix.block(k + size, k, rest, size);
        below = corner.matrixL().solve(below.transpose()).transpose().eval();
        matrix.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
    }
    return matrix.triangularView<Eigen::Lower>();
}

/// root * numbers
MatrixXd product(const MatrixXd& root, const MatrixXd& numbers, const Pause& pause)
{
    MatrixXd result(root.rows(), numbers.cols());
    for (Index k = 0; k < root.rows(); k += block) {
        pause();
        const Index size = std::min(block, root.rows() - k);
        result.middleRows(k, size) = root.block(k, 0, size, k + size) * numbers.topRows(k + size);
    }
    return result;
}

}  // namespace

/// The observations as linear functions of what is not known, and the inverse of their covariance.
struct StepPosterior::Latent {
    MatrixXd constants;  // covariance
    MatrixXd gradients;  // [constant][observation]
    VectorXd ratios;
    VectorXd noise;  // deviations
    Eigen::LLT<MatrixXd> factor;

    explicit Latent(const StepPosterior& of)
    {
        const auto n =
            static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(of.covariance_.size()))));
        constants =
            Eigen::Map<const MatrixXd>(of.covariance_.data(), static_cast<Index>(n), static_cast<Index>(n));
        gradients = prismopt::gradients(of.observations_, n);
        ratios.resize(static_cast<Index>(of.observations_.size()));
        noise.resize(ratios.size());
        for (Index i = 0; i < ratios.size(); ++i) {
            const StepObservation& observation = of.observations_[static_cast<std::size_t>(i)];
            ratios[i] = observation.log_ratio;
            noise[i] = observation.deviation > 0.0 ? observation.deviation : of.discrepancy_.repeat;
        }
        MatrixXd covariance = with(of.observations_, of);
        covariance.diagonal() += noise.cwiseAbs2();
        factor.compute(covariance);
    }

    /// Covariance of the values of plans (rows) with the observed values, without noise.
    template <class Plans>
    MatrixXd with(const Plans& plans, const StepPosterior& of) const
    {
        MatrixXd result = prismopt::gradients(plans, static_cast<std::size_t>(constants.rows())).transpose() *
                          constants * gradients;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            for (std::size_t j = 0; j < of.observations_.size(); ++j) {
                const bool shared = plan_of(plans[i]).job == of.observations_[j].plan.job;
                result(static_cast<Index>(i), static_cast<Index>(j)) +=
                    shared ? square(of.discrepancy_.source) : 0.0;
            }
        }
        return result + covariance_of_delta(of.discrepancy_, plans, of.observations_);
    }
};

StepPosterior::StepPosterior(std::vector<double> covariance, Discrepancy discrepancy,
                             std::vector<StepObservation> observations)
    : covariance_(std::move(covariance)), discrepancy_(std::move(discrepancy)),
      observations_(std::move(observations))
{
}

std::vector<NormalMarginal> StepPosterior::marginals(std::span<const PlanOfPosterior> plans) const
{
    const Latent known(*this);
    const MatrixXd of_plans = gradients(plans, static_cast<std::size_t>(known.constants.rows()));
    const MatrixXd with = known.with(plans, *this);
    const MatrixXd explained = known.factor.matrixL().solve(with.transpose());
    const VectorXd mean = with * known.factor.solve(known.ratios);
    std::vector<NormalMarginal> result;
    for (Index i = 0; i < with.rows(); ++i) {
        const double before = of_plans.col(i).dot(known.constants * of_plans.col(i)) +
                              square(discrepancy_.source) + square(discrepancy_.deviation);
        result.push_back({mean[i], std::sqrt(std::max(0.0, before - explained.col(i).squaredNorm()))});
    }
    return result;
}

std::vector<NormalMarginal> StepPosterior::constants(int job) const
{
    const Latent known(*this);
    const Index n = known.constants.rows();
    MatrixXd with(n + 1, known.ratios.size());
    with.topRows(n) = known.constants * known.gradients;
    for (Index j = 0; j < known.ratios.size(); ++j) {
        with(n, j) =
            observations_[static_cast<std::size_t>(j)].plan.job == job ? square(discrepancy_.source) : 0.0;
    }
    VectorXd before(n + 1);
    before.head(n) = known.constants.diagonal();
    before[n] = square(discrepancy_.source);
    const MatrixXd explained = known.factor.matrixL().solve(with.transpose());
    const VectorXd mean = with * known.factor.solve(known.ratios);
    std::vector<NormalMarginal> result;
    for (Index i = 0; i <= n; ++i) {
        result.push_back({mean[i], std::sqrt(std::max(0.0, before[i] - explained.col(i).squaredNorm()))});
    }
    return result;
}

std::vector<double> StepPosterior::surprises() const
{
    const Latent known(*this);
    const Index n = known.ratios.size();
    const MatrixXd inverse = known.factor.solve(MatrixXd::Identity(n, n));
    const VectorXd weighted = known.factor.solve(known.ratios);
    std::vector<double> result;
    for (Index i = 0; i < n; ++i) {
        result.push_back(weighted[i] / std::sqrt(inverse(i, i)));
    }
    return result;
}

std::vector<double> StepPosterior::source_draws(int job, std::size_t draws, std::uint64_t seed) const
{
    std::vector<double> result;
    for (std::size_t d = 0; d < draws; ++d) {
        result.push_back(discrepancy_.source *
                         posterior_normal(seed, d, PosteriorKind::source, static_cast<std::size_t>(job)));
    }
    return result;
}

std::vector<double> StepPosterior::draw(std::span<const PlanOfPosterior> plans, std::size_t draws,
                                        std::uint64_t seed, Components components, const Pause& pause) const
{
    const Latent known(*this);
    // Plans with equal traits share their delta.
    std::map<PlanTraits, Index> position;
    std::vector<PlanOfPosterior> distinct;
    const auto add = [&](const PlanOfPosterior& plan) {
        if (position.emplace(plan.traits, static_cast<Index>(distinct.size())).second) {
            distinct.push_back({plan.traits, {}});
        }
    };
    for (const PlanOfPosterior& plan : plans) {
        add(plan);
    }
    for (const StepObservation& observation : observations_) {
        add(observation.plan);
    }
    MatrixXd of_traits = covariance_of_delta(discrepancy_, distinct, distinct, pause);
    constexpr double rounding = 1e-9;
    of_traits.diagonal().array() += rounding * square(discrepancy_.deviation);
    const auto constants = static_cast<std::size_t>(known.constants.rows());
    const MatrixXd of_constants =
        root_of(known.constants) * normals(seed, draws, PosteriorKind::constant, constants);
    int jobs = 1;
    for (const PlanOfPosterior& plan : plans) {
        jobs = std::max(jobs, plan.job + 1);
    }
    for (const StepObservation& observation : observations_) {
        jobs = std::max(jobs, observation.plan.job + 1);
    }
    const MatrixXd source =
        discrepancy_.source * normals(seed, draws, PosteriorKind::source, static_cast<std::size_t>(jobs));
    const MatrixXd delta = product(lower_root(std::move(of_traits), pause),
                                   normals(seed, draws, PosteriorKind::delta, distinct.size()), pause);
    const auto value = [&](const auto& of, bool with_delta) {  // [plan][draw]
        MatrixXd result = gradients(of, constants).transpose() * of_constants;
        for (Index i = 0; i < result.rows(); ++i) {
            const PlanOfPosterior& plan = plan_of(of[static_cast<std::size_t>(i)]);
            result.row(i) += source.row(plan.job);
            if (with_delta) {
                result.row(i) += delta.row(position.at(plan.traits));
            }
        }
        return result;
    };
    MatrixXd result = value(plans, components.delta);
    if (!observations_.empty()) {
        const MatrixXd noise =
            known.noise.asDiagonal() * normals(seed, draws, PosteriorKind::repeat, observations_.size());
        const MatrixXd missing = -((value(observations_, true) + noise).colwise() - known.ratios);
        MatrixXd with = known.with(plans, *this);
        if (!components.delta) {
            with -= covariance_of_delta(discrepancy_, plans, observations_);
        }
        result += with * known.factor.solve(missing);
    }
    return {result.data(), result.data() + result.size()};  // column by column: [draw][plan]
}

}  // namespace prismopt

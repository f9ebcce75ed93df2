#include "optimizer/accuracy/collective_fit.hpp"

#include "optimizer/accuracy/robust.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace prismopt {

namespace {

constexpr int most_steps = 200;
/// Assumption: a prior counts as a system that is 5 % off where its constant is one deviation off.
constexpr double prior_weight = 0.05;

double time_of(const MeasuredCollective& row, const Cluster& cluster)
{
    return collective_time(row.kind, row.message, row.group, cluster).time.si;
}

/// Residuals of all rows, then of the priors.
class Residuals {
public:
    using Scalar = double;
    using InputType = Eigen::VectorXd;
    using ValueType = Eigen::VectorXd;
    using JacobianType = Eigen::MatrixXd;
    // Names that Eigen asks for. NOLINTNEXTLINE(readability-identifier-naming)
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

    Residuals(const std::vector<MeasuredCollective>& rows, const std::vector<CollectiveConstant>& constants)
        : rows_(rows), constants_(constants)
    {
        std::map<std::string, double> rows_of;
        for (const MeasuredCollective& row : rows) {
            rows_of[row.system] += 1.0;
        }
        for (const MeasuredCollective& row : rows) {
            weight_.push_back(1.0 / std::sqrt(rows_of[row.system]));
        }
    }

    int inputs() const { return static_cast<int>(constants_.size()); }
    int values() const { return static_cast<int>(rows_.size() + constants_.size()); }

    int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const
    {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            Cluster cluster = rows_[i].cluster;
            for (std::size_t k = 0; k < constants_.size(); ++k) {
                constants_[k].set(cluster,
                                  std::min(std::exp(x[static_cast<Eigen::Index>(k)]), constants_[k].largest));
            }
            residuals[static_cast<Eigen::Index>(i)] =
                weight_[i] * robust(std::log(time_of(rows_[i], cluster) / rows_[i].measured_s));
        }
        const auto count = static_cast<Eigen::Index>(rows_.size());
        for (Eigen::Index k = 0; k < x.size(); ++k) {
            const CollectiveConstant& constant = constants_[static_cast<std::size_t>(k)];
            residuals[count + k] = prior_weight * (x[k] - std::log(constant.value)) / constant.deviation;
        }
        return 0;
    }

private:
    const std::vector<MeasuredCollective>& rows_;
    const std::vector<CollectiveConstant>& constants_;
    std::vector<double> weight_;  // [row]
};

}  // namespace

std::vector<CollectiveConstant> fit_collectives(const std::vector<MeasuredCollective>& rows,
                                                std::vector<CollectiveConstant> constants)
{
    std::vector<MeasuredCollective> counted;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(counted),
                 [](const MeasuredCollective& row) { return !row.doubtful; });
    if (counted.empty()) {
        return constants;
    }
    constexpr double step = 1e-8;  // of differences, squared
    using Differentiated = Eigen::NumericalDiff<Residuals>;
    Differentiated problem(Residuals(counted, constants), step);
    Eigen::LevenbergMarquardt<Differentiated> solver(problem);
    Eigen::VectorXd x(problem.inputs());
    for (Eigen::Index k = 0; k < x.size(); ++k) {
        x[k] = std::log(constants[static_cast<std::size_t>(k)].value);
    }
    solver.minimizeInit(x);
    for (int i = 0; i < most_steps; ++i) {
        if (solver.minimizeOneStep(x) != Eigen::LevenbergMarquardtSpace::Running) {
            break;
        }
    }
    Eigen::MatrixXd jacobian(problem.values(), problem.inputs());
    problem.df(x, jacobian);
    const Eigen::MatrixXd covariance =
        (jacobian.transpose() * jacobian).inverse() * (prior_weight * prior_weight);
    for (Eigen::Index k = 0; k < x.size(); ++k) {
        CollectiveConstant& constant = constants[static_cast<std::size_t>(k)];
        constant.value = std::min(std::exp(x[k]), constant.largest);
        constant.deviation = std::sqrt(covariance(k, k));
    }
    return constants;
}

std::vector<double> predicted_times(const std::vector<MeasuredCollective>& rows,
                                    const std::vector<CollectiveConstant>& constants)
{
    std::vector<double> times;
    times.reserve(rows.size());
    for (const MeasuredCollective& row : rows) {
        Cluster cluster = row.cluster;
        for (const CollectiveConstant& constant : constants) {
            constant.set(cluster, constant.value);
        }
        times.push_back(time_of(row, cluster));
    }
    return times;
}

}  // namespace prismopt

#include "model/calibration/trace/microbatch_exponents.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace prismopt {

namespace {

/// Means of each microbatch in each cell, about those of its group: [microbatch][cell],
/// not a number where there is none.
std::vector<std::vector<double>> microbatch_rows(const MicrobatchTimes& times)
{
    const auto cells = static_cast<std::size_t>(times.cells.levels);
    const auto microbatches = static_cast<std::size_t>(times.microbatches.levels);
    std::vector<std::vector<double>> sum(microbatches, std::vector<double>(cells, 0.0));
    std::vector<std::vector<double>> count = sum;
    std::vector<std::size_t> group_of(microbatches, 0);
    for (std::size_t i = 0; i < times.y.size(); ++i) {
        const auto microbatch = static_cast<std::size_t>(times.microbatches.level[i]);
        const auto cell = static_cast<std::size_t>(times.cells.level[i]);
        sum[microbatch][cell] += times.y[i];
        count[microbatch][cell] += 1.0;
        group_of[microbatch] = static_cast<std::size_t>(times.groups.level[i]);
    }
    const auto groups = static_cast<std::size_t>(times.groups.levels);
    std::vector<std::vector<double>> group_sum(groups, std::vector<double>(cells, 0.0));
    std::vector<std::vector<double>> group_count = group_sum;
    for (std::size_t m = 0; m < microbatches; ++m) {
        for (std::size_t c = 0; c < cells; ++c) {
            sum[m][c] /= count[m][c];
            if (count[m][c] > 0.0) {
                group_sum[group_of[m]][c] += sum[m][c];
                group_count[group_of[m]][c] += 1.0;
            }
        }
    }
    for (std::size_t m = 0; m < microbatches; ++m) {
        for (std::size_t c = 0; c < cells; ++c) {
            sum[m][c] -= group_sum[group_of[m]][c] / group_count[group_of[m]][c];
        }
    }
    return sum;
}

/// Sums of products of cells over the microbatches of each block.
std::vector<Eigen::MatrixXd> products_by_block(const MicrobatchTimes& times,
                                               const std::vector<std::vector<double>>& rows)
{
    std::vector<std::size_t> block_of(rows.size(), 0);
    for (std::size_t i = 0; i < times.y.size(); ++i) {
        block_of[static_cast<std::size_t>(times.microbatches.level[i])] =
            static_cast<std::size_t>(times.blocks.level[i]);
    }
    const Eigen::Index cells = times.cells.levels;
    std::vector<Eigen::MatrixXd> products(static_cast<std::size_t>(times.blocks.levels),
                                          Eigen::MatrixXd::Zero(cells, cells));
    for (std::size_t m = 0; m < rows.size(); ++m) {
        if (std::all_of(rows[m].begin(), rows[m].end(), [](double x) { return std::isfinite(x); })) {
            const Eigen::Map<const Eigen::VectorXd> row(rows[m].data(), cells);
            products[block_of[m]] += row * row.transpose();
        }
    }
    return products;
}

/// Mean covariance of different cells, times the number of microbatches.
double shared_by_cells(const Eigen::MatrixXd& products)
{
    const auto cells = static_cast<double>(products.rows());
    return (products.sum() - products.trace()) / (cells * (cells - 1.0));
}

/// Minimum residuals: each exponent by least squares of its covariances with the others, in turn.
/// Empty if no common factor is there.
std::vector<double> exponents_of(const Eigen::MatrixXd& products)
{
    const auto cells = static_cast<std::size_t>(products.rows());
    constexpr double least = 0.02;
    constexpr double enough = 1e-8;
    constexpr int most_rounds = 1000;
    const double scale = shared_by_cells(products);
    if (!(scale > 0.0)) {
        return {};
    }
    std::vector<double> exponents(cells, 1.0);
    double change = 1.0;
    for (int round = 0; round < most_rounds && change > enough; ++round) {
        change = 0.0;
        for (std::size_t c = 0; c < cells; ++c) {
            double product = 0.0;
            double square = 0.0;
            for (std::size_t d = 0; d < cells; ++d) {
                if (d != c) {
                    product += products(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(d)) / scale *
                               exponents[d];
                    square += exponents[d] * exponents[d];
                }
            }
            const double next = std::max(least, product / square);
            change = std::max(change, std::abs(next - exponents[c]));
            exponents[c] = next;
        }
    }
    const double mean = mean_of(exponents);
    for (double& exponent : exponents) {
        exponent /= mean;
    }
    return exponents;
}

}  // namespace

std::vector<MicrobatchExponent> microbatch_exponents(const MicrobatchTimes& times)
{
    constexpr int least_cells = 3;
    constexpr int least_blocks = 5;
    constexpr double level = 0.01;
    if (times.cells.levels < least_cells || times.blocks.levels < least_blocks) {
        return {};
    }
    const std::vector<Eigen::MatrixXd> products = products_by_block(times, microbatch_rows(times));
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(times.cells.levels, times.cells.levels);
    for (const Eigen::MatrixXd& of_block : products) {
        all += of_block;
    }
    const std::vector<double> found = exponents_of(all);
    double shared_squares = 0.0;
    for (const Eigen::MatrixXd& of_block : products) {
        const double change =
            shared_by_cells(of_block) - shared_by_cells(all) / static_cast<double>(products.size());
        shared_squares += change * change;
    }
    constexpr double sure = 4.0;  // standard errors of a common effect, without which there are no exponents
    if (found.empty() || shared_by_cells(all) < sure * std::sqrt(shared_squares)) {
        return {};
    }
    std::vector<double> squares(found.size(), 0.0);
    const auto blocks = static_cast<double>(products.size());
    for (const Eigen::MatrixXd& of_block : products) {
        const std::vector<double> without = exponents_of(all - of_block);
        if (without.empty()) {
            return {};
        }
        for (std::size_t c = 0; c < found.size(); ++c) {
            squares[c] += (without[c] - found[c]) * (without[c] - found[c]) * (blocks - 1.0) / blocks;
        }
    }
    const double t = boost::math::quantile(boost::math::students_t(blocks - 1.0), 0.975);
    constexpr double finest = 1e-9;
    std::vector<MicrobatchExponent> exponents(found.size());
    double largest = 0.0;  // of the exponents' distances from one, as F of one and blocks - 1 degrees
    for (std::size_t c = 0; c < found.size(); ++c) {
        const double error = std::max(finest, std::sqrt(squares[c]));
        exponents[c].exponent = found[c];
        exponents[c].low = std::max(0.0, found[c] - t * error);
        exponents[c].high = found[c] + t * error;
        largest = std::max(largest, (found[c] - 1.0) * (found[c] - 1.0) / (error * error));
    }
    const double by_chance = fisher_beyond(1.0, blocks - 1.0, largest) * static_cast<double>(found.size());
    return by_chance < level ? exponents : std::vector<MicrobatchExponent>{};
}

std::vector<double> beyond_exponent_one(const MicrobatchTimes& times,
                                        const std::vector<MicrobatchExponent>& exponents)
{
    const std::vector<std::vector<double>> rows = microbatch_rows(times);
    std::vector<double> effects;
    for (const std::vector<double>& row : rows) {
        double product = 0.0;
        double square = 0.0;
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (std::isfinite(row[c])) {
                product += exponents[c].exponent * row[c];
                square += exponents[c].exponent * exponents[c].exponent;
            }
        }
        effects.push_back(square > 0.0 ? product / square : 0.0);
    }
    std::vector<double> beyond(times.y.size());
    for (std::size_t i = 0; i < beyond.size(); ++i) {
        const double exponent = exponents[static_cast<std::size_t>(times.cells.level[i])].exponent;
        beyond[i] = (exponent - 1.0) * effects[static_cast<std::size_t>(times.microbatches.level[i])];
    }
    return beyond;
}

}  // namespace prismopt

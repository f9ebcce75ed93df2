/// Fits the constants of the catalog to a folder of measured runs: `fit_constants DIR [--write model/catalog] [--leave-one-out]`.

#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/fit/catalog_writer.hpp"
#include "optimizer/fit/left_out_accelerators.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>
#include <map>
#include <numeric>

namespace {

namespace po = boost::program_options;
using namespace prismopt;

constexpr int most_steps = 60;

struct Errors {
    double mean = 0.0;
    double median = 0.0;
};

Errors errors_of(std::vector<double> errors)
{
    std::sort(errors.begin(), errors.end());
    return {std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()), errors[errors.size() / 2]};
}

std::vector<double> absolute_errors(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& constants,
                                    const NoiseByProfile& noise)
{
    const std::vector<double> times = predicted_times(rows, constants, noise);
    std::vector<double> errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        errors.push_back(std::abs(times[i] / rows[i].run.measured_s - 1.0));
    }
    return errors;
}

std::string today()
{
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

void print_constants(const Fit& fit, const std::vector<FitConstant>& start)
{
    fmt::print("{:<44}{:>12}{:>12}{:>8}\n", "constant", "before", "fitted", "+- %");
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        fmt::print("{:<44}{:>12.4g}{:>12.4g}{:>8.1f}\n", fit.constants[k].name(), start[k].value, fit.constants[k].value,
                   100.0 * fit.deviation[k]);
    }
}

void print_sources(const std::vector<FittedRow>& rows, const std::vector<double>& errors)
{
    std::map<std::string, std::vector<double>> sources;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        sources[rows[i].run.source].push_back(errors[i]);
    }
    fmt::print("\n{:<44}{:>6}{:>9}{:>10}\n", "source", "rows", "mean %", "median %");
    for (const auto& [name, list] : sources) {
        const Errors e = errors_of(list);
        fmt::print("{:<44}{:>6}{:>9.2f}{:>10.2f}\n", name, list.size(), 100.0 * e.mean, 100.0 * e.median);
    }
}

/// Errors of a source whose rows were left out of the fit.
struct LeftOutSource {
    std::string name;
    std::vector<double> errors;
    std::vector<double> known;  // of the rows whose accelerator and stack occur in other sources
    std::vector<LeftOut> rows;
};

bool in_others(const FittedRow& row, const std::vector<FittedRow>& others)
{
    const auto any = [&others](auto&& same) { return std::any_of(others.begin(), others.end(), same); };
    const Cluster& c = row.run.cluster;
    return any([&c](const FittedRow& o) { return o.run.cluster.accelerator.name == c.accelerator.name; }) &&
           any([&c](const FittedRow& o) { return o.run.cluster.stack.name == c.stack.name; });
}

/// Predicts each source with constants fitted to the other sources, starting from the priors. Constants that only the left-out
/// source determines keep their prior values.
std::vector<LeftOutSource> leave_one_out(const std::vector<FittedRow>& rows, const std::vector<FitConstant>& believed,
                                         const NoiseByProfile& noise)
{
    std::map<std::string, std::vector<FittedRow>> sources;
    for (const FittedRow& row : rows) {
        sources[row.run.source].push_back(row);
    }
    std::vector<LeftOutSource> result;
    for (const auto& [name, left_out] : sources) {
        std::vector<FittedRow> others;
        for (const FittedRow& row : rows) {
            if (row.run.source != name) {
                others.push_back(row);
            }
        }
        const Fit without = fit_constants(others, believed, noise, most_steps);
        const std::vector<double> times = predicted_times(left_out, without.constants, noise);
        const std::vector<double> deviations = constants_deviations(left_out, without, noise);
        LeftOutSource source{name, absolute_errors(left_out, without.constants, noise), {}, {}};
        for (std::size_t i = 0; i < left_out.size(); ++i) {
            if (in_others(left_out[i], others)) {
                source.known.push_back(source.errors[i]);
            }
            source.rows.push_back({std::abs(std::log(times[i] / left_out[i].run.measured_s)), deviations[i],
                                   without.scatter[static_cast<std::size_t>(kind_of(left_out[i].run.workload))],
                                   left_out[i].weight * left_out[i].weight});
        }
        result.push_back(std::move(source));
    }
    return result;
}

double widening_of(const std::vector<LeftOutSource>& sources)
{
    std::vector<LeftOut> rows;
    for (const LeftOutSource& source : sources) {
        rows.insert(rows.end(), source.rows.begin(), source.rows.end());
    }
    return widening_of(rows);
}

/// Known: rows whose accelerator and stack occur in other sources. Inside: percentage of rows inside their 95 % interval.
void print_left_out(const std::vector<LeftOutSource>& sources, double widening)
{
    fmt::print("\nleft out of the fit{:<25}{:>6}{:>9}{:>10}{:>10}{:>7}{:>9}\n", "", "rows", "mean %", "median %", "inside %",
               "known", "mean %");
    for (const LeftOutSource& source : sources) {
        const Errors e = errors_of(source.errors);
        const auto inside = std::count_if(source.rows.begin(), source.rows.end(), [widening](const LeftOut& row) {
            return row.error <= two_sided_95 * std::hypot(std::sqrt(widening) * row.constants, row.scatter);
        });
        const std::string known = source.known.empty() ? "-" : fmt::format("{:.2f}", 100.0 * errors_of(source.known).mean);
        fmt::print("{:<44}{:>6}{:>9.2f}{:>10.2f}{:>10.0f}{:>7}{:>9}\n", source.name, source.errors.size(), 100.0 * e.mean,
                   100.0 * e.median, 100.0 * static_cast<double>(inside) / static_cast<double>(source.rows.size()),
                   source.known.size(), known);
    }
    fmt::print("\nvariance of the constants multiplied by {:.3g}, so that 95 % of these rows (by weight) are inside\n", widening);
}

void print_borrowed(const std::vector<BorrowedShares>& pairs, double deviation)
{
    fmt::print("\n{:<26}{:<26}{:>6}{:>9}{:>9}\n", "predicted accelerator", "with the shares of", "rows", "mean %", "bias %");
    for (const BorrowedShares& pair : pairs) {
        double absolute = 0.0;
        double bias = 0.0;
        for (const double error : pair.errors) {
            absolute += std::abs(std::expm1(error)) / static_cast<double>(pair.errors.size());
            bias += std::expm1(error) / static_cast<double>(pair.errors.size());
        }
        fmt::print("{:<26}{:<26}{:>6}{:>9.1f}{:>+9.1f}\n", pair.measured, pair.shares_of, pair.errors.size(), 100.0 * absolute,
                   100.0 * bias);
    }
    fmt::print(
        "\nstandard deviation of an accelerator that was not measured: {:.3f}, which covers 95 % of these rows (by weight)\n",
        deviation);
}

int run(int argc, char** argv)
{
    po::options_description options("Options");
    options.add_options()("help,h", "print this help")("data", po::value<std::string>()->value_name("DIR"),
                                                       "folder of measured runs")(
        "write", po::value<std::string>()->value_name("CATALOG"), "write the fitted constants to the catalog in this folder")(
        "leave-one-out", po::bool_switch(), "fit again without each source and predict that source (implied by --write)");
    po::positional_options_description positional;
    positional.add("data", 1);
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(), values);
    if (values.count("help") > 0 || values.count("data") == 0) {
        fmt::print("Usage: fit_constants DIR [options]\n");
        std::fflush(stdout);
        std::cout << options;
        return values.count("help") > 0 ? 0 : 2;
    }
    const CheckedModel checked = check_model(with_folder(shipped_runs(), values["data"].as<std::string>()));
    std::vector<MeasuredRun> runs;
    std::vector<double> inflation;
    for (const CheckedRun& run : checked.runs) {
        runs.push_back(run.run);
        inflation.push_back(run.predicted_s / run.noise_free_s);
    }
    const NoiseByProfile noise = noise_of(runs);
    const std::vector<FittedRow> rows = fitted_rows(runs, inflation);
    const std::vector<FitConstant> start = fitted_constants(runs);
    const Errors before = errors_of(absolute_errors(rows, start, noise));
    fmt::print("{} rows, {} constants; before: mean {:.2f} %, median {:.2f} %\n", rows.size(), start.size(), 100.0 * before.mean,
               100.0 * before.median);
    std::fflush(stdout);
    Fit fit = fit_constants(rows, start, noise, most_steps);
    const bool write = values.count("write") > 0;
    std::vector<LeftOutSource> left_out;
    double widening = 1.0;
    if (write || values["leave-one-out"].as<bool>()) {
        left_out = leave_one_out(rows, start, noise);
        widening = widening_of(left_out);
        widen(fit, widening);
    }
    const std::vector<BorrowedShares> borrowed = borrowed_shares(rows, fit, noise);
    fit.unmeasured = unmeasured_deviation(borrowed);
    const std::vector<double> errors = absolute_errors(rows, fit.constants, noise);
    const Errors after = errors_of(errors);
    print_constants(fit, start);
    print_sources(rows, errors);
    fmt::print("\nfitted: mean {:.2f} %, median {:.2f} %, cost {:.4f} after {} evaluations\n", 100.0 * after.mean,
               100.0 * after.median, fit.cost, fit.evaluations);
    if (!left_out.empty()) {
        print_left_out(left_out, widening);
    }
    print_borrowed(borrowed, fit.unmeasured);
    if (write) {
        write_catalog(values["write"].as<std::string>(), fit, rows, today(), after.mean, after.median, widening);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "fit_constants: {}\n", error.what());
        return 1;
    }
}

/// Measured steps against those that earlier steps predict: jobs/calibration_study.

#include "io/csv.hpp"
#include "io/line_charts.hpp"
#include "io/posix_file.hpp"
#include "io/scenario.hpp"
#include "io/traces/trace_files.hpp"
#include "model/calibrate/goodness.hpp"
#include "optimizer/calibration_study/halves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

namespace prismopt {
namespace {

std::string percent(double part) { return fmt::format("{:.2f} %", 100.0 * part); }

std::string halves_table(const std::vector<HalvesCheck>& checks)
{
    std::string text =
        "# Measured steps against predicted ones\n\nWritten by `bash jobs/calibration_study DIR`.\n\n## Two jobs, operation by "
        "operation\n\nThe first half of the measured steps is taken apart (`prismopt calibrate`), put together again through the "
        "graph "
        "of a step\nthat was found in it, 4,096 times, and compared with the second half, which nothing was fitted to. Steps "
        "before the "
        "times of\nthe first half are steady (White's MSER rule) are left out. An error is within its limit where it is below 1 "
        "% at p50 "
        "and 3 % at\np95 and p99, or below the bootstrap error of the measured half, half its 95 % interval. KS: largest "
        "distance of the "
        "distributions; p: the\nprobability of as much by chance, which the test rejects below 0.05. Too few steps: the measured "
        "quantile is the longest step. Last column: the KS "
        "distance of the "
        "first half's own steps.\n\nThe way of predicting was chosen with both jobs at hand, their second halves too: another "
        "trace "
        "would be an untouched\ntest.\n\n"
        "| job | steps fitted | left out | steps compared | quantile | predicted, s | measured, s | error | bootstrap error | "
        "within | KS "
        "| p | KS of a repetition |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const HalvesCheck& check : checks) {
        for (const QuantileCheck& q : check.quantiles) {
            const double limit = std::max(q.p == 0.5 ? 0.01 : 0.03, q.bootstrap_error);
            const bool too_few = (1.0 - q.p) * static_cast<double>(check.measured_s.size()) < 0.5;
            text += fmt::format("| {} | {} | {} | {} | p{:.0f} | {:.3f} | {:.3f} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} |\n",
                                check.job, check.fitted_steps, check.warm_up_steps, check.measured_s.size(), 100.0 * q.p,
                                q.predicted_s, q.measured_s, percent(q.error()), percent(q.bootstrap_error),
                                too_few                        ? "too few steps"
                                : std::abs(q.error()) <= limit ? "yes"
                                                               : "no",
                                check.ks, check.ks_probability, check.repeat_ks);
        }
    }
    return text + "\n![Quantiles](calibration.svg)\n";
}

/// Quantile by quantile: where both lines lie together the distributions agree.
std::string picture(const std::vector<HalvesCheck>& checks)
{
    std::vector<Chart> charts;
    for (const HalvesCheck& check : checks) {
        Chart chart{check.job + ": step time by quantile, s", {}, {{"predicted", {}}, {"measured", {}, true}}, false};
        for (int tenth = 0; tenth < 10; ++tenth) {
            const double p = 0.05 + 0.1 * tenth;
            chart.ticks.push_back(fmt::format("p{:.0f}", 100.0 * p));
            chart.lines[0].values.push_back(quantile_of(check.predicted_s, p));
            chart.lines[1].values.push_back(quantile_of(check.measured_s, p));
        }
        charts.push_back(chart);
    }
    return charts_svg(charts);
}

std::string series_table(const std::string& path)
{
    std::string text =
        "\n## Step times by scale\n\nGPT-3 runs of MLPerf Training: a law is fitted to the first half of a run's steps, its "
        "spread compared "
        "with that of the second half.\nErrors of the measured cv are standard errors (jackknife).\n\n| run | steps | predicted "
        "cv | "
        "measured cv | +- | p50 error | p95 error | KS |\n|---|---|---|---|---|---|---|---|\n";
    for (const CsvRow& row : read_csv(path)) {
        std::istringstream words(row.text("step_times_s_space_separated"));
        std::vector<double> seconds;
        for (double value = 0.0; words >> value;) {
            seconds.push_back(value);
        }
        constexpr std::size_t least = 40;
        if (seconds.size() < least) {
            continue;
        }
        const SpreadCheck c = check_series(row.text("round") + " " + row.text("system") + " " + row.text("result_file"), seconds);
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.3f} |\n", c.run, c.steps, percent(c.predicted_cv),
                            percent(c.measured_cv), percent(c.measured_error), percent(c.p50_error), percent(c.p95_error), c.ks);
    }
    return text;
}

void run(const std::string& data, const std::string& folder)
{
    namespace fs = std::filesystem;
    std::vector<std::string> traces;
    if (fs::is_directory(data + "/variability")) {
        for (const auto& entry : fs::directory_iterator(data + "/variability")) {
            if (entry.path().filename().string().starts_with("llm_ops_")) {
                traces.push_back(entry.path().string());
            }
        }
    }
    if (traces.empty()) {
        throw InputError(data + ": has no variability/llm_ops_*.csv.gz; give a folder of measurements");
    }
    std::sort(traces.begin(), traces.end());
    std::vector<HalvesCheck> checks;
    for (const std::string& path : traces) {
        Trace trace = read_trace_files({path}).trace;
        sort_by_start(trace);
        checks.push_back(check_halves(trace));
    }
    std::string text = halves_table(checks);
    if (const std::string series = data + "/validation/mlperf_step_series.csv"; fs::exists(series)) {
        text += series_table(series);
    }
    write_text(folder + "/calibration.md", text);
    write_text(folder + "/calibration.svg", picture(checks));
}

}  // namespace
}  // namespace prismopt

int main(int count, char** words)
{
    if (count != 3) {
        std::fputs("usage: calibration_study DATA FOLDER\n\nWrites calibration.md and calibration.svg there.\n", stderr);
        return 2;
    }
    try {
        prismopt::run(words[1], words[2]);
    } catch (const prismopt::InputError& error) {
        std::fprintf(stderr, "calibration_study: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "calibration_study: %s\n", error.what());
        return 1;
    }
    return 0;
}

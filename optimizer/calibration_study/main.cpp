/// Comparison of measured steps with predictions from earlier steps: jobs/calibration_study.

#include "io/measured/csv.hpp"
#include "io/plots/line_charts.hpp"
#include "io/results/posix_file.hpp"
#include "io/scenario/scenario.hpp"
#include "io/traces/trace_files.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "optimizer/calibration_study/halves.hpp"
#include "optimizer/calibration_study/written_laws.hpp"

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

/// PRISM's own figures: Golden et al., arXiv 2510.15596, abstracts of the versions.
std::string published_table(const std::vector<HalvesCheck>& checks)
{
    std::string text =
        "\n"
        "For orientation, published results of PRISM (arXiv 2510.15596) on other jobs, from hundreds to 64,000 GPUs, and many "
        "more\n"
        "runs; the rows are not a ranking:\n\n| of | KS | p95 error |\n"
        "|---|---|---|\n"
        "| PRISM, version 1 (October 2025), training time | 20.8 % | |\n"
        "| PRISM, version 2 (April 2026), 748 runs held out | | within 4.3 % |\n"
        "| PRISM, abstract of September 2026, 14 configurations | | within 5.4 % |\n";
    for (const HalvesCheck& check : checks) {
        text += fmt::format("| here, {}, {} steps | {:.1f} % | {} |\n", check.job, check.measured_s.size(), 100.0 * check.ks,
                            percent(check.quantiles[1].error()));
    }
    return text;
}

std::string halves_table(const std::vector<HalvesCheck>& checks)
{
    std::string text =
        "# Measured and predicted steps\n\nWritten by `bash jobs/calibration_study DIR`.\n\n"
        "## Two jobs, operation by operation\n\n"
        "`prismopt calibrate` fits the operations of the first half of the measured steps. Steps are then composed from the "
        "fitted distributions and the\n"
        "dependency graph found in that half, 4,096 times, and compared with the second half, which was not used for fitting. "
        "The warm-up of the first half\n"
        "(White's MSER rule) is excluded. An error is within its limit if it is below 1 % at p50 and 3 % at p95 and p99, or "
        "below the bootstrap error of the\n"
        "measured half (half its 95 % interval). KS: Kolmogorov-Smirnov distance; p: its p-value, rejected below 0.05. Too few "
        "steps: the measured quantile is\n"
        "the longest step. Last column: the KS distance of the steps of the first half themselves.\n\n"
        "The prediction method was developed with both jobs available, including their second halves, so an independent test "
        "needs\n"
        "another trace.\n\n"
        "| job | steps fitted | left out | steps compared | quantile | predicted, s | measured, s | error | bootstrap error | "
        "within | KS | p | KS of a repetition |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
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
    return text + published_table(checks) + "\n![Quantiles](calibration.svg)\n";
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

/// Why a law of the first half is not that of the second.
const char* verdict(const SpreadCheck& check)
{
    constexpr double level = 0.05;
    return check.ks_probability > level ? "alike" : check.repeat_probability > level ? "law misses" : "halves differ";
}

std::string series_table(const std::string& path)
{
    std::string rows;
    std::map<std::string, int> verdicts;
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
        ++verdicts[verdict(c)];
        rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {} |\n", c.run, c.steps,
                            percent(c.predicted_cv), percent(c.measured_cv), percent(c.measured_error), percent(c.p50_error),
                            percent(c.p95_error), c.ks, c.ks_probability, verdict(c));
    }
    return fmt::format(
               "\n## Step times by scale\n\n"
               "GPT-3 runs of MLPerf Training: a distribution is fitted to the first half of the steps of a run, and its spread "
               "compared with that of the\n"
               "second half. Errors of the measured cv are standard errors (jackknife). p: p-value of the KS distance, assuming "
               "independent steps, which\n"
               "is not quite true. Verdict: alike ({} runs): p above 0.05. Halves differ ({}): the two measured halves "
               "themselves differ significantly,\n"
               "so no distribution of the first could pass. Law misses ({}): the halves pass and the fitted distribution does "
               "not.\n\n"
               "The misses are runs whose halves differ. Either the run slows down permanently: 3072xBM.GPU.H100.8, by 5 to 10 "
               "%. Or one half has one or\n"
               "two very long steps: a step of 14 s among steps of 11 s moves the mean of 100 steps, and the fitted "
               "distribution, by more than their spread\n"
               "of 0.1 % (predicted cv of several percent instead of tenths, KS up to 0.84, p50 off by 0.2 %), while the other "
               "half has none. A distribution\n"
               "of independent steps predicts neither; scenarios describe them as drift and failures.\n\n"
               "| run | steps | predicted cv | measured cv | +- | p50 error | p95 error | KS | p | verdict |\n"
               "|---|---|---|---|---|---|---|---|---|---|\n",
               verdicts["alike"], verdicts["halves differ"], verdicts["law misses"]) +
           rows;
}

/// What `prismopt calibrate` writes for jobs whose variance is known.
std::string written_table()
{
    std::string rows;
    int there = 0;
    int within = 0;
    int absent = 0;
    int none = 0;
    for (const KnownJob& known : known_jobs()) {
        constexpr unsigned seed = 7;
        for (const WrittenLaw& law : written_laws(known, seed)) {
            (law.truth > 0.0 ? there : absent) += 1;
            (law.truth > 0.0 ? within : none) += law.right() ? 1 : 0;
            if (law.truth > 0.0 || !law.right()) {
                rows += fmt::format("| {} | {} | {} | {} | {} to {} | {} |\n", law.part, law.key, percent(law.truth),
                                    percent(law.cv), percent(law.low), percent(law.high), law.right() ? "yes" : "no");
            }
        }
    }
    return fmt::format(
               "\n## Distributions written for jobs with known variance\n\n"
               "Synthetic traces of 1,000 and 2,000 steps, with each variance component in turn in addition to that of "
               "operations. The sections that\n"
               "`prismopt calibrate` writes are read as in a scenario, and the cv of each distribution is compared with the "
               "truth. Limits: 95 % interval of the\n"
               "component, or of a standard deviation of as many values; plus 3 % for the family. {} of {} distributions of "
               "present components lie within; of {}\n"
               "absent components, {} are written as constant or left to the profile. Rows of absent components are shown only "
               "if a distribution was written.\n\n"
               "| part | law | truth | written | limits | within |\n|---|---|---|---|---|---|\n",
               within, there, absent, none) +
           rows;
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
    text += written_table();
    replace_file(folder + "/calibration.md", text);
    replace_file(folder + "/calibration.svg", picture(checks));
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

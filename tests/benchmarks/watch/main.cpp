/// watch_study: measures what `watch` finds in public series with injected changes and in synthetic
/// jobs; writes results/watch.md.
///   watch_study SCENARIO RUNS FILE FOLDER
/// FOLDER: with the public series.

#include "tests/benchmarks/watch/public_series.hpp"
#include "tests/benchmarks/watch/synthetic_job.hpp"
#include "tests/benchmarks/watch/trials.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

namespace prismopt::bench {
namespace {

constexpr double period_days = 30.0;

constexpr const char* quick_start_plan =
    "gpus=16384 tp=8 pp=16 v=8 microbatch=1 schedule=interleaved recompute=selective split=slots "
    "order=tp-pp-dp";

std::string false_alarm_row(const PlanNoise& noise, const JobKind& kind, int runs)
{
    const auto steps = static_cast<std::int64_t>(period_days * day_s / noise.mean_s);
    std::vector<std::size_t> alarms(static_cast<std::size_t>(runs));
    in_parallel(runs, [&](int run) {
        SyntheticJob job(noise, kind, 1 + static_cast<std::uint64_t>(run));
        alarms[static_cast<std::size_t>(run)] = false_changes([&] { return job.next_s(); }, steps).size();
    });
    double all = 0.0;
    double squares = 0.0;
    int any = 0;
    for (const std::size_t of_run : alarms) {
        const auto count = static_cast<double>(of_run);
        all += count / runs;
        squares += count * count / runs;
        any += of_run == 0 ? 0 : 1;
    }
    const double error = std::sqrt((squares - all * all) / runs);
    using Binomial = boost::math::binomial;
    return fmt::format("| {} | {} | {:.2f} +- {:.2f} | {:.1f} % ({:.1f} to {:.1f}) |\n", kind.name, runs, all,
                       1.96 * error, 100.0 * any / runs,
                       100.0 * Binomial::find_lower_bound_on_p(runs, any, 0.025),
                       100.0 * Binomial::find_upper_bound_on_p(runs, any, 0.025));
}

std::string change_row(const PlanNoise& noise, const JobKind& kind, double size, std::int64_t at, int runs)
{
    constexpr std::int64_t after = 2000;
    std::vector<Outcome> outcomes(static_cast<std::size_t>(runs));
    in_parallel(runs, [&](int run) {
        SyntheticJob job(noise, kind, 100'000 + static_cast<std::uint64_t>(run));
        Trial trial{
            .seconds = std::vector<double>(static_cast<std::size_t>(at + after)), .at = at + 1, .size = size};
        std::generate(trial.seconds.begin(), trial.seconds.end(), [&] { return job.next_s(); });
        outcomes[static_cast<std::size_t>(run)] = outcome_of(trial, noise.mean_s * (1.0 + size));
    });
    std::vector<double> delays;
    std::vector<double> places;
    double inside = 0.0;
    double sized = 0.0;
    double before = 0.0;
    for (const Outcome& outcome : outcomes) {
        delays.push_back(outcome.delay);
        before += outcome.before ? 1.0 : 0.0;
        if (outcome.place_error) {
            places.push_back(*outcome.place_error);
            inside += outcome.place_inside ? 1.0 : 0.0;
            sized += outcome.size_inside ? 1.0 : 0.0;
        }
    }
    if (places.empty()) {
        return fmt::format("| {:+.1f} % | {} | not found | not found | 0.0 % | | | | {:.0f} |\n",
                           100.0 * size, at, before);
    }
    const auto known = static_cast<double>(places.size());
    return fmt::format("| {:+.1f} % | {} | {} | {} | {:.1f} % | {:.0f} | {:.0f} % | {:.0f} % | {:.0f} |\n",
                       100.0 * size, at, steps_text(median(delays)), steps_text(quantile(delays, 0.9)),
                       100.0 * known / runs, median(places), 100.0 * inside / known, 100.0 * sized / known,
                       before);
}

/// Jobs of 6 s per step with autocorrelated noise, without changes and with one at step 500.
std::string autocorrelated_rows(const AutocorrelatedKind& kind, int runs)
{
    constexpr std::int64_t quiet_steps = 50'000;
    constexpr std::int64_t steps = 1000;
    constexpr std::int64_t at = 500;
    const int quiet_runs = std::max(2, runs / 5);
    std::vector<double> quiet(static_cast<std::size_t>(quiet_runs));
    in_parallel(quiet_runs, [&](int run) {
        AutocorrelatedJob job(kind, 1 + static_cast<std::uint64_t>(run));
        quiet[static_cast<std::size_t>(run)] =
            static_cast<double>(false_changes([&] { return job.next_s(); }, quiet_steps).size());
    });
    const double false_rate = std::accumulate(quiet.begin(), quiet.end(), 0.0) / quiet_runs;
    std::string row =
        fmt::format("| {:.2f} | {} | {:.1f} % | {:.1f} % | {:.2f} |", kind.sum(), kind.coefficients.size(),
                    100.0 * kind.deviation, 100.0 * kind.wander, false_rate);
    struct Case {
        double size;
        int within;
    };
    for (const Case& injected : {Case{0.02, 40}, Case{0.05, 12}, Case{0.10, 6}}) {
        std::vector<Outcome> outcomes(static_cast<std::size_t>(runs));
        in_parallel(runs, [&](int run) {
            AutocorrelatedJob job(kind, 100'000 + static_cast<std::uint64_t>(run));
            Trial trial{.seconds = std::vector<double>(steps), .at = at, .size = injected.size};
            std::generate(trial.seconds.begin(), trial.seconds.end(), [&] { return job.next_s(); });
            outcomes[static_cast<std::size_t>(run)] =
                outcome_of(trial, AutocorrelatedJob::mean_s * (1.0 + injected.size));
        });
        row += fmt::format(" {}, {} |",
                           share_text(outcomes, [&](const Outcome& o) { return o.delay <= injected.within; }),
                           share_text(outcomes, [](const Outcome& o) { return o.now_error <= 0.01; }));
    }
    return row + "\n";
}

std::string page(const std::string& command, const PlanNoise& noise, int runs,
                 const std::vector<Series>& series)
{
    std::string text = "# Changes of running jobs\n\nWritten by `" + command +
                       "`. How jobs are made and what the columns mean: "
                       "[docs/methods/result-pages.md](../docs/methods/result-pages.md#watchmd).\n\n";
    text += "## Public series, untouched\n\n" + untouched_section(series);
    text += "\n## Public series with a change\n\n" + injected_section(series);
    text += "\n## Forecasts of the rest of public series\n\n" + forecast_section(series);

    const int fewer = std::max(1, runs / 5);
    text += fmt::format(
        "\n## Autocorrelated noise\n\n{} jobs of 1,000 steps of 6 s each, with a change at step 500; {} jobs "
        "of 50,000 steps "
        "without.\n\n"
        "| sum of lags | lags | deviation | wander | false changes in 50,000 steps | +2 % in 40, now within "
        "1 % | +5 % in 12, "
        "now | "
        "+10 % in 6, now |\n|---|---|---|---|---|---|---|---|\n",
        fewer, std::max(2, fewer / 5));
    for (const AutocorrelatedKind& kind : autocorrelated_kinds()) {
        text += autocorrelated_rows(kind, fewer);
    }

    double variance = 0.0;
    for (const double r : noise.residuals) {
        variance += r * r / static_cast<double>(noise.residuals.size());
    }
    text += fmt::format(
        "\n## Jobs of 30 days without a change\n\n"
        "The plan `{}` of `jobs/scenarios/llama3-405b-16k.toml`, {:.2f} s per step. Steps vary by {:.2f} % "
        "about the mean of "
        "their "
        "fleet ({} draws), and their common factor by {:.2f} %.\n\n"
        "| jobs | runs | changes in 30 days | jobs with any |\n|---|---|---|---|\n",
        noise.design, noise.mean_s, 100.0 * std::sqrt(variance), noise.residuals.size(),
        100.0 * noise.common_cv);
    const JobKind job{.name = "as above"};
    text += false_alarm_row(noise, job, fewer);
    for (const JobKind& kind :
         {JobKind{.name = "no autocorrelation", .coefficient = 0.0},
          JobKind{.name = "coefficient 0.95", .coefficient = 0.95},
          JobKind{.name = "no swing", .swing_low = 0.0, .swing_high = 0.0},
          JobKind{.name = "swing of 4 %", .swing_low = 0.04, .swing_high = 0.04},
          JobKind{.name = "1 % of steps slower by 30 % in the mean (exponential)", .tails = 0.01},
          JobKind{.name = "every 120th step 30 % longer", .checkpoints = 120}}) {
        text += false_alarm_row(noise, kind, fewer);
    }
    text += fmt::format(
        "\n## The same jobs with a change\n\n{} jobs each, with one change that lasts.\n\n"
        "| change | after step | median delay | p90 | found | change point, median error | inside its limits "
        "| size inside its "
        "limits | jobs with a change before |\n|---|---|---|---|---|---|---|---|---|\n",
        runs);
    for (const std::int64_t at : {1000, 20'000}) {
        for (const double size : {0.05, 0.02, 0.01, -0.02}) {
            text += change_row(noise, job, size, at, runs);
        }
    }
    return text;
}

}  // namespace
}  // namespace prismopt::bench

int main(int argc, char** argv)
{
    if (argc != 5) {
        fmt::print(stderr, "usage: watch_study SCENARIO RUNS FILE FOLDER (with mlperf_step_series.csv)\n");
        return 2;
    }
    using namespace prismopt::bench;
    const int runs = std::max(10, std::atoi(argv[2]));
    const std::vector<Series> series = public_series(argv[4]);
    const std::string text = page(fmt::format("bash jobs/watch_study DATA {}", runs),
                                  plan_noise(argv[1], quick_start_plan), runs, series);
    std::ofstream(argv[3]) << text;
    return 0;
}

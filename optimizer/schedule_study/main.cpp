/// Which pipeline schedule is best as ops vary, as stages lie further apart, and with one slow stage: jobs/schedule_study.

#include "io/plots/line_charts.hpp"
#include "io/results/posix_file.hpp"
#include "optimizer/schedule_study/bubble_rates.hpp"
#include "optimizer/schedule_study/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace prismopt {
namespace {

struct Series {
    std::string title;
    std::string axis;
    std::vector<std::string> ticks;
    std::vector<StudiedCase> cases;
};

std::vector<Series> series()
{
    std::vector<Series> list{{"Residual cv of each op", "cv", {}, {}},
                             {"Latency between stages", "latency", {}, {}},
                             {"One stage slower", "slowness of stage 3", {}, {}}};
    for (const double cv : {0.0, 0.025, 0.05, 0.10, 0.15, 0.20, 0.30}) {
        list[0].ticks.push_back(fmt::format("{:g} %", 100.0 * cv));
        list[0].cases.push_back({.residual_cv = cv});
    }
    for (const double latency : {1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2}) {
        list[1].ticks.push_back(fmt::format("{:g} us", 1e6 * latency));
        list[1].cases.push_back({.latency = Seconds{latency}});
    }
    for (const double slow : {1.0, 1.1, 1.2}) {
        list[2].ticks.push_back(fmt::format("{:g}", slow));
        list[2].cases.push_back({.slow_factor = slow});
    }
    return list;
}

using Table = std::vector<std::vector<StudiedStep>>;  // [schedule][case]

/// p99 by schedule over the cases.
Chart chart_of(const Series& series, const std::vector<StudiedSchedule>& schedules, const Table& table)
{
    Chart chart{series.title + ": p99 of the step, s", series.ticks, {}, false};
    for (std::size_t s = 0; s < schedules.size(); ++s) {
        ChartLine line{schedules[s].label, {}, schedules[s].plan.post_validation == PostValidation::on};
        for (const StudiedStep& step : table[s]) {
            line.values.push_back(step.p99.value);
        }
        chart.lines.push_back(std::move(line));
    }
    return chart;
}

/// Largest share of draws in which each schedule of a case is the shortest; the winner first by p99.
std::string best_of(const std::vector<StudiedSchedule>& schedules, const Table& table, std::size_t c)
{
    std::size_t best = 0;
    for (std::size_t s = 1; s < schedules.size(); ++s) {
        best = table[s][c].p99.value < table[best][c].p99.value ? s : best;
    }
    const auto& draws = table[best][c].draws;
    std::size_t shortest = 0;
    for (std::size_t d = 0; d < draws.size(); ++d) {
        shortest += std::all_of(table.begin(), table.end(), [&](const auto& row) { return row[c].draws[d] >= draws[d]; }) ? 1 : 0;
    }
    return fmt::format("{} ({:.0f} % of draws)", schedules[best].label,
                       100.0 * static_cast<double>(shortest) / static_cast<double>(draws.size()));
}

std::string report(const std::vector<Series>& list, const std::vector<StudiedSchedule>& schedules,
                   const std::vector<Table>& tables, ScheduleStudy& study)
{
    std::string text =
        "# Pipeline schedules and variability\n\n"
        "Written by `bash jobs/schedule_study`. A GPT of 6.2 billion parameters (30 layers, hidden size 4,096) on 8 stages of "
        "one A100 behind a 200 Gb/s\n"
        "network, 32 microbatches of 3 sequences of 1,024 tokens; 4,096 draws with the same random numbers for every schedule. "
        "Op times are lognormal around the means of the model\n"
        "(cv 5 % by default), transfer times with cv 30 %; the default latency is 5 us. `+pv`: with post-validation, the next "
        "step begins before the last stage is\n"
        "done. interleaved has v = 2. There is no memory limit here; the first table lists the memory of activations.\n"
        "The schedule defines the ops: half the layers of a stage if v = 2, separate gradients if the backward pass is split. "
        "All ops have the same cv, so schedules\n"
        "with more and shorter ops average out more of the noise. dualpipe holds the model twice and sums the gradients of its "
        "copies over the network; the others\n"
        "have one copy and nothing to sum.\n\n![p99 by schedule](schedules.svg)\n\n";
    text += fmt::format("Work of one stage without waiting: {:.3f} s.\n\n", study.work_s());
    text += "| schedule | activations of the fullest stage, GB |\n|---|---|\n";
    for (const StudiedSchedule& s : schedules) {
        if (s.plan.post_validation == PostValidation::off) {
            text += fmt::format("| {} | {:.1f} |\n", s.label, study.activation_bytes(s.plan) / 1e9);
        }
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Series& series = list[i];
        text += fmt::format(
            "\n## {}\n\n"
            "p50 / p95 / p99 step time in seconds. Last row: the schedule with the lowest p99, and the share of draws in which "
            "it is the fastest.\n\n"
            "| {} |",
            series.title, series.axis);
        for (const std::string& tick : series.ticks) {
            text += fmt::format(" {} |", tick);
        }
        text += "\n|---|";
        for (std::size_t c = 0; c < series.cases.size(); ++c) {
            text += "---|";
        }
        for (std::size_t s = 0; s < schedules.size(); ++s) {
            text += fmt::format("\n| {} |", schedules[s].label);
            for (const StudiedStep& step : tables[i][s]) {
                text += fmt::format(" {:.3f} / {:.3f} / {:.3f} |", step.p50.value, step.p95.value, step.p99.value);
            }
        }
        text += "\n| best |";
        for (std::size_t c = 0; c < series.cases.size(); ++c) {
            text += fmt::format(" {} |", best_of(schedules, tables[i], c));
        }
        text += '\n';
    }
    return text + bubble_rates_section();
}

void run(const std::string& folder)
{
    ScheduleStudy study;
    const std::vector<StudiedSchedule> schedules = studied_schedules();
    const std::vector<Series> list = series();
    std::vector<Table> tables;
    std::vector<Chart> charts;
    for (const Series& s : list) {
        Table& table = tables.emplace_back();
        for (const StudiedSchedule& schedule : schedules) {
            auto& row = table.emplace_back();
            for (const StudiedCase& changed : s.cases) {
                row.push_back(study.step(schedule.plan, changed));
            }
        }
        charts.push_back(chart_of(s, schedules, table));
    }
    replace_file(folder + "/schedules.md", report(list, schedules, tables, study));
    replace_file(folder + "/schedules.svg", charts_svg(charts));
}

}  // namespace
}  // namespace prismopt

int main(int count, char** words)
{
    if (count != 2) {
        std::fputs("usage: schedule_study FOLDER\n\nWrites schedules.md and schedules.svg there.\n", stderr);
        return 2;
    }
    try {
        prismopt::run(words[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "schedule_study: %s\n", error.what());
        return 1;
    }
    return 0;
}

#include "optimizer/commands/progress_bar.hpp"

#include "io/base/percent.hpp"
#include "io/toml/quantity.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace prismopt {

using namespace literals;

namespace {

constexpr double bar_interval_s = 0.2;
constexpr double longest_in_log_s = 300.0;

std::string sweep_text(const SweepProgress& sweep)
{
    const std::string count = fmt::format("{} of {}", sweep.done, sweep.total);
    switch (sweep.purpose) {
        case SweepPurpose::exploration: return "looking for good ones";
        case SweepPurpose::better: return count + " parts of the space checked for better ones";
        case SweepPurpose::front: return count + " parts of the space checked";
        case SweepPurpose::tighter: return count + " plans bounded again";
        case SweepPurpose::incomplete: return count + " parts checked again";
    }
    return count;
}

/// "90 s", "25 min", "3.2 h".
std::string duration_text(double seconds)
{
    constexpr double minute = 60.0;
    constexpr double hour = (1_h).si;
    if (seconds < 2.0 * minute) {
        return fmt::format("{:.0f} s", seconds);
    }
    return seconds < 2.0 * hour ? fmt::format("{:.0f} min", seconds / minute)
                                : fmt::format("{:.1f} h", seconds / hour);
}

std::string progress_text(const SearchProgress& of)
{
    const double draws_per_s = static_cast<double>(of.draws) / of.elapsed_s;
    std::string text = fmt::format("{} feasible plans found, ", of.feasible);
    if (of.sweep) {
        text += sweep_text(*of.sweep);
    } else if (!of.whole) {
        text += fmt::format("drawing the best, {:.3g} draws/s", draws_per_s);
    } else {
        text += fmt::format(
            "{} excluded by their lower bounds, {} evaluated, {} open, front {}, hypervolume {:.4f}, {:.3g} "
            "draws/s",
            of.pruned, of.evaluated, of.open, of.front, of.hypervolume, draws_per_s);
    }
    if (!of.gaps.empty() && (of.open > 0 || !of.whole || of.sweep)) {
        text += ", gap: " + of.gaps;
    }
    text += ", idle " + percent_text(of.idle_share);
    return of.left_s ? text + (of.sweep ? ", ETA of this sweep " : ", ETA ") + duration_text(*of.left_s)
                     : text;
}

void show_bar(const SearchProgress& of)
{
    constexpr std::size_t width = 20;
    const auto filled = static_cast<std::size_t>(width * of.done.value_or(0.0));
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    const std::string line = fmt::format("[{}] {:.0f} s  {}", bar, of.elapsed_s, progress_text(of));
    std::fputs(("\r\033[K" + (of.finished ? "" : line)).c_str(), stderr);
}

}  // namespace

void show_progress(StudyOptions& options)
{
    if (isatty(STDERR_FILENO) == 1) {
        options.progress_every_s = bar_interval_s;
        options.progress = show_bar;
    } else {
        options.progress_longest_s = longest_in_log_s;
        options.progress = [](const SearchProgress& of) {
            log_info(fmt::format("{:.0f} s: {}", of.elapsed_s, progress_text(of)));
        };
    }
}

}  // namespace prismopt

#include "optimizer/loop/progress.hpp"

#include "io/base/percent.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace prismopt {

namespace {

constexpr double bar_interval_s = 0.2;
constexpr double line_interval_s = 5.0;

std::vector<double> values_of(const Evaluation& evaluation)
{
    std::vector<double> values;
    for (const Estimate& objective : evaluation.objectives) {
        values.push_back(objective.value);
    }
    return values;
}

std::string sweep_text(const SweepProgress& sweep)
{
    const std::string parts = fmt::format("{} of {}", sweep.done, sweep.total);
    switch (sweep.purpose) {
        case SweepPurpose::exploration: return "looking for good ones";
        case SweepPurpose::better: return parts + " parts of the space checked for better ones";
        case SweepPurpose::front: return parts + " parts of the space checked";
        case SweepPurpose::tighter: return parts + " plans bounded again";
        case SweepPurpose::left_out: return parts + " parts checked again";
    }
    return parts;
}

}  // namespace

std::string gaps_text(const std::vector<Gap>& gaps, const std::vector<const Objective*>& objectives)
{
    std::string text;
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        const std::string share = std::isfinite(gaps[k].relative()) ? percent_text(gaps[k].relative(), 2) : "unknown";
        text += fmt::format("{}{} {}", k == 0 ? "" : ", ", objectives[k]->name, share);
    }
    return text;
}

Progress::Progress() : start_(std::chrono::steady_clock::now()), terminal_(isatty(STDERR_FILENO) == 1) {}

double Progress::elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

/// Share of the box between the best bound and the worst front member of the first evaluations, in each objective.
double Progress::hypervolume_of_front(const Archive& archive)
{
    std::vector<std::vector<double>> points;
    for (const std::uint64_t index : archive.front()) {
        points.push_back(values_of(archive.evaluations().at(index)));
    }
    if (low_.empty()) {
        low_.assign(points.front().size(), INFINITY);
        high_.assign(points.front().size(), 0.0);
        for (std::size_t k = 0; k < low_.size(); ++k) {
            for (const Bound& bound : archive.bounds()) {
                low_[k] = std::min(low_[k], bound.objectives[k]);
            }
            for (const auto& point : points) {
                high_[k] = std::max(high_[k], 1.1 * point[k]);
            }
            low_[k] = std::isfinite(low_[k]) ? low_[k] : 0.0;
        }
    }
    for (auto& point : points) {
        for (std::size_t k = 0; k < point.size(); ++k) {
            point[k] = (point[k] - low_[k]) / (high_[k] - low_[k]);
        }
    }
    return hypervolume(points, std::vector<double>(low_.size(), 1.0));
}

void Progress::record(const Archive& archive)
{
    const std::size_t evaluated = archive.evaluations().size();
    if (evaluated > 0) {
        curve_.push_back({evaluated, archive.draws(), hypervolume_of_front(archive), elapsed()});
    }
}

bool Progress::due() const { return elapsed() - shown_s_ >= (terminal_ ? bar_interval_s : line_interval_s); }

void Progress::show(const Archive& archive, const State& state)
{
    const double now = elapsed();
    shown_s_ = now;
    const auto purpose = state.sweep ? std::optional(state.sweep->purpose) : std::nullopt;
    if (purpose != swept_) {
        swept_ = purpose;
        time_left_ = {};
    }
    // Single plans are looked at before the whole space is.
    const bool whole = archive.feasible() > 0 || archive.bounds().empty() || purpose == SweepPurpose::front;
    std::string text = fmt::format("{} feasible plans found, ", whole ? archive.feasible() : archive.bounds().size());
    if (state.sweep) {
        text += sweep_text(*state.sweep);
    } else if (!whole) {
        text += fmt::format("drawing the best, {:.3g} draws/s", static_cast<double>(state.draws) / now);
    } else {
        text +=
            fmt::format("{} excluded by their lower bounds, {} evaluated, {} open, front {}, hypervolume {:.4f}, {:.3g} draws/s",
                        state.pruned, state.evaluated, state.open, archive.front().size(),
                        curve_.empty() ? 0.0 : curve_.back().hypervolume, static_cast<double>(state.draws) / now);
    }
    if (!state.gaps.empty() && (state.open > 0 || !whole || state.sweep)) {
        text += ", gap: " + state.gaps;
    }
    text += ", idle " + percent_text(state.idle_share);
    const std::uint64_t left = state.sweep ? state.sweep->total - state.sweep->done : state.open;
    const std::uint64_t total = state.sweep ? state.sweep->total : archive.feasible();
    const bool known_end = state.sweep ? purpose != SweepPurpose::exploration : whole;
    if (known_end) {
        text += ", ETA " + time_left_.text(now, left);
    }
    if (terminal_) {
        const double done =
            known_end && total > 0 ? 1.0 - static_cast<double>(std::min(left, total)) / static_cast<double>(total) : 0.0;
        const auto filled = static_cast<std::size_t>(20.0 * done);
        const std::string bar = std::string(filled, '#') + std::string(20 - filled, '.');
        std::fputs(fmt::format("\r\033[K[{}] {:.0f} s  {}", bar, now, text).c_str(), stderr);
    } else {
        log_info(fmt::format("{:.0f} s: {}", now, text));
    }
}

void Progress::finish() const
{
    if (terminal_) {
        std::fputs("\r\033[K", stderr);
    }
}

}  // namespace prismopt

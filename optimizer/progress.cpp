#include "optimizer/progress.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>

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

}  // namespace

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

void Progress::update(const Archive& archive, std::uint64_t draws, std::uint64_t open)
{
    const double now = elapsed();
    const std::size_t evaluated = archive.evaluations().size();
    std::size_t front = 0;
    if (evaluated > 0) {
        front = archive.front().size();
        curve_.push_back({evaluated, archive.draws(), hypervolume_of_front(archive), now});
    }
    if (now - shown_s_ < (terminal_ ? bar_interval_s : line_interval_s)) {
        return;
    }
    shown_s_ = now;
    const std::string state =
        fmt::format("{} feasible, {} evaluated, {} open, front {}, hypervolume {:.4f}, {:.3g} draws/s", archive.feasible(),
                    evaluated, open, front, curve_.empty() ? 0.0 : curve_.back().hypervolume,
                    static_cast<double>(draws) / std::max(now, 1e-3));
    if (terminal_) {
        const double done = static_cast<double>(archive.feasible() - std::min(open, archive.feasible())) /
                            static_cast<double>(std::max<std::uint64_t>(1, archive.feasible()));
        const auto filled = static_cast<std::size_t>(20.0 * done);
        fmt::print(stderr, "\r\033[K[{}{}] {:.0f} s  {}", std::string(filled, '#'), std::string(20 - filled, '.'), now, state);
        std::fflush(stderr);
    } else {
        spdlog::info("{:.0f} s: {}", now, state);
    }
}

void Progress::finish() const
{
    if (terminal_) {
        fmt::print(stderr, "\r\033[K");
    }
}

}  // namespace prismopt

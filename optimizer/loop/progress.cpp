#include "optimizer/loop/progress.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

std::vector<double> values_of(const Evaluation& evaluation)
{
    std::vector<double> values;
    for (const Estimate& objective : evaluation.objectives) {
        values.push_back(objective.value);
    }
    return values;
}

}  // namespace

double output_interval_s(double elapsed_s, double every_s, double longest_s)
{
    constexpr double share = 0.1;  // times of events are known within a tenth
    return std::max(every_s, std::min(share * elapsed_s, longest_s));
}

double Progress::elapsed() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

/// Share of the box between the best bound and the worst front member of the first
/// evaluations, in each objective.
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
            if (!std::isfinite(low_[k])) {
                low_[k] = 0.0;
            }
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

SearchProgress Progress::state(const Archive& archive, SearchProgress state)
{
    const double now = elapsed();
    shown_s_ = now;
    const auto purpose = state.sweep ? std::optional(state.sweep->purpose) : std::nullopt;
    if (purpose != swept_) {
        swept_ = purpose;
        time_left_ = {};
    }
    state.elapsed_s = now;
    // Single plans are looked at before the whole space is.
    state.whole = archive.feasible() > 0 || archive.bounds().empty() || purpose == SweepPurpose::front;
    state.feasible = state.whole ? archive.feasible() : archive.bounds().size();
    state.front = archive.front().size();
    state.hypervolume = curve_.empty() ? 0.0 : curve_.back().hypervolume;
    const bool known_end = state.sweep ? purpose != SweepPurpose::exploration : state.whole;
    if (known_end) {
        const std::uint64_t left = state.sweep ? state.sweep->total - state.sweep->done : state.open;
        const std::uint64_t total = state.sweep ? state.sweep->total : archive.feasible();
        state.done =
            total > 0 ? 1.0 - static_cast<double>(std::min(left, total)) / static_cast<double>(total) : 0.0;
        state.left_s = time_left_.seconds(now, left);
    }
    return state;
}

}  // namespace prismopt

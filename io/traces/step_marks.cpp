#include "io/traces/step_marks.hpp"

#include <algorithm>

namespace prismopt {

namespace {

void sort_by_time(std::vector<StepMark>& marks)
{
    std::sort(marks.begin(), marks.end(),
              [](const StepMark& a, const StepMark& b) { return a.start_s < b.start_s; });
}

std::optional<StepMark> last_before(const std::vector<StepMark>& by_time, double start_s)
{
    const auto after = std::upper_bound(by_time.begin(), by_time.end(), start_s,
                                        [](double t, const StepMark& mark) { return t < mark.start_s; });
    return after == by_time.begin() ? std::nullopt : std::optional(*(after - 1));
}

/// Each step's first mark of all streams.
std::vector<StepMark> first_marks(const std::map<std::size_t, std::vector<StepMark>>& of_streams)
{
    std::map<std::int32_t, StepMark> first;
    for (const auto& [stream, marks] : of_streams) {
        for (const StepMark& mark : marks) {
            StepMark& earliest = first.emplace(mark.step, mark).first->second;
            if (mark.start_s < earliest.start_s) {
                earliest = mark;
            }
        }
    }
    std::vector<StepMark> result;
    result.reserve(first.size());
    for (const auto& [step, mark] : first) {
        result.push_back(mark);
    }
    return result;
}

std::optional<std::int32_t> number_of(const std::optional<StepMark>& mark)
{
    return mark ? std::optional(mark->step) : std::nullopt;
}

}  // namespace

void StepMarks::sort()
{
    sort_by_time(cpu_);
    first_ = gpu_.empty() ? cpu_ : first_marks(gpu_);
    sort_by_time(first_);
    for (auto& [stream, marks] : gpu_) {
        sort_by_time(marks);
    }
}

std::optional<std::int32_t> StepMarks::step_of(const PlacedKernel& kernel) const
{
    if (first_.empty()) {
        return 0;
    }
    if (has_launch(kernel)) {
        return number_of(last_before(cpu_, launches_s_.at(kernel.correlation)));
    }
    if (const auto own = gpu_.find(kernel.track); own != gpu_.end()) {
        const std::optional<StepMark> mark = last_before(own->second, kernel.start_s);
        if (mark && kernel.start_s <= mark->end_s) {
            return mark->step;
        }
    }
    return number_of(last_before(first_, kernel.start_s));
}

}  // namespace prismopt

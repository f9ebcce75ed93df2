#include "search/space.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace prismopt {
namespace {

void check_axes(const std::vector<Axis>& axes)
{
    if (axes.empty()) {
        throw std::invalid_argument("a space without axes has nothing to search; give at least one axis");
    }
    for (std::size_t a = 0; a < axes.size(); ++a) {
        if (axes[a].labels.empty()) {
            throw std::invalid_argument("axis \"" + axes[a].name +
                                        "\" has no labels, so the space is empty; give at least one");
        }
        for (std::size_t b = 0; b < a; ++b) {
            if (axes[a].name == axes[b].name) {
                throw std::invalid_argument("two axes are called \"" + axes[a].name +
                                            "\"; give each axis its own name");
            }
        }
    }
}

void check_constraints(const std::vector<Constraint>& constraints, std::size_t axes)
{
    for (const Constraint& constraint : constraints) {
        if (constraint.depth < 1 || constraint.depth > axes) {
            throw std::invalid_argument("constraint \"" + constraint.reason + "\" judges the first " +
                                        std::to_string(constraint.depth) + " axes, but there are " +
                                        std::to_string(axes) + "; its depth must be 1 to " +
                                        std::to_string(axes));
        }
        if (!constraint.allows) {
            throw std::invalid_argument("constraint \"" + constraint.reason +
                                        "\" has no predicate; set `allows`");
        }
    }
}

/// Constraints in the order they are checked: those of depth d are `checks[first[d]]`
/// to `checks[first[d + 1] - 1]`.
struct CheckOrder {
    struct Check {
        const Constraint* constraint;
        std::size_t counter;  // position in the list of reasons
    };
    std::vector<Check> checks;
    std::vector<std::size_t> first;
    std::vector<Rejected> reasons;  // one for each different reason, in order of the constraints
};

CheckOrder make_schedule(std::span<const Constraint> constraints, std::span<const Constraint> further,
                         std::size_t axes)
{
    CheckOrder schedule;
    schedule.first.assign(axes + 2, 0);
    const auto add = [&schedule](const Constraint& constraint) {
        const auto known =
            std::find_if(schedule.reasons.begin(), schedule.reasons.end(),
                         [&](const Rejected& rejected) { return rejected.reason == constraint.reason; });
        schedule.checks.push_back({&constraint, static_cast<std::size_t>(known - schedule.reasons.begin())});
        if (known == schedule.reasons.end()) {
            schedule.reasons.push_back({.reason = constraint.reason, .nearest = {}});
        }
        ++schedule.first[constraint.depth + 1];
    };
    for (const Constraint& constraint : constraints) {
        add(constraint);
    }
    for (const Constraint& constraint : further) {
        add(constraint);
    }
    std::stable_sort(schedule.checks.begin(), schedule.checks.end(),
                     [](const CheckOrder::Check& a, const CheckOrder::Check& b) {
                         return a.constraint->depth < b.constraint->depth;
                     });
    std::partial_sum(schedule.first.begin(), schedule.first.end(), schedule.first.begin());
    return schedule;
}

}  // namespace

void add(std::span<const Rejected> more, std::vector<Rejected>& all)
{
    for (const Rejected& rejected : more) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Rejected& known) {
            return known.reason == rejected.reason;
        });
        if (same == all.end()) {
            all.push_back(rejected);
            continue;
        }
        if (rejected.count > 0 &&
            (same->nearest.empty() || (!rejected.nearest.empty() && rejected.miss < same->miss))) {
            same->miss = rejected.miss;
            same->nearest = rejected.nearest;
        }
        same->count += rejected.count;
    }
}

Space::Space(std::vector<Axis> axes, std::vector<Constraint> constraints)
    : axes_(std::move(axes)), constraints_(std::move(constraints)), stride_(axes_.size()), size_(1)
{
    check_axes(axes_);
    check_constraints(constraints_, axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0;) {
        stride_[a] = size_;
        const std::uint64_t labels = axes_[a].labels.size();
        if (size_ > std::numeric_limits<std::uint64_t>::max() / labels) {
            throw std::invalid_argument("the space has more than 2^64 combinations of values from axis \"" +
                                        axes_[a].name +
                                        "\" on, which cannot be counted; use fewer labels or fix an axis");
        }
        size_ *= labels;
    }
}

Point Space::point(std::uint64_t index) const
{
    if (index >= size_) {
        throw std::out_of_range("tuple " + std::to_string(index) + " is out of range: the space has " +
                                std::to_string(size_) + " tuples");
    }
    Point point(axes_.size());
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        point[a] = static_cast<int>(index / stride_[a]);
        index %= stride_[a];
    }
    return point;
}

std::uint64_t Space::index(std::span<const int> point) const
{
    if (point.size() != axes_.size()) {
        throw std::invalid_argument("a point of this space has " + std::to_string(axes_.size()) +
                                    " coordinates, not " + std::to_string(point.size()));
    }
    std::uint64_t index = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        if (point[a] < 0 || static_cast<std::size_t>(point[a]) >= axes_[a].labels.size()) {
            throw std::out_of_range("label " + std::to_string(point[a]) + " of axis \"" + axes_[a].name +
                                    "\" is not among its " + std::to_string(axes_[a].labels.size()));
        }
        index += static_cast<std::uint64_t>(point[a]) * stride_[a];
    }
    return index;
}

bool Space::allows(std::span<const int> leading) const
{
    return std::all_of(constraints_.begin(), constraints_.end(), [&](const Constraint& constraint) {
        return constraint.depth != leading.size() || constraint.allows(leading);
    });
}

bool Space::allows_all(std::span<const int> point) const
{
    return std::all_of(constraints_.begin(), constraints_.end(), [&](const Constraint& constraint) {
        return constraint.allows(point.first(constraint.depth));
    });
}

std::vector<Rejected> Space::enumerate(std::uint64_t begin, std::uint64_t end,
                                       const std::function<void(std::uint64_t, std::span<const int>)>& visit,
                                       std::span<const Constraint> further) const
{
    if (begin > end || end > size_) {
        throw std::out_of_range("range " + std::to_string(begin) + " to " + std::to_string(end) +
                                " is not inside the " + std::to_string(size_) + " tuples of the space");
    }
    CheckOrder schedule = make_schedule(constraints_, further, axes_.size());
    if (begin == end) {
        return schedule.reasons;
    }

    Point tuple = point(begin);
    const std::size_t axes = tuple.size();
    std::size_t allowed = 0;  // the constraints on this many leading axes are known to hold
    for (std::uint64_t index = begin; index < end;) {
        const CheckOrder::Check* violated = nullptr;
        while (allowed < axes && violated == nullptr) {
            ++allowed;
            for (std::size_t c = schedule.first[allowed]; c < schedule.first[allowed + 1]; ++c) {
                if (schedule.checks[c].constraint->allows(std::span<const int>(tuple.data(), allowed))) {
                    continue;
                }
                violated = &schedule.checks[c];
                break;
            }
        }
        if (violated == nullptr) {
            visit(index, tuple);
            ++index;
        } else {
            const std::uint64_t behind = stride_[allowed - 1];
            const std::uint64_t next = std::min(end - index, behind - index % behind) + index;
            schedule.reasons[violated->counter].count += next - index;
            index = next;
            std::fill(tuple.begin() + static_cast<std::ptrdiff_t>(allowed), tuple.end(), 0);
        }
        // Steps the last judged axis; a carry leaves the axis in front of it to be judged anew.
        std::size_t axis = allowed - 1;
        while (axis > 0 && static_cast<std::size_t>(tuple[axis]) + 1 == axes_[axis].labels.size()) {
            tuple[axis--] = 0;
        }
        ++tuple[axis];
        allowed = axis;
    }
    return schedule.reasons;
}

}  // namespace prismopt

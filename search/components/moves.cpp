#include "search/components/moves.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace prismopt {
namespace {

/// Labels that a repair may try: enough for some axes to change at once, few beside an evaluation.
constexpr int repair_tries = 4096;

/// Numbers of an ordered axis with positive whole labels, else nothing.
std::vector<long long> degrees_of(const Axis& axis)
{
    std::vector<long long> numbers;
    for (const std::string& label : axis.labels) {
        long long number = 0;
        const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
        if (!axis.ordered || error != std::errc{} || end != label.data() + label.size() || number < 1) {
            return {};
        }
        numbers.push_back(number);
    }
    return numbers;
}

/// Labels of an axis by their distance from the present one, itself first; the smaller
/// first among equally near ones.
std::vector<int> by_distance(int present, int count)
{
    std::vector<int> labels;
    for (int label = 0; label < count; ++label) {
        labels.push_back(label);
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [present](int a, int b) { return std::abs(a - present) < std::abs(b - present); });
    return labels;
}

class Repair {
public:
    Repair(const Space& space, const Point& from) : space_(space), from_(from), point_(from) {}

    bool complete(std::size_t axis)
    {
        if (axis == from_.size()) {
            return true;
        }
        for (const int label :
             by_distance(from_[axis], static_cast<int>(space_.axes()[axis].labels.size()))) {
            if (tries_++ > repair_tries) {
                return false;
            }
            point_[axis] = label;
            if (space_.allows(std::span(point_).first(axis + 1)) && complete(axis + 1)) {
                return true;
            }
        }
        return false;
    }
    const Point& point() const { return point_; }

private:
    const Space& space_;
    const Point& from_;
    Point point_;
    int tries_ = 0;
};

}  // namespace

Moves::Moves(const Space& space) : space_(space)
{
    for (std::size_t a = 0; a < space.axes().size(); ++a) {
        degree_.push_back(degrees_of(space.axes()[a]));
        if (count(a) < 2) {
            continue;
        }
        free_axes_.push_back(a);
        if (!degree_.back().empty()) {
            degrees_.push_back(a);
        }
    }
}

Point Moves::any(SearchRandom& random) const
{
    Point point(space_.axes().size(), 0);
    for (const std::size_t axis : free_axes_) {
        point[axis] = static_cast<int>(random.below(static_cast<std::size_t>(count(axis))));
    }
    return point;
}

Point Moves::cross(const Point& a, const Point& b, SearchRandom& random) const
{
    Point child = a;
    for (const std::size_t axis : free_axes_) {
        if (a[axis] == b[axis]) {
            continue;
        }
        const double way = random.uniform();
        if (space_.axes()[axis].ordered && way < 0.25) {
            child[axis] = static_cast<int>(std::lround(a[axis] + random.uniform() * (b[axis] - a[axis])));
        } else if (way < 0.625) {
            child[axis] = b[axis];
        }
    }
    return child;
}

void Moves::mutate(Point& point, double probability, SearchRandom& random) const
{
    if (free_axes_.empty()) {
        return;
    }
    const std::size_t always = free_axes_[random.below(free_axes_.size())];
    for (const std::size_t axis : free_axes_) {
        if (axis != always && !random.chance(probability)) {
            continue;
        }
        const int others = count(axis) - 1;
        int label = static_cast<int>(random.below(static_cast<std::size_t>(others)));
        label += label >= point[axis] ? 1 : 0;
        if (space_.axes()[axis].ordered && !random.chance(0.1)) {
            // A step whose size is spread evenly over orders of magnitude, up to all labels.
            const int step = static_cast<int>(
                std::ceil(std::pow(static_cast<double>(others), std::pow(random.uniform(), 2))));
            const int moved = random.chance(0.5) ? point[axis] + step : point[axis] - step;
            label = std::clamp(moved, 0, others);
        }
        point[axis] = label;
    }
}

bool Moves::shift_factor(Point& point, SearchRandom& random) const
{
    struct Shift {
        std::size_t a, b;
        int to_a, to_b;
    };
    std::vector<Shift> shifts;
    for (const std::size_t a : degrees_) {
        for (const std::size_t b : degrees_) {
            if (a == b) {
                continue;
            }
            const long long product = degree_[a][point[a]] * degree_[b][point[b]];
            for (int to_a = 0; to_a < count(a); ++to_a) {
                if (to_a == point[a] || product % degree_[a][to_a] != 0) {
                    continue;
                }
                const auto& of_b = degree_[b];
                const auto to_b = std::find(of_b.begin(), of_b.end(), product / degree_[a][to_a]);
                if (to_b != of_b.end()) {
                    shifts.push_back({a, b, to_a, static_cast<int>(to_b - of_b.begin())});
                }
            }
        }
    }
    if (shifts.empty()) {
        return false;
    }
    const Shift& chosen = shifts[random.below(shifts.size())];
    point[chosen.a] = chosen.to_a;
    point[chosen.b] = chosen.to_b;
    return true;
}

std::optional<Point> Moves::repaired(const Point& point) const
{
    Repair repair(space_, point);
    if (!repair.complete(0)) {
        return std::nullopt;
    }
    return repair.point();
}

}  // namespace prismopt

#include "model/step/compile/chunk_splits.hpp"

#include <iterator>

namespace prismopt {

namespace {

constexpr double all_ticks = 1 << 30;

}  // namespace

Units::Units(const LayerCosts& costs, bool splits_backward)
{
    const auto seconds = [splits_backward](const LayerCost& cost) {
        const auto of = [](const PassCost& pass) { return pass.compute_s + pass.communication_s; };
        if (splits_backward) {
            return of(cost.forward) + (of(cost.input_gradient) + of(cost.weight_gradient));
        }
        return of(cost.forward) + of(cost.backward);
    };
    std::vector<double> of_kind;
    std::transform(costs.kinds.begin(), costs.kinds.end(), std::back_inserter(of_kind), seconds);
    double all = seconds(costs.embedding) + seconds(costs.head);
    for (const int kind : costs.layers) {
        all += of_kind[kind];
    }
    const double scale = all > 0.0 ? all_ticks / all : 0.0;
    before_.reserve(costs.layers.size() + 3);
    before_.push_back(0);
    add(seconds(costs.embedding) * scale);
    for (const int kind : costs.layers) {
        add(of_kind[kind] * scale);
    }
    add(seconds(costs.head) * scale);
}

Ticks Units::longest() const
{
    Ticks most = 0;
    for (int unit = 0; unit < count(); ++unit) {
        most = std::max(most, time(unit, unit + 1));
    }
    return most;
}

int Units::last_end(int begin, int most, Ticks limit) const
{
    const auto first = before_.begin() + begin;
    return static_cast<int>(std::upper_bound(first, before_.begin() + most + 1, *first + limit) -
                            before_.begin()) -
           1;
}

int Units::first_begin(int end, int least, Ticks limit) const
{
    return static_cast<int>(
        std::lower_bound(before_.begin() + least, before_.begin() + end, before_[end] - limit) -
        before_.begin());
}

Ticks Units::shortest_above(Ticks limit) const
{
    Ticks least = std::numeric_limits<Ticks>::max();
    for (int begin = 0; begin < count(); ++begin) {
        const int end = last_end(begin, count(), limit);
        if (end < count()) {
            least = std::min(least, time(begin, end + 1));
        }
    }
    return least;
}

}  // namespace prismopt

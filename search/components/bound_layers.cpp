#include "search/components/bound_layers.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace prismopt {

void BoundLayers::add(std::uint64_t index, std::span<const double> bound)
{
    index_.push_back(index);
    bounds_.insert(bounds_.end(), bound.begin(), bound.end());
}

std::span<const double> BoundLayers::bound(std::size_t place) const
{
    return std::span(bounds_).subspan(place * objectives_, objectives_);
}

bool BoundLayers::lower(std::size_t a, std::size_t b) const
{
    const auto [left, right] = std::mismatch(bound(a).begin(), bound(a).end(), bound(b).begin());
    return left == bound(a).end() ? index_[a] < index_[b] : *left < *right;
}

void BoundLayers::put_in_order()
{
    const auto lower = [this](std::size_t a, std::size_t b) { return this->lower(a, b); };
    std::vector<std::size_t> order(index_.size() - ordered_);
    std::iota(order.begin(), order.end(), ordered_);
    std::sort(order.begin(), order.end(), lower);
    std::vector<std::uint64_t> index;
    std::vector<double> bounds;
    index.reserve(order.size());
    bounds.reserve(order.size() * objectives_);
    for (const std::size_t place : order) {
        index.push_back(index_[place]);
        bounds.insert(bounds.end(), bound(place).begin(), bound(place).end());
    }
    std::copy(index.begin(), index.end(), index_.begin() + static_cast<std::ptrdiff_t>(ordered_));
    std::copy(bounds.begin(), bounds.end(),
              bounds_.begin() + static_cast<std::ptrdiff_t>(ordered_ * objectives_));
    std::iota(order.begin(), order.end(), ordered_);
    std::vector<std::size_t> alive;
    std::merge(alive_.begin(), alive_.end(), order.begin(), order.end(), std::back_inserter(alive), lower);
    alive_ = std::move(alive);
    ordered_ = index_.size();
}

template <class Keep>
void BoundLayers::filter(const Limits& limits, Keep&& keep)
{
    const std::vector<std::vector<double>> highs = limits.sorted();
    auto next = highs.begin();
    // Limits that come before the bound in hand: only these can dominate it.
    RunningFront passed(objectives_);
    std::size_t kept = 0;
    for (const std::size_t place : alive_) {
        const std::span<const double> least = bound(place);
        while (next != highs.end() &&
               std::lexicographical_compare(next->begin(), next->end(), least.begin(), least.end())) {
            passed.add(*next++);
        }
        if (passed.covers(least)) {
            ++excluded_;
        } else if (keep(place)) {
            alive_[kept++] = place;
        }
    }
    alive_.resize(kept);
}

std::size_t BoundLayers::exclude(const Limits& limits)
{
    filter(limits, [](std::size_t) { return true; });
    return alive_.size();
}

void BoundLayers::lower_to_least(std::vector<double>& least) const
{
    const auto lower = [&](std::size_t place) {
        for (std::size_t k = 0; k < objectives_; ++k) {
            least[k] = std::min(least[k], bound(place)[k]);
        }
    };
    std::for_each(alive_.begin(), alive_.end(), lower);
    std::for_each(layer_.begin() + static_cast<std::ptrdiff_t>(layer_done_), layer_.end(), lower);
}

void BoundLayers::tighten(std::span<const std::uint64_t> looked_at, std::span<const Bound> tighter)
{
    const auto by_index = [](const Bound& bound, std::uint64_t index) { return bound.index < index; };
    std::size_t kept = 0;
    for (const std::size_t place : alive_) {
        const auto found = std::lower_bound(tighter.begin(), tighter.end(), index_[place], by_index);
        if (found != tighter.end() && found->index == index_[place]) {
            std::copy(found->objectives.begin(), found->objectives.end(),
                      bounds_.begin() + static_cast<std::ptrdiff_t>(place * objectives_));
        } else if (std::binary_search(looked_at.begin(), looked_at.end(), index_[place])) {
            ++excluded_;
            continue;
        }
        alive_[kept++] = place;
    }
    alive_.resize(kept);
    std::sort(alive_.begin(), alive_.end(), [this](std::size_t a, std::size_t b) { return lower(a, b); });
}

/// Takes the next layer out of the alive points, dropping on the way those that
/// are excluded; false: none left.
bool BoundLayers::peel(const Limits& limits)
{
    layer_.clear();
    layer_done_ = 0;
    layer_tested_ = limits.newest();
    RunningFront front(objectives_);
    filter(limits, [&](std::size_t place) {
        const bool first = front.add(bound(place));
        if (first) {
            layer_.push_back(place);
        }
        return !first;
    });
    std::sort(layer_.begin(), layer_.end(),
              [this](std::size_t a, std::size_t b) { return index_[a] < index_[b]; });
    return !layer_.empty();
}

std::vector<std::size_t> BoundLayers::next_places(std::size_t most, const Limits& limits)
{
    std::vector<std::size_t> taken;
    while (taken.empty() && (layer_done_ < layer_.size() || peel(limits))) {
        while (taken.size() < most && layer_done_ < layer_.size()) {
            const std::size_t place = layer_[layer_done_++];
            if (limits.rule_out(place, bound(place), layer_tested_)) {
                ++excluded_;
            } else {
                taken.push_back(place);
            }
        }
    }
    return taken;
}

}  // namespace prismopt

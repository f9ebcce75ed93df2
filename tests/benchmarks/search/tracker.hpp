#pragma once

/// How many distinct points a search has evaluated when it reaches a share of the true hypervolume.

#include "tests/benchmarks/search/table_problem.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace prismopt::bench {

class Tracker {
public:
    explicit Tracker(const HypervolumeShare& share) : share_(share) {}

    /// A feasible point was evaluated; repeats do not count.
    void evaluated(std::uint64_t id, const std::vector<double>& value)
    {
        if (!seen_.insert(id).second) {
            return;
        }
        for (const auto& other : front_) {
            if (other == value || dominates(other, value)) {
                return;
            }
        }
        std::erase_if(front_, [&](const auto& other) { return dominates(value, other); });
        front_.push_back(value);
        reached_ = share_(front_);
        if (to_99 == 0 && reached_ >= 0.99) {
            to_99 = seen_.size();
        }
        if (to_999 == 0 && reached_ >= 0.999) {
            to_999 = seen_.size();
        }
    }

    std::uint64_t to_99 = 0;  // 0: not reached
    std::uint64_t to_999 = 0;
    double reached() const { return reached_; }

private:
    const HypervolumeShare& share_;
    std::set<std::uint64_t> seen_;
    std::vector<std::vector<double>> front_;
    double reached_ = 0.0;
};

}  // namespace prismopt::bench

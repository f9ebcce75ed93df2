#include "model/schedule/repeats.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr std::size_t fewest_repeats = 4;

class Finder {
public:
    Finder(std::span<const ProgramOp> ops, std::span<const std::uint32_t> fed_by, int stages)
        : ops_(ops), fed_by_(fed_by), stages_(stages)
    {
    }

    /// The longest stretch around op `at`; of period zero if there is none.
    Repeats around(std::size_t at) const
    {
        const std::size_t longest = (ops_.size() - at) / 2;
        for (std::size_t period = 1; period <= longest; ++period) {
            std::size_t equal_ops = 0;
            while (equal_ops < period && same(at + equal_ops, period)) {
                ++equal_ops;
            }
            if (equal_ops == period && has_all_stages(at, period)) {
                const Repeats found = extended({at, at + 2 * period, period});
                if (found.count() >= fewest_repeats) {  // else part of a longer period, equal by chance
                    return found;
                }
            }
        }
        return {};
    }

private:
    bool same(std::size_t i, std::size_t period) const
    {
        const ProgramOp& a = ops_[i];
        const ProgramOp& b = ops_[i + period];
        return a.distribution == b.distribution && a.first_of_chunk == b.first_of_chunk &&
               a.last_of_chunk == b.last_of_chunk && fed_by_[i] == fed_by_[i + period];
    }

    bool has_all_stages(std::size_t first, std::size_t count) const
    {
        std::vector<bool> found(stages_, false);
        for (const ProgramOp& op : ops_.subspan(first, count)) {
            found[op.stage] = true;
        }
        return std::find(found.begin(), found.end(), false) == found.end();
    }

    Repeats extended(Repeats stretch) const
    {
        while (stretch.first > 0 && same(stretch.first - 1, stretch.period)) {
            --stretch.first;
        }
        while (stretch.end < ops_.size() && same(stretch.end - stretch.period, stretch.period)) {
            ++stretch.end;
        }
        return stretch;
    }

    std::span<const ProgramOp> ops_;
    std::span<const std::uint32_t> fed_by_;
    std::size_t stages_;
};

}  // namespace

std::vector<Repeats> find_repeats(std::span<const ProgramOp> ops, std::span<const std::uint32_t> fed_by,
                                  int stages)
{
    const Finder finder(ops, fed_by, stages);
    std::vector<Repeats> all;
    for (const std::size_t quarter : {1, 2, 3}) {
        const std::size_t at = quarter * ops.size() / 4;
        if (!all.empty() && at < all.back().end) {
            continue;
        }
        Repeats found = finder.around(at);
        if (!all.empty()) {
            found.first = std::max(found.first, all.back().end);
        }
        if (found.period > 0 && found.end > found.first && found.count() >= fewest_repeats) {
            all.push_back(found);
        }
    }
    return all;
}

}  // namespace prismopt

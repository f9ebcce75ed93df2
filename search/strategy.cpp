#include "search/strategy.hpp"

#include "search/dice.hpp"
#include "search/strategies/exact.hpp"
#include "search/strategies/nsga2.hpp"
#include "search/strategies/nsga3.hpp"
#include "search/strategies/racing.hpp"
#include "search/strategies/random_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace prismopt {
namespace {

/// Parts of a sweep: enough for some ranks, then more so that ranges stay small, until their answers would be many.
constexpr std::uint64_t fewest_ranges = 256;
constexpr std::uint64_t most_in_range = 1 << 20;
constexpr std::uint64_t most_ranges = 1 << 14;

/// What a sweep gets through in some core-hours: feasible tuples, each bounded in some 20 us, and raw ones, most of which rules
/// exclude many at a time.
constexpr double most_feasible = 1e9;
constexpr std::uint64_t most_to_sweep = 100'000'000'000;

/// Feasible tuples of a space at most, from a sample, but for chances below 1e-4: beyond four deviations of a Poisson count.
double feasible_at_most(const Space& space)
{
    constexpr std::uint64_t sample = 1 << 14;
    Dice dice(0, 0);
    double found = 0.0;
    for (std::uint64_t i = 0; i < sample; ++i) {
        const std::uint64_t stretch = space.size() / sample;
        found += space.allows_all(space.point(i * stretch + dice.below(stretch))) ? 1.0 : 0.0;
    }
    return (found + 4.0 * std::sqrt(found) + 10.0) * static_cast<double>(space.size()) / sample;
}

bool can_be_swept(const Space& space)
{
    return static_cast<double>(space.size()) <= most_feasible ||
           (space.size() <= most_to_sweep && feasible_at_most(space) <= most_feasible);
}

std::unique_ptr<Strategy> make_exact(const Space& space, const StudyGoal& goal)
{
    ExactOptions options;
    options.ranges = ranges_of(goal, space.size());
    options.objectives = goal.objectives;
    options.top_rung = goal.top_rung;
    options.bounded = goal.bounded;
    options.confidence = goal.confidence;
    options.max_evaluations = goal.max_evaluations;
    return std::make_unique<Exact>(options);
}

template <class Kind>
std::unique_ptr<Strategy> make(const Space& space, const StudyGoal& goal)
{
    return std::make_unique<Kind>(space, goal);
}

struct Row {
    const char* name;
    std::unique_ptr<Strategy> (*make)(const Space&, const StudyGoal&);
};

constexpr std::array<Row, 5> rows{{{"exact", make_exact},
                                   {"racing", make<Racing>},
                                   {"nsga2", make<Nsga2>},
                                   {"nsga3", make<Nsga3>},
                                   {"random", make<RandomSearch>}}};

ChosenStrategy choose(const Space& space, const StudyGoal& goal)
{
    const std::string tuples = grouped(space.size()) + " combinations of values";
    const bool part = goal.parts > 1;
    if (!part && !can_be_swept(space)) {
        const bool few = goal.objectives <= 2;  // as measured: results/search-quality.md
        return {few ? "nsga2" : "nsga3",
                tuples + " are too many to look at each feasible one; " + std::to_string(goal.objectives) + " objectives are " +
                    (few ? "few enough for crowding" : "too many for crowding, so niches along reference directions"),
                nullptr};
    }
    const std::string each =
        part ? "parts can be merged where each of their combinations is looked at" : tuples + " can each be looked at";
    if (std::none_of(goal.bounded.begin(), goal.bounded.end(), [](bool bounded) { return bounded; })) {
        return {"racing", each + ", but no objective has a bound that would exclude any before drawing", nullptr};
    }
    const bool all = std::all_of(goal.bounded.begin(), goal.bounded.end(), [](bool bounded) { return bounded; });
    return {"exact",
            each + (all ? ", and bounds exclude most before drawing"
                        : "; an objective without a bound keeps all feasible ones until they are drawn"),
            nullptr};
}

}  // namespace

std::vector<SweepRange> split_space(std::uint64_t size, std::uint64_t parts)
{
    parts = std::min(size, parts);
    std::vector<SweepRange> ranges;
    std::uint64_t begin = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t end = begin + size / parts + (part < size % parts ? 1 : 0);
        ranges.push_back({.begin = begin, .end = end});
        begin = end;
    }
    return ranges;
}

std::vector<SweepRange> ranges_of(const StudyGoal& goal, std::uint64_t size)
{
    const std::vector<SweepRange> parts = split_space(size, goal.parts);
    if (goal.part > parts.size()) return {};
    const SweepRange part = parts[goal.part - 1];
    const std::uint64_t tuples = part.end - part.begin;
    std::vector<SweepRange> within = split_space(tuples, std::clamp(tuples / most_in_range, fewest_ranges, most_ranges));
    for (SweepRange& range : within) {
        range.begin += part.begin;
        range.end += part.begin;
        range.keep = most_kept_bounds / within.size();
    }
    return within;
}

std::string grouped(std::uint64_t count)
{
    std::string digits = std::to_string(count);
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
    return digits;
}

std::vector<std::string> strategy_names()
{
    std::vector<std::string> names{"auto", "nlopt"};
    for (const Row& row : rows) names.emplace_back(row.name);
    return names;
}

ChosenStrategy make_strategy(const std::string& name, const Space& space, const StudyGoal& goal)
{
    ChosenStrategy chosen{name, {}, nullptr};
    if (name == "auto" || name == "nlopt") chosen = choose(space, goal);
    const auto* row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return chosen.name == r.name; });
    if (row == rows.end()) throw std::invalid_argument("there is no search strategy \"" + name + "\"");
    chosen.strategy = row->make(space, goal);
    return chosen;
}

}  // namespace prismopt

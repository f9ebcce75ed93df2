#include "search/strategies/strategy_choice.hpp"

#include "search/search_random.hpp"
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

/// What a sweep can check in a few core-hours: feasible tuples, at about 20 us each, and raw tuples, of which rules exclude most
/// in bulk.
constexpr double most_feasible = 1e9;
constexpr std::uint64_t most_to_sweep = 100'000'000'000;

/// Feasible tuples from which an exact search looks for incumbents before it sweeps: their limits then spare most of the cost of
/// a sweep, which is 100 to 200 us per feasible plan, while an exploration checks some 10^4 plans.
constexpr double most_swept_first = 3e5;

/// Upper limit of the number of feasible tuples, from a sample: four standard deviations of a Poisson count (exceeded with a
/// probability below 1e-4).
double feasible_at_most(const Space& space)
{
    constexpr std::uint64_t sample = 1 << 14;
    SearchRandom random(0, 0);
    double found = 0.0;
    for (std::uint64_t i = 0; i < sample; ++i) {
        const std::uint64_t stretch = space.size() / sample;
        found += space.allows_all(space.point(i * stretch + random.below(stretch))) ? 1.0 : 0.0;
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
    options.region = goal.region;
    options.near_objective = goal.near_objective;
    // A part is not explored: an incumbent outside of it is no result of it.
    if (goal.parts == 1 && static_cast<double>(space.size()) > most_swept_first && feasible_at_most(space) > most_swept_first) {
        options.explored = &space;
        options.seed = goal.seed;
    }
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
                tuples + " are too many to check all feasible ones; " + std::to_string(goal.objectives) +
                    (few ? " objectives: crowding distance" : " objectives: niches along reference directions"),
                nullptr};
    }
    const std::string each = part ? "parts can be merged if all their combinations are checked" : tuples + " can all be checked";
    if (std::none_of(goal.bounded.begin(), goal.bounded.end(), [](bool bounded) { return bounded; })) {
        return {"racing", each + ", but no objective has a lower bound that could exclude plans before they are evaluated",
                nullptr};
    }
    const bool all = std::all_of(goal.bounded.begin(), goal.bounded.end(), [](bool bounded) { return bounded; });
    return {"exact",
            each + (all ? ", and lower bounds exclude most plans before they are evaluated"
                        : "; an objective without a lower bound keeps all feasible plans until they are evaluated"),
            nullptr};
}

}  // namespace

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
    if (row == rows.end()) throw std::invalid_argument("unknown search strategy \"" + name + "\"");
    chosen.strategy = row->make(space, goal);
    return chosen;
}

}  // namespace prismopt

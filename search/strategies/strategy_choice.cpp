#include "search/strategies/strategy_choice.hpp"

#include "search/search_random.hpp"
#include "search/strategies/alternatives/alternative_search.hpp"
#include "search/strategies/exact/exact.hpp"
#include "search/strategies/nsga2.hpp"
#include "search/strategies/nsga3.hpp"
#include "search/strategies/racing.hpp"
#include "search/strategies/random_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace prismopt {
namespace {

/// What a sweep can check in a few core-hours: feasible tuples, at about 20 us each, and raw tuples, of
/// which rules exclude most in bulk.
constexpr double most_feasible = 1e9;
constexpr std::uint64_t most_to_sweep = 100'000'000'000;

/// Feasible tuples from which an exact search looks for incumbents before it sweeps: their limits
/// then spare most of the cost of a sweep, which is 100 to 200 us per feasible plan, while an
/// exploration checks some 10^4 plans.
constexpr double most_swept_first = 3e5;

/// Upper limit of the number of feasible tuples, from a sample: four standard deviations of a Poisson count
/// (exceeded with a probability below 1e-4).
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
    if (goal.alternatives) {
        return std::make_unique<AlternativeSearch>(space, goal);
    }
    ExactOptions options{.goal = goal, .ranges = ranges_of(goal, space.size())};
    // A part is not explored: an incumbent outside of it is no result of it.
    if (goal.space_parts == 1 && static_cast<double>(space.size()) > most_swept_first &&
        feasible_at_most(space) > most_swept_first) {
        options.explored = &space;
    }
    return std::make_unique<Exact>(std::move(options));
}

template <class Kind>
std::unique_ptr<Strategy> make(const Space& space, const StudyGoal& goal)
{
    return std::make_unique<Kind>(space, goal);
}

constexpr auto facts = std::to_array<StrategyFacts>({
    {.name = "auto",
     .chooses = true,
     .covers = true,
     .compares_alternatives = true,
     .tuning = Tuning::if_continuous},
    {.name = "nlopt", .chooses = true, .tuning = Tuning::always},
    // Each rung has simultaneous limits, which share the error probability: fewer rungs than halving.
    {.name = "exact", .covers = true, .excludes = true, .compares_alternatives = true, .rungs_between = 4},
    {.name = "racing", .covers = true},
    {.name = "nsga2"},
    {.name = "nsga3"},
    {.name = "random"},
});

/// Of those that search, in the order of their facts.
using Make = std::unique_ptr<Strategy> (*)(const Space&, const StudyGoal&);
constexpr std::array<Make, facts.size()> makers{nullptr,     nullptr,     make_exact,        make<Racing>,
                                                make<Nsga2>, make<Nsga3>, make<RandomSearch>};

ChosenStrategy choose(const Space& space, const StudyGoal& goal)
{
    const auto chosen = [&](const char* name, ChoiceReason reason) {
        return ChosenStrategy{name,
                              StrategyReason{.choice = reason,
                                             .of_space_part = goal.space_parts > 1,
                                             .tuples = space.size(),
                                             .objectives = goal.objectives},
                              nullptr};
    };
    if (goal.alternatives) {
        return chosen("exact", ChoiceReason::compares_alternatives);
    }
    if (goal.space_parts <= 1 && !can_be_swept(space)) {
        const bool few = goal.objectives <= 2;  // as measured: results/search-quality.md
        return few ? chosen("nsga2", ChoiceReason::few_objectives)
                   : chosen("nsga3", ChoiceReason::many_objectives);
    }
    const auto is_bounded = [](bool bounded) { return bounded; };
    if (std::none_of(goal.bounded.begin(), goal.bounded.end(), is_bounded)) {
        return chosen("racing", ChoiceReason::no_bounds);
    }
    const bool all = std::all_of(goal.bounded.begin(), goal.bounded.end(), is_bounded);
    return chosen("exact", all ? ChoiceReason::all_bounded : ChoiceReason::some_unbounded);
}

}  // namespace

std::span<const StrategyFacts> strategies() { return facts; }

const StrategyFacts& facts_of_strategy(std::string_view name)
{
    const auto* found =
        std::find_if(facts.begin(), facts.end(), [name](const StrategyFacts& of) { return of.name == name; });
    if (found == facts.end()) {
        throw std::invalid_argument("unknown search strategy \"" + std::string(name) + "\"");
    }
    return *found;
}

std::vector<std::string> strategy_names()
{
    std::vector<std::string> names;
    for (const StrategyFacts& of : facts) {
        names.emplace_back(of.name);
    }
    return names;
}

ChosenStrategy make_strategy(const std::string& name, const Space& space, const StudyGoal& goal)
{
    ChosenStrategy chosen{name, {}, nullptr};
    if (facts_of_strategy(name).chooses) {
        chosen = choose(space, goal);
    }
    const auto row = static_cast<std::size_t>(&facts_of_strategy(chosen.name) - facts.data());
    chosen.strategy = makers[row](space, goal);
    return chosen;
}

std::unique_ptr<Strategy> exact_search_of(std::vector<SweepRange> ranges, const StudyGoal& goal)
{
    return std::make_unique<Exact>(ExactOptions{.goal = goal, .ranges = std::move(ranges)});
}

}  // namespace prismopt

#include "search/strategies/exact.hpp"

#include "search/archive.hpp"
#include "search/components/kept_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <stdexcept>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A textbook problem with everything known: what a sweep bounds, and what a rung shows.
///
/// The simultaneous limits of a rung contain those of the next and the value of each rung. So whatever is confidently dominated is
/// dominated by value at the top rung too, and the front is that of all values at the top rung.
struct Problem {
    std::vector<std::vector<double>> truth;        // by index; empty: infeasible
    std::vector<double> half_width = {0.2, 0.02};  // of the simultaneous limits, relative, by rung from 1
    double bound_share = 0.95;                     // bound over truth
    bool infinite_first_rung = false;              // no upper limits at rung 1
    double first_bound_share = 0.0;                // of a bound, known before feasibility is; zero: none
    double loose_share = 1.0;                      // of bounds without limits over those with them

    int top_rung() const { return static_cast<int>(half_width.size()); }

    Evaluation evaluate(std::uint64_t index, int rung) const
    {
        std::mt19937 random(static_cast<unsigned>(index));  // equal at all rungs, which makes the limits nest
        Evaluation evaluation{.index = index, .rung = rung, .draws = 100, .objectives = {}};
        const double width = half_width[static_cast<std::size_t>(rung - 1)];
        for (const double value : truth[index]) {
            const auto unit = [&] { return static_cast<double>(random() % 1024) / 1024.0; };
            const double low = value * (1.0 - width * (0.5 + 0.5 * unit()));
            const double high = value * (1.0 + width * (0.5 + 0.5 * unit()));
            const double seen = value * (1.0 + width * (unit() - 0.5));
            evaluation.objectives.push_back({seen, low, high, low, infinite_first_rung && rung == 1 ? infinity : high});
        }
        return evaluation;
    }

    /// Rungs beyond the last show what the last does.
    Evaluation evaluate(const PointRequest& point) const
    {
        Evaluation evaluation = evaluate(point.index, std::min(point.rung, top_rung()));
        evaluation.rung = point.rung;
        evaluation.source = point.source;
        return evaluation;
    }

    Sweep sweep(SweepRange range) const
    {
        KeptBounds kept(range);
        std::uint64_t unchecked = 0;
        for (std::uint64_t index = range.begin; index < range.end; ++index) {
            if (truth[index].empty()) continue;
            Bound bound{index, truth[index]};
            for (double& value : bound.objectives) value *= bound_share * first_bound_share;
            if (excludes(range.limits, bound.objectives)) {
                ++unchecked;
                continue;
            }
            bound.objectives = truth[index];
            for (double& value : bound.objectives) value *= range.limits.empty() ? bound_share * loose_share : bound_share;
            kept.add(bound);
        }
        Sweep sweep;
        kept.move_to(sweep);
        sweep.unchecked = unchecked;
        return sweep;
    }

    Answer answer(const Request& request) const
    {
        if (const auto* range = std::get_if<SweepRange>(&request)) return sweep(*range);
        return evaluate(std::get<PointRequest>(request));
    }

    std::vector<Answer> answers(const std::vector<Request>& requests) const
    {
        std::vector<Answer> all;
        for (const Request& request : requests) all.push_back(answer(request));
        return all;
    }

    std::uint64_t feasible() const { return sweep({0, truth.size()}).feasible.size(); }

    /// Points that no exact search can do without: their bound is not dominated by any upper limit of the top rung.
    std::uint64_t unavoidable() const
    {
        std::vector<std::vector<double>> highs;
        for (std::uint64_t index = 0; index < truth.size(); ++index) {
            if (truth[index].empty()) continue;
            std::vector<double>& high = highs.emplace_back();
            for (const Estimate& objective : evaluate(index, top_rung()).objectives) high.push_back(objective.simultaneous_high);
        }
        std::uint64_t count = 0;
        for (const Bound& bound : sweep({0, truth.size()}).feasible) {
            const auto excludes = [&](const auto& high) { return dominates(high, bound.objectives); };
            count += std::none_of(highs.begin(), highs.end(), excludes) ? 1 : 0;
        }
        return count;
    }

    /// Brute force: evaluates all at the top rung.
    std::vector<std::uint64_t> front() const
    {
        Archive archive;
        for (std::uint64_t index = 0; index < truth.size(); ++index) {
            if (!truth[index].empty()) archive.add(std::vector<Answer>{evaluate(index, top_rung())});
        }
        return archive.front();
    }
};

ExactOptions options(const Problem& problem, std::size_t objectives)
{
    return {.space_size = problem.truth.size(),
            .objectives = objectives,
            .top_rung = problem.top_rung(),
            .bounded = std::vector<bool>(objectives, true)};
}

struct Search {
    Outcome outcome;
    std::vector<std::uint64_t> front;
    std::vector<std::pair<std::uint64_t, int>> asked;  // index and rung, in order
    std::set<std::uint64_t> evaluated;
};

/// Plays the evaluator; `portion` says how many of the outstanding answers the next tell brings.
Search play(const Problem& problem, const ExactOptions& options, const std::function<std::size_t(std::size_t)>& portion)
{
    Exact exact(options);
    Search run;
    std::vector<Answer> outstanding;
    while (const auto requests = exact.ask()) {
        EXPECT_TRUE(!requests->empty() || !outstanding.empty());
        for (const Request& request : *requests) {
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                outstanding.emplace_back(problem.sweep(*range));
                continue;
            }
            const auto& point = std::get<PointRequest>(request);
            if (point.source.purpose == Purpose::search) {
                run.asked.emplace_back(point.index, point.rung);
                run.evaluated.insert(point.index);
            }
            outstanding.emplace_back(problem.evaluate(point));
        }
        const auto told = static_cast<std::ptrdiff_t>(std::min(portion(outstanding.size()), outstanding.size()));
        exact.tell(std::span(outstanding).first(static_cast<std::size_t>(told)));
        outstanding.erase(outstanding.begin(), outstanding.begin() + told);
        const Outcome now = exact.outcome();
        EXPECT_LE(now.pruned + now.evaluated + now.open + now.unchecked, problem.feasible());
        EXPECT_TRUE(now.open > 0 || !now.proved || outstanding.empty());
    }
    run.outcome = exact.outcome();
    run.front = exact.front();
    return run;
}

Search play(const Problem& problem, const ExactOptions& options)
{
    return play(problem, options, [](std::size_t outstanding) { return outstanding; });
}

/// Zitzler, Deb, Thiele (2000), two variables on a grid, moved by one so that relative errors mean something.
Problem zdt1(int steps)
{
    Problem problem;
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < steps; ++j) {
            const double f1 = static_cast<double>(i) / (steps - 1);
            const double g = 1.0 + 9.0 * j / (steps - 1);
            problem.truth.push_back({1.0 + f1, 1.0 + g * (1.0 - std::sqrt(f1 / g))});
        }
    }
    return problem;
}

/// Deb, Thiele, Laumanns, Zitzler (2002), two angles and a distance (linear here), moved by a half.
Problem dtlz2_grid(int steps)
{
    Problem problem;
    const double right_angle = std::numbers::pi / 2.0;
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < steps; ++j) {
            for (int k = 0; k < steps; ++k) {
                const double a = right_angle * (i + 0.5) / steps;
                const double b = right_angle * (j + 0.5) / steps;
                const double r = 1.0 + 4.0 * k / (steps - 1);
                problem.truth.push_back(
                    {0.5 + r * std::cos(a) * std::cos(b), 0.5 + r * std::cos(a) * std::sin(b), 0.5 + r * std::sin(a)});
            }
        }
    }
    return problem;
}

/// Small whole numbers: many ties, duplicates and infeasible points.
Problem lattice(unsigned seed, std::size_t points, std::size_t objectives)
{
    std::mt19937 random(seed);
    Problem problem;
    for (std::size_t p = 0; p < points; ++p) {
        auto& value = problem.truth.emplace_back();
        if (random() % 4 == 0) continue;
        for (std::size_t k = 0; k < objectives; ++k) value.push_back(10.0 + static_cast<double>(random() % 6));
    }
    return problem;
}

void expect_proved(const Problem& problem, const Search& run)
{
    EXPECT_EQ(run.front, problem.front());
    EXPECT_TRUE(run.outcome.proved) << run.outcome.text;
    EXPECT_EQ(run.outcome.open, 0U);
    EXPECT_EQ(run.outcome.pruned + run.outcome.unchecked + run.evaluated.size(), problem.feasible());
}

TEST(Exact, FindsTheFrontOfZdt1WithFewEvaluations)
{
    const Problem problem = zdt1(64);
    const Search run = play(problem, options(problem, 2));
    expect_proved(problem, run);
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 6);
    EXPECT_GE(run.evaluated.size(), problem.unavoidable());
    // The first incumbents are chosen at the first rung, and new ones once the candidates are three times as many.
    EXPECT_LE(run.evaluated.size(), problem.unavoidable() + 3 * options(problem, 2).batch);
    EXPECT_THAT(run.outcome.text, AllOf(HasSubstr("proved complete: 4,096 feasible plans"), HasSubstr("(confidence 95 %)")));
}

TEST(Exact, FindsTheFrontOfDtlz2WithFewEvaluations)
{
    Problem problem = dtlz2_grid(20);
    problem.half_width = {0.1, 0.01, 0.001};
    problem.bound_share = 0.96;
    const Search run = play(problem, options(problem, 3));
    expect_proved(problem, run);
    std::size_t last_rung = 0;
    for (const auto& request : run.asked) last_rung += request.second == 3 ? 1 : 0;
    EXPECT_LT(last_rung, run.evaluated.size());
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 8);
    EXPECT_GE(run.evaluated.size(), problem.unavoidable());
    EXPECT_LE(run.evaluated.size(), problem.unavoidable() + 3 * options(problem, 3).batch);
}

TEST(Exact, PromotesOnlyWhatIsStillInTheRace)
{
    Problem problem = zdt1(64);
    problem.half_width = {0.04, 0.02};  // limits of the first rung are closer than bounds
    const Search run = play(problem, options(problem, 2));
    std::size_t promoted = 0;
    for (const auto& request : run.asked) promoted += request.second == 2 ? 1 : 0;
    EXPECT_EQ(run.asked.size(), run.evaluated.size() + promoted);
    EXPECT_GE(promoted, run.front.size());
    EXPECT_LT(promoted, run.evaluated.size());
}

TEST(Exact, HandlesTiesAndDuplicates)
{
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        Problem problem = lattice(seed, 300, objectives);
        for (const bool noisy : {false, true}) {
            problem.half_width = noisy ? std::vector<double>{0.05, 0.01} : std::vector<double>{0.0, 0.0};
            problem.bound_share = noisy ? 0.97 : 1.0;
            const Search run = play(problem, options(problem, objectives));
            expect_proved(problem, run);
            EXPECT_LT(run.evaluated.size(), problem.feasible()) << "seed " << seed;
        }
    }
}

TEST(Exact, AsksTheSameHoweverTheAnswersAreBatched)
{
    Problem problem = dtlz2_grid(12);
    problem.infinite_first_rung = true;
    ExactOptions chosen = options(problem, 3);
    chosen.batch = 10;
    const Search whole = play(problem, chosen);
    std::mt19937 random(3);
    const Search single = play(problem, chosen, [](std::size_t) { return std::size_t{1}; });
    const Search uneven = play(problem, chosen, [&](std::size_t outstanding) { return random() % (outstanding + 1); });
    for (const Search& run : {single, uneven}) {
        EXPECT_EQ(run.asked, whole.asked);
        EXPECT_EQ(run.front, whole.front);
        EXPECT_EQ(run.outcome.text, whole.outcome.text);
    }
    for (const int ranges : {1, 7, 100000}) {
        chosen.sweep_ranges = static_cast<std::uint64_t>(ranges);
        for (const int at_once : {1, 5, 100000}) {
            chosen.ranges_at_once = static_cast<std::size_t>(at_once);
            EXPECT_EQ(play(problem, chosen).asked, whole.asked);
        }
    }
}

TEST(Exact, ProvesTheSameFrontHoweverFewBoundsAreKept)
{
    Problem nothing_known = zdt1(20);
    nothing_known.infinite_first_rung = true;
    nothing_known.half_width = {0.02};
    for (const Problem& problem : {zdt1(40), lattice(1, 500, 3), nothing_known}) {
        ExactOptions chosen = options(problem, problem.truth.front().size());
        const Search whole = play(problem, chosen);
        expect_proved(problem, whole);
        for (const std::uint64_t keep : {1, 7, 100}) {
            chosen.ranges = split_space(problem.truth.size(), 5);
            for (SweepRange& range : chosen.ranges) range.keep = keep;
            chosen.kept_again = 5 * keep;
            const Search run = play(problem, chosen);
            expect_proved(problem, run);
            EXPECT_EQ(play(problem, chosen, [](std::size_t) { return std::size_t{1}; }).asked, run.asked);
        }
    }
}

/// A space of labels in which each tuple has a truth of its own, so local moves help little and mislead.
struct LabelledProblem {
    Space space;
    Problem problem;
};
LabelledProblem labelled(unsigned seed, std::size_t objectives)
{
    std::vector<Axis> axes;
    for (const int labels : {3, 4, 5, 6}) {
        Axis& axis = axes.emplace_back(Axis{"axis" + std::to_string(labels), labels % 2 == 0, {}});
        for (int label = 1; label <= labels; ++label) axis.labels.push_back(std::to_string(label));
    }
    const auto allowed = [seed](std::span<const int> point) { return (point[0] + point[1] + seed) % 5 != 0; };
    LabelledProblem labels{Space(axes, {{"rule", 2, allowed}}), lattice(seed, 360, objectives)};
    for (std::uint64_t index = 0; index < labels.problem.truth.size(); ++index) {
        if (!labels.space.allows_all(labels.space.point(index))) labels.problem.truth[index].clear();
    }
    return labels;
}

/// Brute force: the front of all points, whether the space is swept before or after incumbents have limits.
TEST(Exact, ProvesTheSameFrontIfItExploresFirst)
{
    bool some_unchecked = false;
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        LabelledProblem labels = labelled(seed, objectives);
        Problem& problem = labels.problem;
        problem.half_width = {0.05, 0.01};
        problem.bound_share = 0.97;
        ExactOptions chosen = options(problem, objectives);
        chosen.explored = &labels.space;
        chosen.seed = seed;
        const Search run = play(problem, chosen);
        expect_proved(problem, run);
        EXPECT_LT(run.evaluated.size(), problem.feasible()) << "seed " << seed;
        const Search single = play(problem, chosen, [](std::size_t) { return std::size_t{1}; });
        EXPECT_EQ(single.asked, run.asked);
        EXPECT_EQ(single.outcome.text, run.outcome.text);
        for (SweepRange& range : chosen.ranges = split_space(problem.truth.size(), 3)) range.keep = 4;
        chosen.kept_again = 12;
        expect_proved(problem, play(problem, chosen));

        problem.first_bound_share = 0.95;
        chosen.ranges.clear();
        const Search unchecked = play(problem, chosen);
        expect_proved(problem, unchecked);
        EXPECT_EQ(unchecked.asked, run.asked);
        EXPECT_EQ(run.outcome.unchecked, 0U);
        some_unchecked = some_unchecked || unchecked.outcome.unchecked > 0;
    }
    EXPECT_TRUE(some_unchecked);
}

/// The limits of the incumbents are in the sweep of the whole space, which returns no point that they dominate.
TEST(Exact, SweepsWithLimitsAfterAnExploration)
{
    LabelledProblem labels = labelled(1, 2);
    Problem& problem = labels.problem;
    problem.half_width = {0.02, 0.01};
    ExactOptions chosen = options(problem, 2);
    chosen.explored = &labels.space;
    chosen.region = [](std::uint64_t index) { return index % 3; };
    chosen.near_objective = 1;
    chosen.ranges_at_once = 20;
    Exact exact(chosen);
    std::map<std::uint64_t, double> best;  // by region, of the bounds explored
    std::uint64_t whole = 0;
    bool half_swept = false;
    while (const auto requests = exact.ask()) {
        std::vector<Answer> answers;
        for (const Request& request : *requests) {
            if (const auto* range = std::get_if<SweepRange>(&request)) {
                const Sweep sweep = problem.sweep(*range);
                const SweepPurpose purpose = exact.outcome().sweep->purpose;
                EXPECT_EQ(range->again, purpose != SweepPurpose::front);
                if (purpose == SweepPurpose::front) {
                    EXPECT_FALSE(range->limits.empty());
                    if (!half_swept) {
                        EXPECT_EQ(exact.outcome().open, 0U) << "nothing is known of the space before";
                    }
                    whole += range->end - range->begin;
                    EXPECT_EQ(range->near.objective, 1U);
                    std::map<std::uint64_t, double> known;
                    for (const RegionLimit& region : range->near.regions) known[region.region] = region.most / (1.0 + near_best);
                    for (const auto& [region, bound] : best) EXPECT_DOUBLE_EQ(known[region], bound);
                } else if (purpose == SweepPurpose::exploration) {
                    for (const Bound& bound : sweep.feasible) {
                        double& least = best.try_emplace(bound.index % 3, infinity).first->second;
                        least = std::min(least, bound.objectives[1]);
                    }
                }
                answers.emplace_back(sweep);
            } else {
                answers.emplace_back(problem.evaluate(std::get<PointRequest>(request)));
            }
        }
        std::span<const Answer> left = answers;
        if (whole > 0 && !half_swept) {
            half_swept = true;
            const auto first = left.first(left.size() / 2);
            std::uint64_t excluded = 0;
            std::uint64_t open = 0;
            for (const Answer& answer : first) {
                const auto& sweep = std::get<Sweep>(answer);
                excluded += sweep.excluded;
                open += sweep.feasible.size() + sweep.left_out;
            }
            exact.tell(first);
            EXPECT_GT(excluded, 0U);
            EXPECT_EQ(exact.outcome().pruned, excluded);
            EXPECT_EQ(exact.outcome().open, open);
            left = left.subspan(first.size());
        }
        exact.tell(left);
    }
    EXPECT_EQ(whole, problem.truth.size());
    EXPECT_EQ(best.size(), 3U);
    EXPECT_TRUE(exact.outcome().proved);
}

TEST(Exact, WithTooFewEvaluationsWhatWasNotKeptStaysOpen)
{
    const Problem problem = zdt1(40);
    ExactOptions chosen = options(problem, 2);
    chosen.ranges = {{.begin = 0, .end = problem.truth.size(), .keep = 50}};
    chosen.max_evaluations = 20;
    const Search run = play(problem, chosen);
    EXPECT_EQ(run.evaluated.size(), 20U);
    EXPECT_FALSE(run.outcome.proved);
    EXPECT_GE(run.outcome.open, problem.feasible() - 50);
}

TEST(Exact, WaitsForAnswersAndKeepsToTheBatch)
{
    const Problem problem = zdt1(32);
    ExactOptions chosen = options(problem, 2);
    chosen.sweep_ranges = 3;
    chosen.batch = 5;
    chosen.scouts = 7;
    Exact exact(chosen);
    const auto sweeps = exact.ask();
    ASSERT_TRUE(sweeps.has_value());
    ASSERT_EQ(sweeps->size(), 3U);
    std::uint64_t next = 0;
    for (const Request& request : *sweeps) {
        EXPECT_THAT(exact.ask(), testing::Optional(IsEmpty()));
        const auto range = std::get<SweepRange>(request);
        EXPECT_EQ(range.begin, next);
        next = range.end;
        exact.tell(std::vector<Answer>{problem.sweep(range)});
    }
    EXPECT_EQ(next, problem.truth.size());
    EXPECT_THAT(exact.ask(), testing::Optional(testing::SizeIs(7)));  // scouts
    EXPECT_THAT(exact.ask(), testing::Optional(IsEmpty()));
    EXPECT_EQ(exact.outcome().open, problem.feasible());
    EXPECT_FALSE(exact.outcome().proved);
    EXPECT_THAT(exact.outcome().text, AllOf(HasSubstr("incomplete"), HasSubstr("1,024 open")));
}

TEST(Exact, InfiniteLimitsExcludeNothingUntilTheNextRung)
{
    Problem problem = zdt1(48);
    problem.infinite_first_rung = true;
    const Search run = play(problem, options(problem, 2));
    expect_proved(problem, run);
    EXPECT_LT(run.evaluated.size(), problem.feasible() / 5);

    // Without finite limits at any rung nothing may go.
    problem.half_width = {0.02};
    const Search blind = play(problem, options(problem, 2));
    expect_proved(problem, blind);
    EXPECT_EQ(blind.evaluated.size(), problem.feasible());
}

TEST(Exact, WithoutABoundInOneObjectiveEverythingIsLookedAt)
{
    const Problem problem = zdt1(24);
    ExactOptions chosen = options(problem, 2);
    chosen.bounded[1] = false;
    const Search run = play(problem, chosen);
    expect_proved(problem, run);
    EXPECT_EQ(run.evaluated.size(), problem.feasible());
    std::size_t promoted = 0;
    for (const auto& request : run.asked) promoted += request.second == 2 ? 1 : 0;
    EXPECT_LT(promoted, problem.feasible() / 2);
}

/// Answers the requests for tighter bounds that the search makes next.
void tell_tightened(Exact& exact, const std::vector<Bound>& bounds)
{
    const auto requests = exact.ask();
    ASSERT_EQ(requests->size(), bounds.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const auto& range = std::get<SweepRange>(requests->at(i));
        EXPECT_TRUE(range.again);
        EXPECT_FALSE(range.limits.empty());
        EXPECT_EQ(range.begin, bounds[i].index);
        exact.tell(std::vector<Answer>{Sweep{{range.begin, range.end}, {bounds[i]}, {}}});
    }
}

/// Looser bounds without limits cost no draws: what limits do not exclude by them is looked at again.
TEST(Exact, DrawsAsFewPointsIfBoundsAreTightWithLimitsOnly)
{
    for (const bool explores : {false, true}) {
        std::uint64_t fewer = 0;
        for (unsigned seed = 0; seed < 10; ++seed) {
            LabelledProblem labels = labelled(seed, 2);
            Problem& problem = labels.problem;
            for (std::vector<double>& truth : problem.truth) {
                for (std::size_t k = 0; k < truth.size(); ++k) truth[k] += 0.01 * static_cast<double>((7 * seed + 3 * k) % 10);
            }
            problem.bound_share = 0.99;
            problem.loose_share = 0.8;
            ExactOptions chosen = options(problem, 2);
            chosen.scouts = 4;
            if (explores) chosen.explored = &labels.space;
            const Search run = play(problem, chosen);
            expect_proved(problem, run);
            problem.bound_share *= problem.loose_share;
            problem.loose_share = 1.0;
            const Search loose = play(problem, chosen);
            expect_proved(problem, loose);
            EXPECT_LE(run.evaluated.size(), loose.evaluated.size());
            fewer += loose.evaluated.size() - run.evaluated.size();
        }
        EXPECT_GT(fewer, 100U) << explores;
    }
}

TEST(Exact, BoundsDoNotExcludeEachOther)
{
    // The bound of point 1 is dominated by that of point 0, but point 1 turns out better.
    Exact exact(
        {.space_size = 2, .objectives = 1, .top_rung = 1, .fewest = 1, .scouts = 1, .further_rounds = 0, .bounded = {true}});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}, Sweep{{1, 2}, {{1, {2.0}}}, {}}});
    for (const DrawSource source : {DrawSource{Purpose::scout}, DrawSource{Purpose::limits, 1}, DrawSource{}}) {
        if (source == DrawSource{}) tell_tightened(exact, {{0, {1.0}}, {1, {2.0}}});
        const auto first = exact.ask();
        ASSERT_TRUE(first.has_value());
        EXPECT_EQ(std::get<PointRequest>(first->at(0)).source, source);
        exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, source}});
    }
    const auto second = exact.ask();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(std::get<PointRequest>(second->at(0)).index, 1U);
    exact.tell(std::vector<Answer>{Evaluation{1, 1, 1, {Estimate::exact(3.0)}}});
    EXPECT_FALSE(exact.ask().has_value());
    EXPECT_THAT(exact.front(), ElementsAre(1));
    EXPECT_TRUE(exact.outcome().proved);
}

/// Ranks share a batch: layers of a point each are asked for together.
TEST(Exact, AsksForSmallLayersTogether)
{
    Exact exact(
        {.space_size = 3, .objectives = 1, .top_rung = 1, .fewest = 2, .scouts = 1, .further_rounds = 0, .bounded = {true}});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(
        std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}, Sweep{{1, 2}, {{1, {2.0}}}, {}}, Sweep{{2, 3}, {{2, {3.0}}}, {}}});
    for (const DrawSource source : {DrawSource{Purpose::scout}, DrawSource{Purpose::limits, 1}}) {
        ASSERT_EQ(exact.ask()->size(), 1U);
        exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, source}});
    }
    tell_tightened(exact, {{0, {1.0}}, {1, {2.0}}, {2, {3.0}}});
    const auto first = exact.ask();
    ASSERT_EQ(first->size(), 2U);
    EXPECT_EQ(std::get<PointRequest>(first->at(0)).index, 0U);
    EXPECT_EQ(std::get<PointRequest>(first->at(1)).index, 1U);
}

/// Incumbents are fixed before their draws, each round has draws of its own, and all that may fail sums to the error of the
/// study.
class ErrorOfExact : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Explored, ErrorOfExact, testing::Bool());

TEST_P(ErrorOfExact, IsSpentOnceOverAllLimits)
{
    const LabelledProblem labels = labelled(1, 2);
    Problem problem = GetParam() ? labels.problem : zdt1(48);
    problem.infinite_first_rung = !GetParam();
    ExactOptions chosen = options(problem, 2);
    if (GetParam()) chosen.explored = &labels.space;
    Exact exact(chosen);
    double of_rounds = 0.0;
    double of_challengers = 0.0;
    int rounds = 0;
    std::set<std::uint64_t> challengers;
    while (const auto requests = exact.ask()) {
        for (const Request& request : *requests) {
            const auto* point = std::get_if<PointRequest>(&request);
            if (point == nullptr) continue;
            const double miss = 2.0 * point->miss;  // of both objectives
            EXPECT_EQ(point->miss > 0.0, point->source.purpose != Purpose::scout);
            if (point->source.purpose == Purpose::limits) {
                of_rounds += 2.0 * miss;  // and of its lower limit
                EXPECT_GE(point->source.round, rounds);
                rounds = point->source.round;
            } else if (point->source.purpose == Purpose::search && point->rung < problem.top_rung()) {
                EXPECT_TRUE(challengers.insert(point->index).second);
                of_challengers += miss;
            }
        }
        exact.tell(problem.answers(*requests));
    }
    EXPECT_GT(rounds, 1);
    EXPECT_GT(of_rounds, 0.0);
    EXPECT_LE(of_rounds, 0.025);
    EXPECT_GT(of_challengers, 0.0);
    EXPECT_LE(of_challengers, 0.025 * (1.0 + 1e-12));
}

/// If many points remain, incumbents are chosen among the best of these, too, before any is drawn to be compared.
TEST(Exact, ChoosesMoreIncumbentsBeforePointsAreCompared)
{
    for (const std::size_t rounds : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        Problem problem;
        for (int i = 0; i < 400; ++i) problem.truth.push_back({10.0 + 0.01 * (i * 7 % 400)});
        problem.bound_share = 0.9;
        ExactOptions chosen = options(problem, 1);
        chosen.scouts = 3;
        chosen.further_rounds = rounds;
        Exact exact(chosen);
        int limits_before = 0;
        bool compared = false;
        while (const auto requests = exact.ask()) {
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) continue;
                if (point->source.purpose == Purpose::limits && !compared) {
                    limits_before = point->source.round;
                    EXPECT_EQ(point->rung, problem.top_rung() + (limits_before == 3 ? 1 : 0));
                }
                compared = compared || point->source.purpose == Purpose::search;
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_EQ(limits_before, static_cast<int>(1 + rounds));
        EXPECT_EQ(exact.front(), problem.front());
        EXPECT_TRUE(exact.outcome().proved);
        for (const Gap& gap : exact.outcome().gaps) EXPECT_LE(gap.bound, gap.limit);
    }
}

/// The bound of the gap is never above the best value, and the limit never below, at any time of a search.
TEST(Exact, GapsContainTheBestValues)
{
    Problem problem = zdt1(32);
    problem.bound_share = 0.9;
    Exact exact(options(problem, 2));
    double best = infinity;
    for (const std::vector<double>& truth : problem.truth) best = std::min(best, truth[1]);
    double before = 1.0;
    while (const auto requests = exact.ask()) {
        exact.tell(problem.answers(*requests));
        const std::vector<Gap> gaps = exact.outcome().gaps;
        if (gaps.empty()) continue;
        EXPECT_LE(gaps[1].bound, best);
        EXPECT_GE(gaps[1].limit, best);
        EXPECT_LE(gaps[1].relative(), before + 0.05);
        before = std::min(before, gaps[1].relative());
    }
    EXPECT_GT(before, 0.0);
    EXPECT_LT(before, 0.05);
}

/// After an exploration, gaps are known before the space is swept for the front: by a sweep for better points than the incumbents,
/// whose best points become incumbents, too.
TEST(Exact, KnowsTheGapsOfAnExploredSpaceBeforeItsFront)
{
    bool some_better = false;
    for (unsigned seed = 0; seed < 30; ++seed) {
        const std::size_t objectives = 1 + seed % 4;
        LabelledProblem labels = labelled(seed, objectives);
        Problem& problem = labels.problem;
        std::vector<double> best(objectives, infinity);
        for (const std::vector<double>& truth : problem.truth) {
            for (std::size_t k = 0; k < truth.size(); ++k) best[k] = std::min(best[k], truth[k]);
        }
        problem.half_width = {0.02, 0.004};
        problem.bound_share = 0.999;
        ExactOptions chosen = options(problem, objectives);
        chosen.explored = &labels.space;
        chosen.seed = seed;
        chosen.kept_better = 1;  // of each range
        chosen.most_better = 2;  // so that not all of the best are incumbents before
        chosen.gap_sought = 0.002;
        Exact exact(chosen);
        bool swept_for_better = false;
        bool scouted = false;
        bool swept_for_the_front = false;
        while (const auto requests = exact.ask()) {
            const Outcome now = exact.outcome();
            const bool for_the_front = now.sweep && now.sweep->purpose == SweepPurpose::front;
            if (for_the_front && !swept_for_the_front) {
                swept_for_the_front = true;
                ASSERT_EQ(now.gaps.size(), objectives);
                for (const Gap& gap : now.gaps) EXPECT_LE(gap.relative(), chosen.gap_sought + 0.005);
            }
            swept_for_better = swept_for_better || (now.sweep && now.sweep->purpose == SweepPurpose::better);
            for (std::size_t k = 0; k < now.gaps.size(); ++k) {
                EXPECT_LE(now.gaps[k].bound, best[k]);
                EXPECT_GE(now.gaps[k].limit, best[k]);
            }
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) continue;
                scouted = scouted || point->source.purpose == Purpose::scout;
                some_better = some_better || (swept_for_better && !scouted && point->source.purpose == Purpose::limits);
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_TRUE(swept_for_the_front);
        EXPECT_EQ(exact.front(), problem.front());
    }
    EXPECT_TRUE(some_better);
}

/// Draws that never give an upper limit leave the gaps unknown, and the front is proved all the same.
TEST(Exact, ProvesTheFrontOfAnExploredSpaceWithoutLimits)
{
    LabelledProblem labels = labelled(3, 2);
    Problem& problem = labels.problem;
    problem.half_width = {0.02};
    problem.infinite_first_rung = true;
    ExactOptions chosen = options(problem, 2);
    chosen.explored = &labels.space;
    const Search run = play(problem, chosen);
    expect_proved(problem, run);
    EXPECT_THAT(run.outcome.gaps, IsEmpty());
    EXPECT_EQ(run.evaluated.size(), problem.feasible());
}

/// A gap that the last rung leaves open is closed by rounds with more draws.
TEST(Exact, DrawsMoreWhileAGapIsLargerThanSought)
{
    LabelledProblem labels = labelled(2, 1);
    Problem& problem = labels.problem;
    for (std::size_t index = 0; index < problem.truth.size(); ++index) {
        if (!problem.truth[index].empty()) problem.truth[index][0] = 10.0 + 0.02 * static_cast<double>(index);
    }
    problem.half_width = {0.2, 0.04, 0.016, 0.001};
    problem.bound_share = 0.96;
    ExactOptions chosen = options(problem, 1);
    chosen.top_rung = 2;
    chosen.explored = &labels.space;
    for (const std::size_t rounds : {std::size_t{0}, std::size_t{2}}) {
        chosen.gap_rounds = rounds;
        Exact exact(chosen);
        std::set<int> rungs;
        double gap = 1.0;
        while (const auto requests = exact.ask()) {
            const Outcome now = exact.outcome();
            if (now.sweep && now.sweep->purpose == SweepPurpose::front) {
                gap = now.gaps.at(0).relative();
                break;
            }
            for (const Request& request : *requests) {
                const auto* point = std::get_if<PointRequest>(&request);
                if (point == nullptr) continue;
                if (point->source.purpose == Purpose::limits) rungs.insert(point->rung);
            }
            exact.tell(problem.answers(*requests));
        }
        EXPECT_THAT(rungs, rounds == 0 ? std::set<int>{2} : std::set<int>({2, 3, 4}));
        EXPECT_EQ(gap <= chosen.gap_sought, rounds == 2) << gap;
    }
}

/// After a sample of the ranges, fewer points count as near the best of their region.
TEST(Exact, NarrowsWhatIsNearAfterASampleOfTheRanges)
{
    constexpr std::size_t labels = 80;  // so many that few points are explored
    std::vector<Axis> axes{{"a", true, {}}, {"b", true, {}}, {"c", true, {}}};
    for (Axis& axis : axes) {
        for (std::size_t label = 1; label <= labels; ++label) axis.labels.push_back(std::to_string(label));
    }
    const Space space(axes, {});
    Problem problem;
    std::mt19937 random(1);
    for (std::size_t p = 0; p < labels * labels * labels; ++p)
        problem.truth.push_back({10.0 + 1e-9 * static_cast<double>(random())});
    problem.half_width = {0.01, 0.001};
    ExactOptions chosen = options(problem, 1);
    chosen.explored = &space;
    chosen.region = [](std::uint64_t index) { return index % 2; };
    Exact exact(chosen);
    std::vector<SweepRange> ranges;
    while (ranges.size() < 64) {
        const auto requests = exact.ask();
        ASSERT_TRUE(requests.has_value());
        std::vector<Answer> answers;
        for (const Request& request : *requests) {
            const auto* range = std::get_if<SweepRange>(&request);
            if (range == nullptr) {
                answers.emplace_back(problem.evaluate(std::get<PointRequest>(request)));
                continue;
            }
            Sweep sweep = problem.sweep(*range);
            if (!range->again) {
                ranges.push_back(*range);
                NearBounds near(0, range->near.regions);
                for (std::uint64_t index = range->begin; index < range->end; ++index) {
                    if (problem.truth[index].empty()) continue;
                    near.add({chosen.region(index), {index, {problem.bound_share * problem.truth[index][0]}}});
                }
                sweep.near = near.best();
            }
            answers.emplace_back(std::move(sweep));
        }
        exact.tell(answers);
    }
    std::set<std::uint64_t> begins;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        begins.insert(ranges[i].begin);
        ASSERT_EQ(ranges[i].near.regions.size(), 2U);
        for (const RegionLimit& limit : ranges[i].near.regions) {
            const double first = ranges.front().near.regions[limit.region].most;
            EXPECT_EQ(limit.most < first, i >= 8) << i;
        }
    }
    EXPECT_EQ(begins.size(), 64U);
}

/// Points whose estimates are normal, with limits exactly as wide as their probability of failure asks for.
struct NormalProblem {
    std::vector<double> truth;
    unsigned seed = 0;

    /// Draws are shared by all points of a source, as in a study, and each point has some of its own.
    Evaluation evaluate(const PointRequest& request) const
    {
        const double deviation = std::pow(0.5, request.rung);
        const auto normal = [&](std::uint64_t whose) {
            std::seed_seq key{std::uint64_t{seed}, static_cast<std::uint64_t>(request.source.purpose),
                              static_cast<std::uint64_t>(request.source.round), static_cast<std::uint64_t>(request.rung), whose};
            std::mt19937 random(key);
            return std::normal_distribution<double>()(random);
        };
        constexpr std::uint64_t shared = 1'000'000;
        const double value = truth[request.index] + deviation * (0.8 * normal(shared) + 0.6 * normal(request.index));
        const double miss = request.miss > 0.0 ? request.miss : 0.025;
        double low = 0.0;  // bisection of the normal quantile
        double high = 10.0;
        for (int i = 0; i < 60; ++i) {
            const double z = 0.5 * (low + high);
            (0.5 * std::erfc(z / std::numbers::sqrt2) > miss ? low : high) = z;
        }
        const double width = deviation * high;
        const Estimate estimate{value, value - width, value + width, value - width, value + width};
        return {request.index, request.rung, 1, {estimate}, request.source};
    }
};

/// At 95 % confidence the best point is excluded in at most 16 of 200 studies: more have a probability of 2 % where each study
/// fails with one of 5 % (binomial).
TEST(Exact, ExcludesTheBestPointNoMoreOftenThanStated)
{
    int wrong = 0;
    std::uint64_t drawn = 0;
    constexpr std::size_t points = 400;
    constexpr unsigned studies = 200;
    for (unsigned seed = 0; seed < studies; ++seed) {
        NormalProblem problem{{}, seed};
        std::mt19937 random(seed);
        for (std::size_t p = 0; p < points; ++p) problem.truth.push_back(10.0 + 0.02 * static_cast<double>(random() % 400));
        const auto best = std::min_element(problem.truth.begin(), problem.truth.end()) - problem.truth.begin();
        Exact exact({.space_size = points, .objectives = 1, .top_rung = 3, .bounded = {true}});
        std::set<std::uint64_t> at_the_top;
        while (const auto requests = exact.ask()) {
            std::vector<Answer> answers;
            for (const Request& request : *requests) {
                if (const auto* range = std::get_if<SweepRange>(&request)) {
                    Sweep& sweep = std::get<Sweep>(answers.emplace_back(Sweep{{range->begin, range->end}, {}, {}}));
                    for (std::uint64_t p = range->begin; p < range->end; ++p)
                        sweep.feasible.push_back({p, {problem.truth[p] - 1.0}});
                    continue;
                }
                const auto& point = std::get<PointRequest>(request);
                answers.emplace_back(problem.evaluate(point));
                if (point.source.purpose == Purpose::search && point.rung == 3) at_the_top.insert(point.index);
            }
            exact.tell(answers);
        }
        EXPECT_EQ(exact.outcome().open, 0U);
        wrong += at_the_top.contains(static_cast<std::uint64_t>(best)) ? 0 : 1;
        drawn += at_the_top.size();
    }
    EXPECT_LE(wrong, 16);
    EXPECT_LT(drawn, studies * points / 2);  // and limits do exclude
}

/// A limit that is infinite at the first look is looked at again with four times the draws.
TEST(Exact, LooksAgainAtLimitsThatAreInfinite)
{
    Exact exact({.space_size = 1, .objectives = 1, .top_rung = 2, .bounded = {true}});
    ASSERT_TRUE(exact.ask().has_value());
    exact.tell(std::vector<Answer>{Sweep{{0, 1}, {{0, {1.0}}}, {}}});
    ASSERT_TRUE(exact.ask().has_value());
    const DrawSource scout{Purpose::scout};
    exact.tell(std::vector<Answer>{Evaluation{0, 1, 1, {Estimate::exact(9.0)}, scout}});
    const DrawSource limits{Purpose::limits, 1};
    double before = 1.0;
    for (const int rung : {2, 3, 4}) {
        const auto look = exact.ask();
        ASSERT_EQ(look->size(), 1U);
        const auto& request = std::get<PointRequest>(look->at(0));
        EXPECT_EQ(request.source, limits);
        EXPECT_EQ(request.rung, rung);
        EXPECT_LT(request.miss, before);
        before = request.miss;
        const Estimate unlimited{9.0, 8.0, 10.0, 8.0, rung < 4 ? infinity : 10.0};
        exact.tell(std::vector<Answer>{Evaluation{0, rung, 1, {unlimited}, limits}});
    }
    tell_tightened(exact, {{0, {1.0}}});
    EXPECT_EQ(std::get<PointRequest>(exact.ask()->at(0)).source, DrawSource{});
}

TEST(Exact, ReportsABoundThatIsNone)
{
    Problem problem = zdt1(16);
    problem.half_width = {0.0};
    problem.bound_share = 1.25;  // above every true value by a quarter
    const Search run = play(problem, options(problem, 2));
    EXPECT_FALSE(run.outcome.proved);
    EXPECT_EQ(run.outcome.open, 0U);
    EXPECT_THAT(run.outcome.text, AllOf(HasSubstr("not proved"), HasSubstr("bound violated: point"), HasSubstr("20 % below")));

    problem.bound_share = 1.0 + 1e-15;  // rounding is no violation
    EXPECT_TRUE(play(problem, options(problem, 2)).outcome.proved);
}

TEST(Exact, SaysWhenNothingIsFeasible)
{
    Problem problem;
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}}) {
        problem.truth.assign(size, {});
        const Search run = play(problem, options(problem, 2));
        EXPECT_THAT(run.front, IsEmpty());
        EXPECT_THAT(run.asked, IsEmpty());
        EXPECT_TRUE(run.outcome.proved);
        EXPECT_EQ(run.outcome.text, "no feasible point");
    }
}

TEST(Exact, RefusesAnswersToSomethingElse)
{
    const Problem problem = zdt1(4);
    ExactOptions chosen = options(problem, 2);
    chosen.sweep_ranges = 1;
    Exact exact(chosen);
    const auto tell = [&](const Answer& answer) { return [&exact, answer] { exact.tell(std::vector<Answer>{answer}); }; };
    const auto out_of_order = ThrowsMessage<std::runtime_error>(HasSubstr("unexpected answer"));
    EXPECT_THAT(tell(problem.sweep({0, 16})), out_of_order);
    ASSERT_TRUE(exact.ask().has_value());
    EXPECT_THAT(tell(problem.sweep({0, 15})), out_of_order);
    EXPECT_THAT(tell(problem.evaluate(0, 1)), out_of_order);
    exact.tell(std::vector<Answer>{problem.sweep({0, 16})});
    const auto requests = exact.ask();
    ASSERT_TRUE(requests.has_value());
    const std::uint64_t first = std::get<PointRequest>(requests->at(0)).index;
    EXPECT_THAT(tell(problem.evaluate({.index = first, .rung = 2, .source = {Purpose::scout}})), out_of_order);
    EXPECT_THAT(tell(problem.evaluate({.index = first, .rung = 1, .source = {Purpose::limits, 1}})), out_of_order);
    Evaluation broken = problem.evaluate({.index = first, .rung = 1, .source = {Purpose::scout}});
    broken.objectives[1].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(tell(broken), ThrowsMessage<std::runtime_error>(HasSubstr("objective 1 of point")));
    broken.objectives.pop_back();
    EXPECT_THAT(tell(broken), ThrowsMessage<std::runtime_error>(HasSubstr("1 objectives instead of 2")));
}

TEST(Exact, RefusesOptionsThatContradictEachOther)
{
    const auto make = [](const ExactOptions& options) { return [options] { Exact exact(options); }; };
    EXPECT_THAT(make({.space_size = 4, .objectives = 2, .bounded = {true}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("1 entries for 2 objectives")));
    EXPECT_THAT(make({.objectives = 0, .bounded = {}}), ThrowsMessage<std::invalid_argument>(HasSubstr("no objectives")));
    EXPECT_THAT(make({.objectives = 1, .top_rung = 0, .bounded = {true}}),
                ThrowsMessage<std::invalid_argument>(HasSubstr("top rung 0")));
    EXPECT_THAT(make({.objectives = 1, .batch = 0, .bounded = {true}}), ThrowsMessage<std::invalid_argument>(HasSubstr("batch")));
}

}  // namespace
}  // namespace prismopt

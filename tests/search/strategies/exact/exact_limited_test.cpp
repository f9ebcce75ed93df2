/// Exact searches of points of which some quantity, which the search does not
/// minimise, may be so much at most.

#include "search/strategies/exact/exact.hpp"

#include "tests/search/strategies/exact/known_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {
namespace {

/// A known problem whose points have another quantity as well. Its limits nest by rung, too.
struct LimitedProblem : KnownProblem {
    std::vector<double> quantity;  // [point]
    double most = 1.0;

    Keeping keeping(std::uint64_t index, int rung) const
    {
        const double width = half_width[static_cast<std::size_t>(std::min(rung, top_rung()) - 1)];
        std::mt19937 random(static_cast<unsigned>(index) + 77);
        const auto unit = [&] { return static_cast<double>(random() % 1024) / 1024.0; };
        const double low = quantity[index] * (1.0 - width * (0.5 + 0.5 * unit()));
        const double high = quantity[index] * (1.0 + width * (0.5 + 0.5 * unit()));
        const double seen = quantity[index] * (1.0 + width * (unit() - 0.5));
        if (low > most) {
            return Keeping::never;
        }
        if (high <= most) {
            return Keeping::surely;
        }
        return seen <= most ? Keeping::by_value : Keeping::not_by_value;
    }

    Answer answer(const Request& request) const
    {
        if (const auto* point = std::get_if<PointRequest>(&request)) {
            Evaluation evaluation = evaluate(*point);
            evaluation.keeping = keeping(point->index, point->rung);
            return evaluation;
        }
        Sweep found = sweep(std::get<SweepRange>(request));
        std::erase_if(found.feasible, [&](const Bound& bound) {
            const bool beyond = bound_share * quantity[bound.index] > most;
            found.excluded += beyond ? 1 : 0;
            return beyond;
        });
        return found;
    }

    /// By what the top rung shows of all points: a point that does not keep the limit by
    /// value dominates none that does.
    std::set<std::uint64_t> front_of_all() const
    {
        std::set<std::uint64_t> front;
        for (std::uint64_t index = 0; index < truth.size(); ++index) {
            if (!truth[index].empty() && keeping(index, top_rung()) != Keeping::never) {
                front.insert(index);
            }
        }
        const auto values = [&](std::uint64_t index) {
            std::vector<double> all;
            for (const Estimate& objective : evaluate(index, top_rung()).objectives) {
                all.push_back(objective.value);
            }
            return all;
        };
        const auto keeps_by_value = [&](std::uint64_t index) { return keeps(keeping(index, top_rung())); };
        const std::set<std::uint64_t> candidates = front;
        std::erase_if(front, [&](std::uint64_t index) {
            return std::any_of(candidates.begin(), candidates.end(), [&](std::uint64_t other) {
                return keeps_by_value(other) && dominates(values(other), values(index));
            });
        });
        return front;
    }
};

LimitedProblem with_quantity(KnownProblem known, unsigned seed, double most)
{
    LimitedProblem problem{std::move(known), {}, most};
    problem.half_width = {0.06, 0.01};
    problem.bound_share = 0.97;
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < problem.truth.size(); ++i) {
        problem.quantity.push_back(0.5 + static_cast<double>(random() % 1024) / 1024.0);
    }
    return problem;
}

struct LimitedRun {
    Outcome outcome;
    std::set<std::uint64_t> front;
    std::set<std::uint64_t> drawn;
};
LimitedRun play_limited(const LimitedProblem& problem, std::size_t objectives)
{
    ExactOptions options = exact_options(problem, objectives);
    options.goal.limited = 1;
    Exact exact(options);
    LimitedRun run;
    while (const auto requests = exact.ask()) {
        for (const Request& request : *requests) {
            if (const auto* point = std::get_if<PointRequest>(&request)) {
                run.drawn.insert(point->index);
            }
            const Answer answer = problem.answer(request);
            exact.tell({&answer, 1});
        }
    }
    run.outcome = exact.outcome();
    const std::vector<std::uint64_t> front = exact.front();
    run.front = {front.begin(), front.end()};
    return run;
}

TEST(ExactLimited, FindsTheFrontOfWhatKeepsTheLimit)
{
    for (const double most : {0.55, 0.8, 1.2}) {
        const LimitedProblem problem = with_quantity(zdt1(40), 5, most);
        const LimitedRun run = play_limited(problem, 2);
        EXPECT_TRUE(run.outcome.proved);
        EXPECT_EQ(run.outcome.open, 0U);
        EXPECT_EQ(run.front, problem.front_of_all()) << most;
        EXPECT_LT(run.drawn.size(), problem.truth.size() / 2);
    }
}

TEST(ExactLimited, HoldsForRandomProblems)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::size_t objectives = 1 + seed % 3;
        const LimitedProblem problem =
            with_quantity(lattice(seed, 300, objectives), seed, 0.6 + 0.1 * (seed % 8));
        const LimitedRun run = play_limited(problem, objectives);
        EXPECT_TRUE(run.outcome.proved) << seed;
        EXPECT_EQ(run.front, problem.front_of_all()) << seed;
    }
}

TEST(ExactLimited, EndsWithoutAPointIfNoneKeepsIt)
{
    const LimitedRun run = play_limited(with_quantity(zdt1(16), 5, 0.1), 2);
    EXPECT_TRUE(run.front.empty());
    EXPECT_TRUE(run.drawn.empty());
    EXPECT_TRUE(run.outcome.complete);
}

}  // namespace
}  // namespace prismopt

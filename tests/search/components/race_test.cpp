#include "search/components/race.hpp"

#include "search/search_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {
namespace {

/// Candidates whose draws are a true level times noise that all share and noise of
/// their own, both Gumbel; value: p99.
struct Field {
    std::size_t candidates = 512;
    int first_draws = 16;
    int top_rung = 8;
    double shared = 0.03;
    double own = 0.006;
    std::uint32_t seed = 1;
    std::size_t least_kept = 1;

    double level(std::uint64_t index) const
    {
        return 1.0 + 0.002 * static_cast<double>((index * 131) % candidates);
    }
    int draws(int rung) const { return first_draws << (rung - 1); }

    Evaluation evaluate(std::uint64_t index, int rung) const
    {
        SearchRandom common(seed, 0);
        SearchRandom mine(seed, static_cast<std::uint32_t>(index + 1));
        const auto gumbel = [](SearchRandom& random) {
            return -std::log(-std::log(std::max(random.uniform(), 1e-12)));
        };
        std::vector<double> seconds(static_cast<std::size_t>(draws(rung)));
        for (double& s : seconds) {
            s = level(index) * (1.0 + shared * gumbel(common)) * (1.0 + own * gumbel(mine));
        }
        const auto place =
            seconds.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(seconds.size()));
        std::nth_element(seconds.begin(), place, seconds.end());
        return {index, rung, static_cast<std::uint64_t>(draws(rung)), {Estimate::exact(*place)}};
    }
};

struct Raced {
    std::map<std::uint64_t, int> rung;
    std::vector<std::uint64_t> front;
    std::uint64_t draws = 0;
};

Raced run(const Field& field)
{
    Race race({.top_rung = field.top_rung, .least_kept = field.least_kept});
    Raced raced;
    const auto tell = [&](std::uint64_t index, int rung) {
        race.add(field.evaluate(index, rung));
        raced.rung[index] = rung;
        raced.draws += static_cast<std::uint64_t>(field.draws(rung) - (rung > 1 ? field.draws(rung - 1) : 0));
    };
    for (std::uint64_t index = 0; index < field.candidates; ++index) {
        tell(index, 1);
    }
    for (auto requests = race.next(); !requests.empty(); requests = race.next()) {
        for (const PointRequest& request : requests) {
            tell(request.index, request.rung);
        }
    }
    raced.front = race.front();
    return raced;
}

TEST(Race, FindsTheBestWithFewDrawsWhereNoiseIsShared)
{
    // Best to second 0.2 %, p99 of shared noise 14 %: only common random numbers
    // distinguish them with so few draws.
    int right = 0;
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        Field field;
        field.seed = seed;
        field.own = 0.0005;
        const Raced raced = run(field);
        right += raced.front == std::vector<std::uint64_t>{0} ? 1 : 0;
        EXPECT_LT(raced.draws, 5U * field.candidates * static_cast<unsigned>(field.first_draws));
    }
    EXPECT_GE(right, 19);
}

TEST(Race, KeepsMoreWhereEachHasNoiseOfItsOwn)
{
    const auto at_rung_2 = [](double own) {
        Field field;
        field.own = own;
        const Raced raced = run(field);
        return std::count_if(raced.rung.begin(), raced.rung.end(),
                             [](const auto& entry) { return entry.second >= 2; });
    };
    EXPECT_EQ(at_rung_2(0.0), 128);  // the best quarter
    EXPECT_GT(at_rung_2(0.3), 192);  // more than one and a half times as many
}

TEST(Race, ClimbersStayWithinTheirShares)
{
    const Raced raced = run({.own = 0.02});
    std::vector<std::size_t> reached(10, 0);
    for (const auto& entry : raced.rung) {
        for (int rung = 1; rung <= entry.second; ++rung) {
            ++reached[static_cast<std::size_t>(rung)];
        }
    }
    for (std::size_t rung = 1; rung < 8; ++rung) {
        EXPECT_GE(reached[rung + 1] * 4, reached[rung]);
        EXPECT_LE(reached[rung + 1], std::max<std::size_t>(1, (reached[rung] + 1) / 2));
    }
    EXPECT_GE(reached[8], 1U);
}

TEST(Race, KeepsAShortListToTheTop)
{
    const Raced raced = run({.own = 0.001, .least_kept = 10});
    for (std::uint64_t index = 0; index < 512; ++index) {
        // The ten lowest levels: index * 131 modulo 512 below ten.
        EXPECT_EQ((index * 131) % 512 < 10, raced.rung.at(index) == 8) << index;
    }
}

TEST(Race, RefusesARungThatWasNotNext)
{
    Race race({});
    EXPECT_THROW(race.add({7, 2, 10, {Estimate::exact(1.0)}}), std::runtime_error);
}

}  // namespace
}  // namespace prismopt

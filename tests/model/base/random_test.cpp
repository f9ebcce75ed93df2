#include "model/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>

namespace prismopt {
namespace {

using Four = std::array<std::uint32_t, 4>;

/// Known answers of philox4x32-10 from the authors' Random123 distribution: tests/kat_vectors,
/// words of counter, key and output.
TEST(Philox, GivesTheKnownAnswers)
{
    EXPECT_EQ(philox(0, {0, 0, 0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox(~0ULL, {~0U, ~0U, ~0U, ~0U}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
              (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, LanesGiveTheSameBits)
{
    std::mt19937_64 random(1);
    for (int repeat = 0; repeat < 500; ++repeat) {
        const std::uint64_t seed = random();
        const auto event = static_cast<std::uint32_t>(random());
        const auto use = static_cast<std::uint32_t>(random());
        Words fleet;
        Words who;
        for (int l = 0; l < lanes; ++l) {
            fleet.at[l] = static_cast<std::uint32_t>(random());
            who.at[l] = static_cast<std::uint32_t>(random());
        }
        std::array<Words, 4> words;
        std::array<Words, 4> of_one;
        philox_lanes(seed, fleet, who, event, use, words);
        FleetPhilox(seed, fleet).draw(who.at[0], event, use, of_one);
        for (int l = 0; l < lanes; ++l) {
            const Four one = philox(seed, {fleet.at[l], who.at[l], event, use});
            ASSERT_EQ((Four{words[0].at[l], words[1].at[l], words[2].at[l], words[3].at[l]}), one)
                << "lane " << l;
            const Four same = philox(seed, {fleet.at[l], who.at[0], event, use});
            ASSERT_EQ((Four{of_one[0].at[l], of_one[1].at[l], of_one[2].at[l], of_one[3].at[l]}), same)
                << "lane " << l;
        }
    }
}

/// The 64 lanes of a block fall into the 64 strata once each, whatever the key; and over the
/// keys each lane into all of them.
TEST(Strata, AreDealtOutOnceEach)
{
    std::mt19937_64 random(2);
    std::array<std::array<int, lanes>, lanes> dealt{};  // [lane][stratum]
    constexpr int repeats = 20'000;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto key = static_cast<std::uint32_t>(random());
        std::set<std::uint32_t> strata;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            const auto word = static_cast<std::uint32_t>(random());
            const std::uint32_t out = stratified(word, key, lane);
            ASSERT_EQ(out & 0x03FFFFFF, word >> 6);
            strata.insert(out >> 26);
            ++dealt[lane][out >> 26];
        }
        ASSERT_EQ(strata.size(), static_cast<std::size_t>(lanes)) << key;
    }
    // Poisson counts of mean 312; the largest of 4096 normal scores exceeds 5.5 once in 6000 times.
    const double mean = static_cast<double>(repeats) / lanes;
    for (const auto& lane : dealt) {
        for (const int count : lane) {
            EXPECT_NEAR(count, mean, 5.5 * std::sqrt(mean));
        }
    }
}

TEST(Counter, UsesNeverShareAnEntry)
{
    std::set<std::uint32_t> seen;
    std::size_t count = 0;
    for (int stream = 0; stream <= static_cast<int>(Stream::calibration); ++stream) {
        for (const Purpose purpose : {Purpose::search, Purpose::confirm}) {
            for (const std::uint32_t kind : {0U, 1U, 0xFFFFU}) {
                seen.insert(use(static_cast<Stream>(stream), purpose, kind));
                ++count;
            }
        }
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_NE(step_replica(1, 0), step_replica(0, 1));
    EXPECT_NE(step_replica(0, shared_by_replicas), step_replica(1, 0));
}

}  // namespace
}  // namespace prismopt

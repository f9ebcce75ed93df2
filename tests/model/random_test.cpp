#include "model/random.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace prismopt {
namespace {

using Four = std::array<std::uint32_t, 4>;

/// Known answers of philox4x32-10 from the authors' Random123 distribution (kat_vectors).
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
            ASSERT_EQ((Four{words[0].at[l], words[1].at[l], words[2].at[l], words[3].at[l]}), one) << "lane " << l;
            const Four same = philox(seed, {fleet.at[l], who.at[0], event, use});
            ASSERT_EQ((Four{of_one[0].at[l], of_one[1].at[l], of_one[2].at[l], of_one[3].at[l]}), same) << "lane " << l;
        }
    }
}

/// Whatever the key, the lanes of a block fall into as many strata, and keep what is below the stratum.
TEST(Stratified, DealsEachStratumToOneLane)
{
    std::mt19937_64 random(2);
    for (int repeat = 0; repeat < 1000; ++repeat) {
        const auto key = static_cast<std::uint32_t>(random());
        const auto word = static_cast<std::uint32_t>(random());
        std::set<std::uint32_t> strata;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            const std::uint32_t dealt = stratified(word, key, l);
            strata.insert(dealt >> 26);
            EXPECT_EQ(dealt & 0x3FFFFFF, word >> 6);
        }
        EXPECT_EQ(strata.size(), static_cast<std::size_t>(lanes));
    }
}

TEST(Counter, UsesNeverShareAnEntry)
{
    std::set<std::uint32_t> seen;
    std::size_t count = 0;
    for (int stream = 0; stream <= static_cast<int>(Stream::strata); ++stream) {
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

#include "optimizer/loop/draw_store.hpp"

#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace prismopt {
namespace {

constexpr std::uint64_t study = 7;

DrawBlock block(std::vector<std::uint64_t> points, int first_fleet)
{
    return {std::move(points), {first_fleet, 64, 2}, {}};
}

/// Two phases of a point; values that differ between points.
PhaseDraws draws_of(std::uint64_t point)
{
    const auto value = static_cast<double>(point);
    return {std::vector<double>(128, value), std::vector<double>(128, 2.0 * value)};
}

std::vector<PhaseDraws> result_of(const std::vector<std::uint64_t>& points)
{
    std::vector<PhaseDraws> draws;
    for (const std::uint64_t point : points) {
        draws.push_back(draws_of(point));
    }
    return draws;
}

class Stored : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string journal_ = folder_.file("F.h5.journal");
};

TEST_F(Stored, GoesOnWhereAnotherRunWasKilled)
{
    {
        DrawStore store(journal_, study, false);
        EXPECT_EQ(store.missing(block({1, 2, 3}, 64)).points, block({1, 2, 3}, 64).points);
        EXPECT_EQ(store.complete(block({1, 2, 3}, 64), result_of({1, 2, 3})), result_of({1, 2, 3}));
        store.save();
    }
    DrawStore store(journal_, study, true);
    EXPECT_EQ(store.missing(block({2, 3, 4}, 64)).points, std::vector<std::uint64_t>{4});
    EXPECT_EQ(store.missing(block({2}, 128)).points, std::vector<std::uint64_t>{2});  // other fleets
    EXPECT_EQ(store.complete(block({2, 4, 3}, 64), result_of({4})), result_of({2, 4, 3}));
    EXPECT_TRUE(store.missing(block({4, 3}, 64)).points.empty());
    EXPECT_EQ(store.complete(block({4, 3}, 64), {}), result_of({4, 3}));
}

TEST_F(Stored, ForgetsWhatIsAnsweredAndStaysSmall)
{
    DrawStore store(journal_, study, false);
    for (std::uint64_t point = 1; point <= 4000; ++point) {  // 2 kB each
        store.complete(block({point}, 64), result_of({point}));
        store.save();
        store.answered(point, {});
    }
    EXPECT_EQ(store.missing(block({4000}, 64)).points, std::vector<std::uint64_t>{4000});
    EXPECT_LT(std::filesystem::file_size(draws_path(journal_)), 2'000'000U);
}

TEST_F(Stored, OfAnotherStudyOrDamagedIsDrawnAgain)
{
    {
        DrawStore store(journal_, study, false);
        store.complete(block({1}, 64), result_of({1}));
        store.save();
    }
    EXPECT_FALSE(DrawStore(journal_, study + 1, true).missing(block({1}, 64)).points.empty());
    std::ofstream(draws_path(journal_)) << "something else";
    EXPECT_FALSE(DrawStore(journal_, study, true).missing(block({1}, 64)).points.empty());
}

TEST_F(Stored, MakesRoomOnAFullDisk)
{
    DrawStore store(journal_, study, false);
    store.complete(block({1, 2}, 64), result_of({1, 2}));
    store.save();
    EXPECT_TRUE(std::filesystem::exists(draws_path(journal_)));
    EXPECT_TRUE(store.drop());
    EXPECT_FALSE(std::filesystem::exists(draws_path(journal_)));
    EXPECT_FALSE(store.drop());
    EXPECT_EQ(store.missing(block({2, 3}, 64)).points, std::vector<std::uint64_t>{3});
    store.save();
    EXPECT_FALSE(std::filesystem::exists(draws_path(journal_)));
}

/// The journal alone contains what is done: a study goes on without its draws' file.
TEST_F(Stored, GoesOnWhereItCannotBeWritten)
{
    DrawStore store(folder_.file("no such folder/F.h5.journal"), study, false);
    EXPECT_EQ(store.complete(block({1, 2}, 64), result_of({1, 2})), result_of({1, 2}));
    store.save();
    EXPECT_EQ(store.missing(block({2, 3}, 64)).points, std::vector<std::uint64_t>{3});
    store.answered(1, {});
    EXPECT_EQ(store.missing(block({1, 2}, 64)).points, std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace prismopt
